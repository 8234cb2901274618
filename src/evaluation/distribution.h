// Tests whether the draws of a candidate and of PyTorch come from one distribution. A module with random
// numbers may draw them in another order, so that single answers differ under the same seed. Therefore many
// answers of each side are compared, under seeds that the parent chooses.
//
// Each statistic is a two-sample permutation test: if both sides draw from one distribution, every assignment
// of the answers to the sides is equally likely. The false alarm rate is thus exact for any distribution and
// any dependence between elements. This is plain arithmetic; candidate_draws.cpp makes the calls.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace hone {

// The significance level. A failed statistic counts against a candidate only if it fails again on new draws
// at the same level: one false alarm in a million for each statistic.
inline constexpr double kDrawsLevel = 1e-3;

// The elements of an output that are observed in every draw: some random ones and, for every dimension, an
// element that differs from them only in that dimension.
struct ElementPlan {
  std::vector<size_t> elements;  // flat indices
  size_t bases = 0;              // the first ones, which were chosen at random
  struct Pairs {
    std::string name;                           // "along dimension 0"
    std::vector<std::pair<size_t, size_t>> at;  // positions in `elements`
  };
  std::vector<Pairs> pairs;
};
ElementPlan PlanElements(const std::vector<int64_t>& shape, Random& random, size_t most = 768);

// One row per draw, with one value per planned element.
using Draws = std::vector<std::vector<double>>;

struct DrawStatistic {
  std::string name;  // "means", "spreads", "shape", "dependence along dimension 0", ...
  double p = 1;
};
// Compares two sets of draws. Skips elements that vary by less than a thousand times `tolerance`, the effect
// of rounding. `only` names the statistics to compute; empty means all.
std::vector<DrawStatistic> CompareDraws(const ElementPlan& plan, const Draws& reference,
                                        const Draws& candidate, double tolerance, Random& random,
                                        const std::set<std::string>& only = {});

// Mean and variance of every element over draws.
class ElementMoments {
 public:
  void Add(const std::vector<double>& values);
  size_t draws() const { return count_; }

  // The first element whose means differ by more than `tolerance` and seven standard errors.
  static std::optional<size_t> FirstApart(const ElementMoments& a, const ElementMoments& b, double tolerance);
  // Whether any element varies by more than `tolerance`.
  bool Varies(double tolerance) const;

 private:
  size_t count_ = 0;
  std::vector<double> mean_, squares_;
};

// The range of distances between two independent draws, relative to their norm. Single answers are checked
// against it.
struct DrawRange {
  double low = 0;
  double high = 0;
  // `distances` are those between pairs of PyTorch's own draws.
  static DrawRange Of(const std::vector<double>& distances);
  bool Holds(double distance) const { return distance >= low && distance <= high; }
};

}  // namespace hone

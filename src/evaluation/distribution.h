// Whether the draws of a candidate and of PyTorch come from one distribution. A module that draws random
// numbers may draw them in another order, so that single answers differ under the same seed. What can be
// compared then are many answers of each side, under seeds that the parent chooses.
//
// Each statistic is a two-sample permutation test: if both sides draw from one distribution, every way to
// share the answers out between them is as likely as the one that was seen. So its false alarm rate is exact,
// whatever the distribution is and however elements depend on each other. Plain arithmetic;
// candidate_draws.cpp makes the calls.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace hone {

// A statistic fails at this level. It counts against a candidate only if it fails again, at the same level,
// on other draws: one false alarm in a million for each statistic.
inline constexpr double kDrawsLevel = 1e-3;

// The elements of an output that are looked at in every draw: some at random and, for every dimension, an
// element that differs from them in that dimension alone.
struct ElementPlan {
  std::vector<size_t> elements;  // flat indices
  size_t bases = 0;              // the first of them were drawn at random
  struct Pairs {
    std::string name;                           // "along dimension 0"
    std::vector<std::pair<size_t, size_t>> at;  // positions in `elements`
  };
  std::vector<Pairs> pairs;
};
ElementPlan PlanElements(const std::vector<int64_t>& shape, Random& random, size_t most = 768);

// One row per draw, one value per planned element.
using Draws = std::vector<std::vector<double>>;

struct DrawStatistic {
  std::string name;  // "means", "spreads", "shape", "dependence along dimension 0", ...
  double p = 1;
};
// Compares two sets of draws. Elements that vary by less than a thousand times `tolerance`, which is what
// rounding explains, say nothing about a distribution and are left out here. `only`: names of statistics; all
// if empty.
std::vector<DrawStatistic> CompareDraws(const ElementPlan& plan, const Draws& reference,
                                        const Draws& candidate, double tolerance, Random& random,
                                        const std::set<std::string>& only = {});

// Mean and variance of every element over draws.
class ElementMoments {
 public:
  void Add(const std::vector<double>& values);
  size_t draws() const { return count_; }

  // The first element whose two means differ by more than `tolerance` and seven standard errors explain.
  static std::optional<size_t> FirstApart(const ElementMoments& a, const ElementMoments& b, double tolerance);
  // Whether any element varies by more than `tolerance`.
  bool Varies(double tolerance) const;

 private:
  size_t count_ = 0;
  std::vector<double> mean_, squares_;
};

// How far two independent draws lie apart, relative to their norm: what a single answer can be held to.
struct DrawRange {
  double low = 0;
  double high = 0;
  // `distances`: between pairs of PyTorch's own draws.
  static DrawRange Of(const std::vector<double>& distances);
  bool Holds(double distance) const { return distance >= low && distance <= high; }
};

}  // namespace hone

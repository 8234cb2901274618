#include "evaluation/truth.h"

#include <algorithm>

namespace hone {

namespace {

constexpr double kFloorUlp = 4;        // "a few ulp" for the relative error
constexpr double kWorstFloorUlp = 32;  // the worst of many elements lies further out
constexpr double kReferenceFactor = 2;

// --precision replaces the limit that follows from PyTorch's own error.
double PrecisionFloor(const std::string& precision) {
  if (precision == "tf32") return 2e-3;
  if (precision == "bf16") return 2e-2;
  return 0;
}

}  // namespace

Limit Truth::LimitFor(size_t instance, size_t leaf) const {
  Limit limit;
  double epsilon = 0;
  for (const Case& one : cases) {
    if (one.instance != instance || leaf >= one.expected.leaves.size()) continue;
    epsilon = Epsilon(one.expected.leaves[leaf].dtype);
    // Variants have other sizes and so other errors, but share the weights. The widest limit is used for all.
    limit.relative = std::max(limit.relative, kReferenceFactor * one.reference_error[leaf].relative);
    limit.worst = std::max(limit.worst, kReferenceFactor * one.reference_error[leaf].worst);
  }
  if (epsilon == 0) return limit;  // integers and booleans: what PyTorch itself gets wrong, and no more
  const double own = note == "float64" ? 1 : 16;  // without a truth there is no reference error to go by
  double floor = kFloorUlp * epsilon * own;
  if (precision == "fp32") {
    limit.relative = std::min(limit.relative, 16 * epsilon);
    limit.worst = std::min(limit.worst, 256 * epsilon);
  }
  floor = std::max(floor, PrecisionFloor(precision));
  limit.relative = std::max(limit.relative, floor);
  limit.worst = std::max({limit.worst, kWorstFloorUlp * epsilon * own, PrecisionFloor(precision) * 16});
  return limit;
}

double Truth::WidestLimit() const {
  double widest = 0;
  for (const Case& one : cases)
    for (size_t leaf = 0; leaf < one.expected.leaves.size(); ++leaf)
      widest = std::max(widest, LimitFor(one.instance, leaf).relative);
  return widest;
}

double Truth::WidestReferenceError() const {
  double widest = 0;
  for (const Case& one : cases)
    for (const Distance& distance : one.reference_error) widest = std::max(widest, distance.relative);
  return widest;
}

bool Truth::IsAccurate(const Case& one) const {
  double usual = 0;
  for (const Case& own : cases)
    if (own.instance == 0)
      for (const Distance& distance : own.reference_error) usual = std::max(usual, distance.relative);
  for (size_t i = 0; i < one.reference_error.size(); ++i) {
    const Distance& distance = one.reference_error[i];
    const double epsilon = Epsilon(one.expected.leaves[i].dtype);
    if (distance.non_finite > 0) return false;
    if (epsilon > 0 && distance.relative > std::max(30 * usual, 64 * epsilon)) return false;
  }
  return true;
}

}  // namespace hone

#include "evaluation/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hone {

namespace {

constexpr double kFloorUlp = 4;        // "a few ulp" for the relative error
constexpr double kWorstFloorUlp = 32;  // higher, because it applies to the worst of many elements
constexpr double kScaledFloorUlp = 64;
// The maximum of many quotients depends more on the order of summation than a norm does.
constexpr double kScaledFactor = 4;
// With probability 1 - 1e-6, PyTorch's own error lies within this many deviations of its mean, even if a
// single element decides it.
constexpr double kDeviations = 8;
constexpr double kLargestError = 1e-2;
// The norm of more elements than this hardly varies between draws.
constexpr size_t kFewElements = 16;

// --precision replaces the limit that follows from PyTorch's own error.
double PrecisionFloor(const std::string& precision) {
  if (precision == "tf32") return 2e-3;
  if (precision == "bf16") return 2e-2;
  return 0;
}

}  // namespace

namespace {

// `cap` is the largest error that PyTorch itself may have. Limits that follow from PyTorch's error never
// exceed it.
void Widen(const Distance& own, double factor, double cap, Limit* limit) {
  limit->relative = std::max(limit->relative, std::min(factor * own.relative, cap));
  limit->worst = std::max(limit->worst, factor * own.worst);
  limit->scaled = std::max(limit->scaled, kScaledFactor / 2 * factor * own.scaled);
}

// The ratio of the largest element to a typical one. Its unit in the last place is larger by the same factor.
double PeakShare(const Distance& own) {
  return own.typical > 0 ? own.largest / own.typical : 1;
}

double MeanAndDeviations(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double count = static_cast<double>(values.size()), mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return mean + kDeviations * std::sqrt(squares / (count - 1));
}

bool IsPlain(const Case& one, size_t instance, size_t leaf) {
  return one.instance == instance && one.change.empty() && leaf < one.reference_error.size();
}

}  // namespace

double Truth::NormShare(size_t instance, size_t leaf, const Distance& distance) const {
  if (distance.elements == 0 || distance.elements > kFewElements) return 1;
  double usual = 0;
  for (const Case& one : cases)
    if (IsPlain(one, instance, leaf) && one.reference_error[leaf].elements == distance.elements)
      usual = std::max(usual, one.reference_error[leaf].typical);
  if (usual <= distance.typical) return 1;
  return (distance.typical > 0 ? distance.typical : 1) / usual;
}

Limit Truth::LimitFor(size_t instance, size_t leaf) const {
  Limit limit;
  double epsilon = 0, typical = 0, peak = 1;
  for (const Case& one : cases) {
    if (one.instance != instance || leaf >= one.expected.leaves.size() || !one.change.empty()) continue;
    const TensorLeaf& output = one.expected.leaves[leaf];
    epsilon = Epsilon(output.dtype);
    typical = std::max(typical, one.reference_error[leaf].typical);
    // Variants have other sizes and thus other errors, but share the weights. All use the widest limit.
    const Distance& own = one.reference_error[leaf];
    peak = std::max(peak, PeakShare(own));
    const double cap = epsilon > 0 ? kLargestError * std::max(1.0, rule.error_factor / 2) : 1;
    Widen(own, rule.error_factor * NormShare(instance, leaf, own), cap, &limit);
  }
  if (epsilon == 0) return limit;  // for integers and booleans: the share that rounding decides
  const double own = (note == "float64" ? 1 : 16)  // without float64 results the reference error is unknown
                     * rule.error_factor / 2;
  if (rule.precision == "fp32") {
    limit.relative = std::min(limit.relative, 16 * epsilon);
    limit.worst = std::min(limit.worst, 256 * epsilon);
  }
  const double floor = PrecisionFloor(rule.precision);
  limit.relative = std::max({limit.relative, kFloorUlp * epsilon * own, floor});
  limit.worst =
      std::max({limit.worst, std::max(kWorstFloorUlp, kFloorUlp * peak) * epsilon * own, floor * 16});
  limit.scaled = std::max({limit.scaled, kScaledFloorUlp * epsilon * own, floor * 32});
  // The elements are compared with atol and rtol themselves. This limit is for code that compares norms.
  if (rule.by_tolerance() && typical > 0)
    limit.relative = std::max(limit.relative, rule.rtol + rule.atol / typical);
  return limit;
}

Limit Truth::LimitOf(const Case& one, size_t leaf, const OwnErrors& looks) const {
  Limit limit = LimitFor(one.instance, leaf);
  const double epsilon = Epsilon(one.expected.leaves[leaf].dtype);
  if (epsilon == 0) return limit;
  // There is only one case of this kind, so its error is a less reliable estimate for an honest candidate's
  // error.
  const double factor = rule.error_factor * (one.change.empty() ? 1 : 2);
  const double cap = kLargestError * std::max(1.0, rule.error_factor / 2);
  const auto share = [&](const Distance& own) { return NormShare(one.instance, leaf, own); };
  const Distance& first = one.reference_error[leaf];
  if (!one.change.empty()) {
    Widen(first, factor * share(first), cap, &limit);
    limit.worst = std::max(limit.worst, kFloorUlp * PeakShare(first) * epsilon * rule.error_factor / 2);
  }
  std::vector<double> relative = {share(first) * first.relative}, worst = {share(first) * first.worst},
                      scaled = {share(first) * first.scaled};
  for (const std::vector<Distance>& look : looks) {
    const Distance& own = look[leaf];
    Widen(own, factor * share(own), cap, &limit);
    relative.push_back(share(own) * own.relative);
    worst.push_back(share(own) * own.worst);
    scaled.push_back(share(own) * own.scaled);
  }
  if (looks.size() < kEnoughLooks) return limit;
  const double wider = rule.error_factor / 2;
  limit.relative = std::max(limit.relative, std::min(wider * MeanAndDeviations(relative), cap));
  limit.worst = std::max(limit.worst, wider * MeanAndDeviations(worst));
  limit.scaled = std::max(limit.scaled, wider * MeanAndDeviations(scaled));
  return limit;
}

double Truth::WidestLimit() const {
  double widest = 0;
  for (const Case& one : cases)
    for (size_t leaf = 0; leaf < one.expected.leaves.size(); ++leaf)
      if (one.change.empty()) widest = std::max(widest, LimitFor(one.instance, leaf).relative);
  return widest;
}

double Truth::WidestReferenceError() const {
  double widest = 0;
  for (const Case& one : cases)
    if (one.change.empty())
      for (const Distance& distance : one.reference_error) widest = std::max(widest, distance.relative);
  return widest;
}

bool Truth::IsAccurate(const Case& one) const {
  double usual = 0;
  size_t non_finite = 0;
  for (const Case& own : cases) {
    if (own.instance != 0 || !own.change.empty()) continue;
    for (const Distance& distance : own.reference_error) {
      usual = std::max(usual, distance.relative);
      non_finite += distance.truth_non_finite;
    }
  }
  for (size_t i = 0; i < one.reference_error.size(); ++i) {
    const Distance& distance = one.reference_error[i];
    const double epsilon = Epsilon(one.expected.leaves[i].dtype);
    if (distance.non_finite > 0 || (distance.truth_non_finite > 0 && non_finite == 0)) return false;
    const double most = std::min(std::max(30 * usual, 64 * epsilon), std::max(kLargestError, epsilon));
    if (epsilon > 0 && NormShare(one.instance, i, distance) * distance.relative > most) return false;
  }
  return true;
}

std::string DescribeRule(const LimitRule& rule) {
  if (rule.by_tolerance()) return fmt::format("|y - PyTorch| <= {} + {} * |PyTorch|", rule.atol, rule.rtol);
  if (rule.error_factor == 2) return "twice PyTorch's own error against float64";
  return fmt::format("{} times PyTorch's own error against float64", rule.error_factor);
}

void Truth::CheckAccuracy() {
  for (const Case& one : cases) {
    if (one.instance != 0 || !one.change.empty()) continue;
    for (size_t i = 0; i < one.reference_error.size(); ++i) {
      if (Epsilon(one.expected.leaves[i].dtype) == 0) continue;
      const double error = one.reference_error[i].relative;
      if (error <= kLargestError && one.reference_error[i].non_finite == 0) continue;
      if (one.reference_error[i].non_finite > 0) {
        doubts.push_back(
            {DoubtKind::kInaccurateReference,
             fmt::format(
                 "{} of {} numbers of PyTorch's own {} are infinite or NaN where float64's are not ({}). "
                 "Use another dtype, or smaller inputs in get_inputs",
                 one.reference_error[i].non_finite, one.reference_error[i].elements,
                 one.expected.leaves[i].path, one.id)});
        return;
      }
      doubts.push_back(
          {DoubtKind::kInaccurateReference,
           fmt::format("PyTorch's own {} is off by {} of its norm against float64 ({}); the largest error "
                       "that can be judged is "
                       "{}. Use another dtype or smaller sizes, or define get_stress with inputs on which it "
                       "is accurate",
                       one.expected.leaves[i].path, HumanNumber(error), one.id, HumanNumber(kLargestError))});
      return;
    }
  }
}

}  // namespace hone

#include "evaluation/trial_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hone {

namespace {

constexpr double kNumberUlp = 64;  // for a Python float, which most likely was a float32

// Returns the case whose expected output this is, if it belongs to another case: the candidate cached it.
std::string StaleOf(const Truth& truth, const Case& one, const TensorTree& answer) {
  for (const Case& other : truth.cases) {
    if (other.id == one.id || other.truth.leaves.size() != answer.leaves.size()) continue;
    bool same = true;
    for (size_t i = 0; same && i < answer.leaves.size(); ++i) {
      const TensorLeaf& leaf = answer.leaves[i];
      const TensorLeaf& exact = other.truth.leaves[i];
      same = leaf.elements() == exact.elements() && leaf.elements() > 0 &&
             Compare(leaf.dtype, answer.Bytes(leaf), exact.dtype, other.truth.Bytes(exact)).relative <=
                 truth.LimitOf(other, i).relative;
    }
    if (same) return other.id;
  }
  return "";
}

// Several elements at one address: an expanded tensor, which is not written out.
bool Overlaps(const TensorLeaf& leaf) {
  for (size_t i = 0; i < leaf.stride.size(); ++i)
    if (leaf.shape[i] > 1 && leaf.stride[i] == 0 && leaf.elements() > 1) return true;
  return false;
}

std::string FormProblem(const TensorLeaf& got, const TensorLeaf& want) {
  if (got.shape != want.shape)
    return fmt::format("{} has shape {} where {} is expected", got.path, ShapeText(got.shape),
                       ShapeText(want.shape));
  if (Overlaps(got) && !Overlaps(want))
    return fmt::format("{} has strides {}, several elements at one address, where PyTorch's has {}", got.path,
                       ShapeText(got.stride), ShapeText(want.stride));
  return "";
}

// A whole number is right if PyTorch or float64 gives it, also for inputs that differ by rounding. Where
// those disagree, float64 values tie within rounding, and every number of the output's range may be another
// one of the tie.
bool IsRightInteger(const Case& one, size_t leaf, double got, size_t index, double lowest, double highest) {
  const auto at = [&](const TensorTree& tree) {
    const TensorLeaf& other = tree.leaves[leaf];
    return index < other.elements() ? ElementAt(other.dtype, tree.Bytes(other), index) : NAN;
  };
  const double exact = at(one.truth), own = at(one.expected);
  if (got == exact || got == own) return true;
  bool tied = exact != own;
  for (const TensorTree& near : one.nearby) {
    const double other = at(near);
    if (got == other) return true;
    tied = tied || other != exact;
  }
  return tied && got >= lowest && got <= highest;
}

// Sets the distance to the share of integers that are wrong.
void CompareIntegers(const Case& one, const TensorTree& answer, size_t leaf, Distance* distance) {
  if (distance->relative == 0) return;
  const TensorLeaf& got = answer.leaves[leaf];
  const TensorLeaf& want = one.truth.leaves[leaf];
  double lowest = INFINITY, highest = -INFINITY;
  for (size_t i = 0; i < want.elements(); ++i) {
    const double value = ElementAt(want.dtype, one.truth.Bytes(want), i);
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  size_t wrong = 0;
  for (size_t i = 0; i < got.elements(); ++i) {
    const double value = ElementAt(got.dtype, answer.Bytes(got), i);
    if (value == ElementAt(want.dtype, one.truth.Bytes(want), i)) continue;
    if (IsRightInteger(one, leaf, value, i, lowest, highest)) continue;
    if (wrong++ == 0) distance->worst_at = i;
  }
  distance->relative = static_cast<double>(wrong) / static_cast<double>(std::max<size_t>(got.elements(), 1));
  distance->worst = distance->scaled = 0;
  distance->non_finite = 0;
}

std::string NumberProblem(const Truth& truth, const Case& one, const TensorTree& answer) {
  for (size_t i = 0; i < one.expected.numbers.size() && i < answer.numbers.size(); ++i) {
    const TreeNumber& want = one.expected.numbers[i];
    const double got = answer.numbers[i].value;
    const double exact = i < one.truth.numbers.size() ? one.truth.numbers[i].value : want.value;
    double allowed = want.whole ? 0
                                : std::max(truth.rule.error_factor * std::abs(want.value - exact),
                                           kNumberUlp * Epsilon(Dtype::kF32) * std::abs(exact));
    if (truth.rule.by_tolerance()) allowed = truth.rule.atol + truth.rule.rtol * std::abs(want.value);
    if (got == want.value || std::abs(got - exact) <= allowed) continue;
    return fmt::format("{} is {} where {} is expected", want.path, got, want.value);
  }
  return "";
}

LeafTrial JudgeLeaf(const Truth& truth, const Case& one, const TensorTree& answer, size_t i) {
  const TensorLeaf& leaf = answer.leaves[i];
  LeafTrial judged;
  judged.path = leaf.path;
  judged.reference_error = one.reference_error[i].relative;
  judged.limit = truth.LimitOf(one, i);
  judged.distance = CompareLeaves(answer, one.truth, i);
  if (!IsFloating(leaf.dtype)) {
    CompareIntegers(one, answer, i, &judged.distance);
    judged.limit = {};
    return judged;
  }
  judged.by_tolerance = truth.rule.by_tolerance();
  if (judged.by_tolerance)
    judged.far = CountFar(leaf.dtype, answer.Bytes(leaf), one.expected.leaves[i].dtype,
                          one.expected.Bytes(one.expected.leaves[i]), truth.rule.atol, truth.rule.rtol);
  return judged;
}

}  // namespace

Trial JudgeTrial(const Truth& truth, const Case& one, const TensorTree& answer,
                 const TensorTree& inputs_after) {
  Trial trial;
  trial.case_id = one.id;
  const auto other_structure = [&] {
    return fmt::format("returns {} where {} is expected", answer.structure.substr(0, 200),
                       one.expected.structure.substr(0, 200));
  };
  if (answer.leaves.size() != one.expected.leaves.size()) {
    trial.shape_problem = other_structure();
    return trial;
  }
  for (size_t i = 0; i < answer.leaves.size(); ++i) {
    const TensorLeaf& leaf = answer.leaves[i];
    const TensorLeaf& expected = one.expected.leaves[i];
    trial.shape_problem = FormProblem(leaf, expected);
    if (!trial.shape_problem.empty()) return trial;
    if (leaf.dtype != expected.dtype) {
      trial.dtype_problem = fmt::format("{} is {} where {} is expected", leaf.path, DtypeName(leaf.dtype),
                                        DtypeName(expected.dtype));
      return trial;
    }
  }
  if (answer.structure != one.expected.structure) {
    trial.shape_problem = other_structure();
    return trial;
  }
  trial.value_problem = NumberProblem(truth, one, answer);
  bool wrong = false;
  for (size_t i = 0; i < answer.leaves.size(); ++i) {
    trial.leaves.push_back(JudgeLeaf(truth, one, answer, i));
    const LeafTrial& judged = trial.leaves.back();
    wrong = wrong || judged.OverLimit() || judged.distance.non_finite > 0;
  }
  if (wrong) trial.stale_of = StaleOf(truth, one, answer);
  for (size_t i = 0; i < one.inputs.leaves.size(); ++i) {
    const bool same = i < inputs_after.leaves.size() &&
                      inputs_after.leaves[i].bytes == one.inputs.leaves[i].bytes &&
                      std::ranges::equal(inputs_after.Bytes(inputs_after.leaves[i]),
                                         one.inputs.Bytes(one.inputs.leaves[i]));
    trial.input_modified = trial.input_modified || !same;
  }
  return trial;
}

bool IsBad(const Trial& trial) {
  if (!trial.shape_problem.empty() || !trial.dtype_problem.empty() || !trial.value_problem.empty() ||
      trial.input_modified)
    return true;
  return std::any_of(trial.leaves.begin(), trial.leaves.end(), [](const LeafTrial& leaf) {
    return leaf.OverLimit() || leaf.distance.non_finite > 0 || leaf.distance.poisoned > 0;
  });
}

std::string StrideRemark(const Case& one, const TensorTree& answer) {
  for (size_t i = 0; i < answer.leaves.size() && i < one.expected.leaves.size(); ++i) {
    const TensorLeaf& got = answer.leaves[i];
    const TensorLeaf& want = one.expected.leaves[i];
    if (got.shape != want.shape || got.stride.empty() || want.stride.empty()) continue;
    for (size_t d = 0; d < got.shape.size(); ++d)
      if (got.shape[d] > 1 && got.stride[d] != want.stride[d])
        return fmt::format("{} has strides {} where PyTorch's has {}: view() may fail on it", got.path,
                           ShapeText(got.stride), ShapeText(want.stride));
  }
  return "";
}

}  // namespace hone

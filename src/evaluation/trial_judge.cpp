#include "evaluation/trial_judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone {

namespace {

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
                 truth.LimitFor(other.instance, i).relative;
    }
    if (same) return other.id;
  }
  return "";
}

}  // namespace

Trial JudgeTrial(const Truth& truth, const Case& one, const TensorTree& answer,
                 const TensorTree& inputs_after) {
  Trial trial;
  trial.case_id = one.id;
  if (answer.leaves.size() != one.expected.leaves.size()) {
    trial.shape_problem = fmt::format("returns {} where {} is expected", answer.structure.substr(0, 200),
                                      one.expected.structure.substr(0, 200));
    return trial;
  }
  for (size_t i = 0; i < answer.leaves.size(); ++i) {
    const TensorLeaf& leaf = answer.leaves[i];
    const TensorLeaf& expected = one.expected.leaves[i];
    if (leaf.shape != expected.shape) {
      trial.shape_problem = fmt::format("{} has shape {} where {} is expected", leaf.path,
                                        ShapeText(leaf.shape), ShapeText(expected.shape));
      return trial;
    }
    if (leaf.dtype != expected.dtype) {
      trial.dtype_problem = fmt::format("{} is {} where {} is expected", leaf.path, DtypeName(leaf.dtype),
                                        DtypeName(expected.dtype));
      return trial;
    }
  }
  if (answer.structure != one.expected.structure) {
    trial.shape_problem = fmt::format("returns {} where {} is expected", answer.structure.substr(0, 200),
                                      one.expected.structure.substr(0, 200));
    return trial;
  }
  bool wrong = false;
  for (size_t i = 0; i < answer.leaves.size(); ++i) {
    const TensorLeaf& leaf = answer.leaves[i];
    const TensorLeaf& exact = one.truth.leaves[i];
    LeafTrial judged;
    judged.path = leaf.path;
    judged.reference_error = one.reference_error[i].relative;
    judged.limit = truth.LimitFor(one.instance, i);
    judged.distance = Compare(leaf.dtype, answer.Bytes(leaf), exact.dtype, one.truth.Bytes(exact));
    if (!IsFloating(leaf.dtype)) {
      // PyTorch's own result counts as right too: float64 may break a tie the other way.
      const Distance own = Compare(leaf.dtype, answer.Bytes(leaf), one.expected.leaves[i].dtype,
                                   one.expected.Bytes(one.expected.leaves[i]));
      if (own.relative == 0) judged.distance.relative = judged.distance.worst = 0;
    }
    wrong = wrong || !(judged.distance.relative <= judged.limit.relative) || judged.distance.non_finite > 0;
    trial.leaves.push_back(judged);
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
  if (!trial.shape_problem.empty() || !trial.dtype_problem.empty() || trial.input_modified) return true;
  for (const LeafTrial& leaf : trial.leaves)
    if (!(leaf.distance.relative <= leaf.limit.relative) || !(leaf.distance.worst <= leaf.limit.worst) ||
        leaf.distance.non_finite > 0 || leaf.distance.poisoned > 0)
      return true;
  return false;
}

}  // namespace hone

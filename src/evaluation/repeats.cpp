#include "evaluation/repeats.h"

#include <algorithm>

#include "evaluation/tree_values.h"

namespace hone {

Status CompareRepeat(const TensorTree& first, const TensorTree& answer, Repeats* repeats) {
  bool same = answer.leaves.size() == first.leaves.size() && HasValues(answer);
  double spread = same ? 0 : 1;
  for (size_t k = 0; HasValues(answer) && k < answer.leaves.size() && k < first.leaves.size(); ++k) {
    const TensorLeaf& a = first.leaves[k];
    const TensorLeaf& b = answer.leaves[k];
    if (a.bytes != b.bytes || a.dtype != b.dtype) {
      same = false;
      spread = 1;
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const bool equal, SameValues(first, answer, k));
    if (equal) continue;
    same = false;
    HONE_ASSIGN_OR_RETURN(const Distance distance, CompareNorms(answer, first, k));
    spread = std::max(spread, distance.non_finite > 0 ? 1.0 : distance.relative);
  }
  repeats->distinct += same ? 0 : 1;
  repeats->spread = std::max(repeats->spread, spread);
  return Ok();
}

double SpreadLimit(const Truth& truth, const Case& one) {
  double limit = 0;
  for (size_t k = 0; k < one.expected.leaves.size(); ++k)
    limit = std::max(
        {limit, 8 * Epsilon(one.expected.leaves[k].dtype), truth.LimitFor(one.instance, k).relative / 16});
  return limit;
}

}  // namespace hone

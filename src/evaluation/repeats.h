// Calls on the same inputs: do the answers agree? Reordered sums differ by a few ulp. A race differs by more.
#pragma once

#include "evaluation/measurement.h"
#include "evaluation/tensor_tree.h"
#include "evaluation/truth.h"

namespace hone {

// Compares one more answer with the first one and notes a difference.
Status CompareRepeat(const TensorTree& first, const TensorTree& answer, Repeats* repeats);
// The largest spread that rounding explains, for a candidate's answers to a case.
double SpreadLimit(const Truth& truth, const Case& one);

}  // namespace hone

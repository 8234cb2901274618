// Compares calls on the same inputs. Reordered sums differ by a few ulp; a race differs by more.
#pragma once

#include "evaluation/measurement.h"
#include "evaluation/tensor_tree.h"
#include "evaluation/truth.h"

namespace hone {

// Compares another answer with the first one and records a difference.
Status CompareRepeat(const TensorTree& first, const TensorTree& answer, Repeats* repeats);
// The largest spread that rounding explains, for a candidate's answers to a case.
double SpreadLimit(const Truth& truth, const Case& one);

}  // namespace hone

// Compares one answer of a candidate with one case: structure, shapes, dtypes, strides, values, and the
// inputs after the call. It records observations; the verdict room draws the conclusions.
#pragma once

#include "evaluation/measurement.h"
#include "evaluation/truth.h"

namespace hone {

// `inputs_after` holds the caller's tensors after the call.
Result<Trial> JudgeTrial(const Truth& truth, const Case& one, const TensorTree& answer,
                         const TensorTree& inputs_after);

// The share of wrong integers or booleans in an output. Values that rounding decides are never wrong.
Result<double> WrongIntegers(const Case& one, const TensorTree& answer, size_t leaf);

// The allowed deviation of a Python number in an answer from PyTorch's `want`, on the task's own inputs.
double NumberLimit(const Truth& truth, size_t number, double want, bool whole);

// Whether the trial ends the evaluation.
bool IsBad(const Trial& trial);
// A change of the inputs (Case::change): they are multiplied by a million, and float16 kernels may overflow.
inline constexpr char kEnlarged[] = "enlarge";
// Whether the only error is that numbers are infinite or NaN.
bool Overflows(const Trial& trial);

// Describes a harmless difference from PyTorch's outputs: another memory order. Empty if there is none.
std::string StrideRemark(const Case& one, const TensorTree& answer);

}  // namespace hone

// Compares one answer of a candidate with one case: structure, shapes, dtypes, strides, values, and the
// inputs after the call. It notes what it saw; the verdict room draws the conclusions.
#pragma once

#include "evaluation/measurement.h"
#include "evaluation/truth.h"

namespace hone {

// `inputs_after`: the caller's tensors after the call.
Result<Trial> JudgeTrial(const Truth& truth, const Case& one, const TensorTree& answer,
                         const TensorTree& inputs_after);

// The share of an output's integers or booleans that are wrong; what rounding decides is never wrong.
Result<double> WrongIntegers(const Case& one, const TensorTree& answer, size_t leaf);

// How far a Python number of an answer may be from PyTorch's `want`, on inputs of the task's own.
double NumberLimit(const Truth& truth, size_t number, double want, bool whole);

// Whether the trial ends the evaluation.
bool IsBad(const Trial& trial);
// A change of the inputs (Case::change): times a million. Kernels that compute in float16 may overflow there.
inline constexpr char kEnlarged[] = "enlarge";
// Whether all that is wrong is that numbers came out infinite or NaN.
bool Overflows(const Trial& trial);

// What differs from PyTorch's outputs and is no mistake: another order of memory. Empty if nothing does.
std::string StrideRemark(const Case& one, const TensorTree& answer);

}  // namespace hone

// Limits follow from PyTorch's own error, which is a random sample. If few elements determine it (an output
// of one number, a softmax with one large entry, a saturated gate near its threshold), another rounding of
// the same computation can by chance have an error several times as large. An answer slightly over its limit
// is therefore not rejected at once: PyTorch computes the case several more times, on inputs that differ by a
// few units in the last place, each with its own float64 result. Its errors there count as its errors on the
// case.
//
// An answer far over its limit gets no second look. An answer within its limit costs no time here.
#pragma once

#include <functional>
#include <optional>

#include "evaluation/measurement.h"
#include "evaluation/truth.h"

namespace hone {

// Whether the trial is bad only by the size of its errors, and by so little that chance can explain it.
bool IsNearlyRight(const Trial& trial);

// Another sample of PyTorch's own error, per output. No value if it is not available.
using DrawError = std::function<Result<std::optional<std::vector<Distance>>>()>;

// Widens the limits of a nearly right trial by the results of `draw`, until the trial is right or there are
// enough samples. Returns the number of samples.
Result<int> LookAgain(const Truth& truth, const Case& one, const DrawError& draw, Trial* trial);

}  // namespace hone

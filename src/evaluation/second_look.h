// PyTorch's own error, from which limits follow, is a random sample. Where few elements decide it (an output
// of one number, a softmax with one large entry, a saturated gate near its threshold), another rounding of
// the same computation can have an error several times as large, by chance. So an answer that is a little
// over its limit is not refused at once: PyTorch computes the case several more times, on inputs that differ
// by a few units in the last place, each time with its own float64 result. Its errors there count as its
// errors on the case.
//
// An answer that is far over its limit gets no second look. An answer within its limit costs no time here.
#pragma once

#include <functional>
#include <optional>

#include "evaluation/measurement.h"
#include "evaluation/truth.h"

namespace hone {

// Whether the trial is bad by the size of its errors alone, and by so little that chance can explain it.
bool IsNearlyRight(const Trial& trial);

// PyTorch's own error once more, per output. Nothing: it cannot be had.
using DrawError = std::function<Result<std::optional<std::vector<Distance>>>()>;

// Widens the limits of a trial that is nearly right by what `draw` returns, until the trial is right or there
// are enough looks. Returns how many there were.
Result<int> LookAgain(const Truth& truth, const Case& one, const DrawError& draw, Trial* trial);

}  // namespace hone

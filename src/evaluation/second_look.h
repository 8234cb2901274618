// PyTorch's own error, from which limits follow, is a draw. Where few elements decide it (an output of one
// number, a softmax with one large entry, a saturated gate near its threshold), another rounding of the same
// computation errs several times as much, by chance. So an answer that is a little over its limit is not
// refused at once: PyTorch answers the case again and again, on inputs that differ by a few units in the last
// place, each time with a float64 result of its own. What it errs there counts as what it errs on the case.
//
// An answer that is far over its limit is not looked at again, and one that is within it costs nothing.
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

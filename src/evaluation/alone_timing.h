// Measures PyTorch's time per call while nothing runs beside it. It uses the same blocks as a contest, so the
// two times can be compared: fresh inputs for every call, and the slope between a block of one call and a
// longer one.
#pragma once

#include <string>

#include "evaluation/timed_side.h"

namespace hone {

struct AlonePlan {
  std::string rung;
  double about_us = 0;   // first estimate of the time per call
  size_t set_bytes = 0;  // bytes of the inputs and answers of one call
  double budget_s = 0.3;
};

// The result if a busy machine hid the time: a block of several calls took no longer than one call. No call
// of a module takes this little.
constexpr double kNoTimeSeenUs = 0.5;
// Microseconds per call, the median over a few rounds. `like` is an answer with the expected form.
Result<double> TimeRungAlone(WorkerProcess& reference, TimedMemory memory, const TensorTree& like,
                             const AlonePlan& plan);

}  // namespace hone

// PyTorch's time for a call with nothing beside it, found with the blocks that a contest times: fresh inputs
// for every call, and the slope between a block of one call and a longer one. So the two can be compared.
#pragma once

#include <string>

#include "evaluation/timed_side.h"

namespace hone {

struct AlonePlan {
  std::string rung;
  double about_us = 0;   // of a call, at first look
  size_t set_bytes = 0;  // inputs and answers of a call
  double budget_s = 0.3;
};

// What is returned where a busy machine hid the time: a block of several calls took no longer than one call.
// No call of a module takes as little.
constexpr double kNoTimeSeenUs = 0.5;
// Microseconds per call: the median over a few rounds. `like`: an answer, for its form.
Result<double> TimeRungAlone(WorkerProcess& reference, TimedMemory memory, const TensorTree& like,
                             const AlonePlan& plan);

}  // namespace hone

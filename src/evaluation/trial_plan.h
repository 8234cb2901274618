// The order of a candidate's cases, and the buffers for their inputs.
#pragma once

#include <string>
#include <vector>

#include "evaluation/truth.h"

namespace hone {

struct PlannedTrial {
  const Case* one = nullptr;
  std::string buffer;     // name of the inputs in the candidate's process
  bool in_place = false;  // overwrites the present content of the buffer
};

// Cases of different instances alternate in the same input buffers, so that an output cached by address, by
// call or for the first instance is wrong. The first case is repeated in new buffers. Changed inputs come
// last.
std::vector<PlannedTrial> PlanTrials(const Truth& truth, size_t most);

}  // namespace hone

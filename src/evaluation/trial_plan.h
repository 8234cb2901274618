// The order in which a candidate gets the cases, and the buffers that it finds their inputs in.
#pragma once

#include <string>
#include <vector>

#include "evaluation/truth.h"

namespace hone {

struct PlannedTrial {
  const Case* one = nullptr;
  std::string buffer;     // the name of the inputs in the candidate's process
  bool in_place = false;  // written over what the buffer holds
};

// Cases of different instances alternate in the same input buffers, so an output cached by address, by call
// or for the first instance is wrong. The first case is repeated in new buffers. Changed inputs come last.
std::vector<PlannedTrial> PlanTrials(const Truth& truth, size_t most);

}  // namespace hone

// What a device was ever seen to reach: measured once, kept per device and library version, raised when it is
// measured again, never lowered.
#pragma once

#include <string>

#include "evaluation/worker.h"
#include "task/card.h"

namespace hone {

struct DeviceCeilings {
  Ceilings rates;
  int64_t times = 0;  // measured so often; 0: not known yet
};

// What is kept of earlier sessions. `facts` are the worker's.
DeviceCeilings ReadCeilings(const std::string& device, const Json& facts);

// Measures now, raises what is known and keeps it.
Status MeasureCeilings(const std::string& device, const Json& facts, WorkerProcess& worker,
                       DeviceCeilings* known);

}  // namespace hone

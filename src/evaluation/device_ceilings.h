// Peak rates of a device: measured once, kept per device and library version, raised when a later measurement
// is higher, never lowered.
#pragma once

#include <string>

#include "evaluation/worker.h"
#include "task/card.h"

namespace hone {

struct DeviceCeilings {
  Ceilings rates;
  int64_t times = 0;  // measured so often; 0: not known yet
};

// Reads the rates of earlier sessions. `facts` come from the worker.
DeviceCeilings ReadCeilings(const std::string& device, const Json& facts);

// Measures now, raises the known rates and keeps them.
Status MeasureCeilings(const std::string& device, const Json& facts, WorkerProcess& worker,
                       DeviceCeilings* known);

}  // namespace hone

// Peak rates of a device. They are measured once for each device and library version, raised if a later
// measurement is higher, and never lowered.
#pragma once

#include <string>

#include "evaluation/worker.h"
#include "task/card.h"

namespace hone {

struct DeviceCeilings {
  Ceilings rates;
  int64_t times = 0;  // number of measurements; 0: unknown
};

// Reads the rates that earlier sessions stored. `facts` come from the worker.
DeviceCeilings ReadCeilings(const std::string& device, const Json& facts);

// Measures now, raises the known rates and stores them.
Status MeasureCeilings(const std::string& device, const Json& facts, WorkerProcess& worker,
                       DeviceCeilings* known);

}  // namespace hone

// Which entries of the contract for later use can be tried on a task: what each needs in memory and time, and
// the sentence for one that is left out. Plain arithmetic; contract.cpp runs the entries.
#pragma once

#include <cstdint>
#include <string>

namespace hone {

struct ContractSizes {
  double input_bytes = 0;
  double output_bytes = 0;
  double weight_bytes = 0;
  double free_bytes = 0;  // where values lie, on the device or on the host
  double call_s = 0;

  double data_bytes() const { return input_bytes + output_bytes; }
};

// Empty if the entry can be tried; else why not.
std::string WhyNotTried(const std::string& entry, const ContractSizes& sizes);

// Entries along the first dimension, which has `full`, that gradients are compared for: all of them, or as
// many as make little data of a large task.
int64_t TrainingBatch(int64_t full, const ContractSizes& sizes);

}  // namespace hone

// Decides which entries of the contract can be tried on a task, by the memory and time that each needs, and
// explains each omission. It is plain arithmetic; contract.cpp runs the entries.
#pragma once

#include <cstdint>
#include <string>

namespace hone {

struct ContractSizes {
  double input_bytes = 0;
  double output_bytes = 0;
  double weight_bytes = 0;
  double free_bytes = 0;  // on the device or the host, wherever the values are
  double call_s = 0;

  double data_bytes() const { return input_bytes + output_bytes; }
};

// Returns why the entry cannot be tried, or an empty string.
std::string WhyNotTried(const std::string& entry, const ContractSizes& sizes);

// How many of the `full` entries of the first dimension to use for comparing gradients: all of them, or fewer
// for a large task.
int64_t TrainingBatch(int64_t full, const ContractSizes& sizes);

}  // namespace hone

// The GPUs that CUDA shows to this process, in CUDA's order: `cuda:0` is the first. Each has an identity, by
// which two processes can recognise the same device despite different values of CUDA_VISIBLE_DEVICES.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "evaluation/driver.h"

namespace hone {

struct VisibleGpu {
  std::string uuid;     // "GPU-5f3c...", as nvidia-smi -L prints it
  std::string name;     // "NVIDIA H200"
  std::string visible;  // value of CUDA_VISIBLE_DEVICES for a process that may use only this one
};

// Starts the driver but no device. Returns an Error if there is no driver or no device. `allowed` is the
// current value of CUDA_VISIBLE_DEVICES. Its words are kept, because a part of a device (MIG) has no other
// name.
Result<std::vector<VisibleGpu>> ListVisibleGpus(const std::string& allowed, const Driver* driver = nullptr);

// The device that `cuda` means in this process, as a part of a file name: "cuda-5f3c...". Returns "cuda" if
// the driver does not report it.
std::string NameOfUsedGpu();

}  // namespace hone

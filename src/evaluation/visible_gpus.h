// The GPUs that CUDA shows to this process, in CUDA's order: `cuda:0` is the first. Each has an identity of
// its own, so that two processes mean the same device whatever CUDA_VISIBLE_DEVICES says to each of them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "evaluation/driver.h"

namespace hone {

struct VisibleGpu {
  std::string uuid;     // "GPU-5f3c...", as nvidia-smi -L prints it
  std::string name;     // "NVIDIA H200"
  std::string visible;  // what CUDA_VISIBLE_DEVICES has to be for a process that may see this one alone
};

// Starts the driver, no device. An Error where there is no driver or no device. `allowed` is what
// CUDA_VISIBLE_DEVICES says here; its words are kept, because a part of a device (MIG) has no other name.
Result<std::vector<VisibleGpu>> ListVisibleGpus(const std::string& allowed, const Driver* driver = nullptr);

// The device that `cuda` means in this process, as a word for a file's name: "cuda-5f3c...". "cuda" where the
// driver does not tell.
std::string NameOfUsedGpu();

}  // namespace hone

// Decides whether the result of a CUDA kernel is used. It follows the buffer that the kernel writes through
// the launching C++ function to the Python call of that function. Values that cannot be followed count as
// used.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/candidate.h"

namespace hone {

struct CudaLaunchResult {
  const CudaUnit* unit = nullptr;
  const CudaLaunch* launch = nullptr;
  std::string_view buffer;    // a local tensor it writes
  bool stays_inside = false;  // it writes only to memory local to the C++ function
  bool used = true;
};

// A call from Python to a C++ function that launches kernels.
struct ExtensionCall {
  const PyNode* node = nullptr;
  std::string_view function;
  std::string_view kernel;  // the first kernel that it launches
  bool used = true;
};

std::vector<CudaLaunchResult> CudaLaunchResults(const Candidate& candidate);
std::vector<ExtensionCall> ExtensionCalls(const Candidate& candidate,
                                          const std::vector<CudaLaunchResult>& launches);

}  // namespace hone

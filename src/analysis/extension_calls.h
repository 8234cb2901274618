// Whether the result of a CUDA kernel is used: from the buffer it writes, through the C++ function that
// launches it, to the Python call of that function. Anything that cannot be followed counts as used.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/candidate.h"

namespace hone {

struct CudaLaunchResult {
  const CudaUnit* unit = nullptr;
  const CudaLaunch* launch = nullptr;
  std::string_view buffer;    // a local tensor it writes
  bool stays_inside = false;  // everything it writes is local to the C++ function
  bool used = true;
};

// A call from Python of a C++ function that launches kernels.
struct ExtensionCall {
  const PyNode* node = nullptr;
  std::string_view function;
  std::string_view kernel;  // the first it launches
  bool used = true;
};

std::vector<CudaLaunchResult> CudaLaunchResults(const Candidate& candidate);
std::vector<ExtensionCall> ExtensionCalls(const Candidate& candidate,
                                          const std::vector<CudaLaunchResult>& launches);

}  // namespace hone

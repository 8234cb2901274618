// How a candidate gets native code of its own without Triton: C++ or CUDA source in a string, compiled by a
// compiler process, by NVRTC or by torch's extension loader, and called through ctypes or a module. Checks
// use it to tell such a build from a process or a library that has nothing to do with the kernel.
#pragma once

#include <set>
#include <vector>

#include "analysis/cuda_unit.h"
#include "analysis/scopes.h"

namespace hone {

struct NativeBuild {
  bool has_source = false;           // a string holds C++ or CUDA
  bool uses_nvrtc = false;           // calls nvrtcCompileProgram
  bool uses_loader = false;          // calls load_inline and its like
  std::set<const PyNode*> compiles;  // calls that start a compiler and nothing else

  // The file compiles the source that it carries.
  bool builds() const { return has_source && (uses_nvrtc || uses_loader || !compiles.empty()); }
};

NativeBuild FindNativeBuild(const Scopes& scopes, const std::vector<CudaUnit>& sources);

}  // namespace hone

// How a candidate builds its own native code without Triton: C++ or CUDA source in a string, compiled by a
// compiler process, NVRTC or torch's extension loader, and called through ctypes or a module. Checks use it
// to distinguish such a build from unrelated processes and libraries.
#pragma once

#include <set>
#include <vector>

#include "analysis/cuda_unit.h"
#include "analysis/scopes.h"

namespace hone {

struct NativeBuild {
  bool has_source = false;           // a string holds C++ or CUDA
  bool uses_nvrtc = false;           // calls nvrtcCompileProgram
  bool uses_loader = false;          // calls load_inline or a similar function
  std::set<const PyNode*> compiles;  // calls that only start a compiler

  // The file compiles its own source.
  bool builds() const { return has_source && (uses_nvrtc || uses_loader || !compiles.empty()); }
};

NativeBuild FindNativeBuild(const Scopes& scopes, const std::vector<CudaUnit>& sources);

}  // namespace hone

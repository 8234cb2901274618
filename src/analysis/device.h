// Limits of the GPUs that candidates are judged on, as far as static analysis needs them.
#pragma once

#include <cstdint>
#include <string_view>

namespace hone {

struct DeviceLimits {
  std::string_view name;
  int64_t shared_memory_bytes;  // the most one program may ask for
  bool wgmma;                   // Hopper and later keep one more stage of a pipelined loop in shared memory
};

// By name ("h200", "a100", "4090", "sm_89"); null when it is not known.
const DeviceLimits* FindDevice(std::string_view name);
// The limits that no current device exceeds. Used if the device is not known.
const DeviceLimits& MostGenerousDevice();

}  // namespace hone

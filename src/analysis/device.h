// GPU limits that static analysis needs.
#pragma once

#include <cstdint>
#include <string_view>

namespace hone {

struct DeviceLimits {
  std::string_view name;
  int64_t shared_memory_bytes;  // maximum per program
  bool wgmma;                   // Hopper and later keep one more stage of a pipelined loop in shared memory
};

// Finds a device by name ("h200", "a100", "4090", "sm_89"). Null if it is unknown.
const DeviceLimits* FindDevice(std::string_view name);
// The highest limits of all current devices. Used if the device is unknown.
const DeviceLimits& MostGenerousDevice();

}  // namespace hone

// Reads the memory of another process of the same user, as a debugger does. The parent reads a frozen
// worker's answers this way: nothing is copied while the clock runs, and a frozen process cannot compute.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace hone {

// kUnavailable: the kernel forbids it. kInvalid: the address is not mapped.
Status ReadPeerMemory(pid_t pid, uint64_t address, std::span<std::byte> to);

// A place where the other process has mapped a file. There may be several.
struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool Holds(uint64_t address) const { return address >= begin && address < end; }
};
Result<std::vector<AddressRange>> PeerMappingsOf(pid_t pid, int fd);

}  // namespace hone

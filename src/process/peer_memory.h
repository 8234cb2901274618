// Reads the memory of another process of the same user, as a debugger would. The parent takes a frozen
// worker's answers this way: nothing has to be copied while the clock runs, and a frozen process computes
// nothing.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace hone {

// kUnavailable: the kernel does not allow it. kInvalid: there is nothing to read at this address.
Status ReadPeerMemory(pid_t pid, uint64_t address, std::span<std::byte> to);

// Where the other process has mapped a file, which may be more than once.
struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool Holds(uint64_t address) const { return address >= begin && address < end; }
};
Result<std::vector<AddressRange>> PeerMappingsOf(pid_t pid, int fd);

}  // namespace hone

// Reads the memory of another process of the same user, as a debugger would. The parent takes a frozen
// worker's answers this way: nothing has to be copied while the clock runs, and a frozen process computes
// nothing.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace hone {

// kUnavailable: the kernel does not allow it. kInvalid: there is nothing to read at this address.
Status ReadPeerMemory(pid_t pid, uint64_t address, std::span<std::byte> to);

}  // namespace hone

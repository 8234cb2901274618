#include "process/peer_memory.h"

#include <sys/uio.h>

#include <cerrno>

namespace hone {

Status ReadPeerMemory(pid_t pid, uint64_t address, std::span<std::byte> to) {
  while (!to.empty()) {
    iovec here{to.data(), to.size()};
    iovec there{reinterpret_cast<void*>(address), to.size()};  // NOLINT: an address of the other process
    const ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (got < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES))
      return Error{ErrorKind::kUnavailable, "the kernel does not let Hone read a worker's memory"};
    if (got <= 0) return Error{ErrorKind::kInvalid, "an answer lies where there is no memory"};
    address += static_cast<uint64_t>(got);
    to = to.subspan(static_cast<size_t>(got));
  }
  return Ok();
}

}  // namespace hone

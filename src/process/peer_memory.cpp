#include "process/peer_memory.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>

#include "base/files.h"
#include "base/text.h"

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

Result<std::vector<AddressRange>> PeerMappingsOf(pid_t pid, int fd) {
  struct stat file {};
  if (fstat(fd, &file) != 0) return Error{ErrorKind::kInternal, "cannot look at a memory file"};
  HONE_ASSIGN_OR_RETURN(const std::string maps, ReadFile(fmt::format("/proc/{}/maps", pid)));
  std::vector<AddressRange> found;
  for (const std::string& line : Split(maps, '\n')) {
    AddressRange range;
    unsigned major_number = 0, minor_number = 0;
    unsigned long long inode = 0;
    const int read = std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %*s %x:%x %llu", &range.begin,
                                 &range.end, &major_number, &minor_number, &inode);
    if (read == 5 && inode == file.st_ino && makedev(major_number, minor_number) == file.st_dev)
      found.push_back(range);
  }
  return found;
}

}  // namespace hone

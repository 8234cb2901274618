#include "process/shared_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hone {

struct SharedRegion::Mapping {
  Mapping(void* start, size_t size) : start(start), size(size) {}
  Mapping(const Mapping&) = delete;
  ~Mapping() {
    if (size != 0) munmap(start, size);
  }
  void* start;
  size_t size;
};

Result<SharedRegion> SharedRegion::Create(const std::string& label, size_t bytes) {
  SharedRegion region;
  region.fd_ = std::make_shared<UniqueFd>(memfd_create(label.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!region.fd_->valid()) return ErrnoError("cannot make shared memory");
  if (ftruncate(region.fd(), static_cast<off_t>(bytes)) != 0)
    return ErrnoError("cannot make room in shared memory");
  if (fcntl(region.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return ErrnoError("cannot fix the size of shared memory");
  void* start = nullptr;
  if (bytes != 0) {
    start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, region.fd(), 0);
    if (start == MAP_FAILED) return ErrnoError("cannot map shared memory");
  }
  region.mapping_ = std::make_shared<Mapping>(start, bytes);
  region.bytes_ = {static_cast<std::byte*>(start), bytes};
  return region;
}

}  // namespace hone

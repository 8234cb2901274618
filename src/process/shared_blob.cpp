#include "process/shared_blob.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr double kSealSeconds = 2;

}  // namespace

struct SharedBlob::Mapping {
  Mapping(void* start, size_t size) : start(start), size(size) {}
  Mapping(const Mapping&) = delete;
  ~Mapping() {
    if (size != 0) munmap(start, size);
  }
  void* start;
  size_t size;
};

Result<SharedBlob> SharedBlob::Create(const std::string& label) {
  SharedBlob blob;
  blob.fd_ = std::make_shared<UniqueFd>(memfd_create(label.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!blob.fd_->valid()) return ErrnoError("cannot make shared memory");
  return blob;
}

Result<SharedBlob> SharedBlob::Of(const std::string& label, std::span<const std::byte> bytes) {
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, Create(label));
  while (!bytes.empty()) {
    const ssize_t put = write(blob.fd(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ErrnoError("cannot fill shared memory");
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  HONE_RETURN_IF_ERROR(blob.Seal());
  return blob;
}

Status SharedBlob::Seal(size_t max_bytes) {
  if (mapping_) return Ok();
  // The kernel refuses to seal while a page is in use: by a worker's mapping, or briefly by the kernel's own
  // page migration.
  const Deadline deadline = Deadline::After(kSealSeconds);
  while (fcntl(fd_->get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    if (errno != EBUSY || deadline.passed())
      return ErrnoError("a worker still holds the shared memory it wrote");
    usleep(2000);
  }
  struct stat info {};
  if (fstat(fd_->get(), &info) != 0) return ErrnoError("cannot read shared memory");
  const size_t size = static_cast<size_t>(info.st_size);
  if (size > max_bytes)
    return Error{ErrorKind::kInvalid, fmt::format("{} of shared memory where at most {} were expected",
                                                  HumanBytes(static_cast<double>(size)),
                                                  HumanBytes(static_cast<double>(max_bytes)))};
  void* start = nullptr;
  if (size != 0) {
    start = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_->get(), 0);
    if (start == MAP_FAILED) return ErrnoError("cannot map shared memory");
  }
  mapping_ = std::make_shared<Mapping>(start, size);
  return Ok();
}

std::span<const std::byte> SharedBlob::bytes() const {
  if (!mapping_ || mapping_->size == 0) return {};
  return {static_cast<const std::byte*>(mapping_->start), mapping_->size};
}

}  // namespace hone

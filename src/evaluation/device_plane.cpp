#include "evaluation/device_plane.h"

#include <fmt/format.h>

namespace hone {

Result<std::unique_ptr<DevicePlane>> DevicePlane::Open(int ordinal, const Driver* driver) {
  if (driver == nullptr) {
    HONE_ASSIGN_OR_RETURN(driver, LoadDriver());
  }
  std::unique_ptr<DevicePlane> plane(new DevicePlane());
  HONE_ASSIGN_OR_RETURN(plane->context_, DeviceContext::Open(*driver, ordinal));
  HONE_ASSIGN_OR_RETURN(plane->kernels_, DeviceKernels::Load(plane->context_));
  return plane;
}

Result<DeviceBuffer> DevicePlane::Allocate(size_t bytes, bool shareable) {
  return DeviceBuffer::Allocate(context_, bytes, shareable);
}

Status DevicePlane::Fill(DeviceSpan span, unsigned char byte) {
  const Driver& driver = context_->driver();
  const DeviceContext::Scope scope(*context_);
  HONE_RETURN_IF_ERROR(scope.status());
  // Setting words is faster than setting bytes.
  const size_t words = span.address % 4 == 0 ? span.bytes / 4 : 0;
  if (words > 0)
    HONE_RETURN_IF_ERROR(
        driver.Check(driver.MemsetD32(span.address, byte * 0x01010101U, words), "fill device memory"));
  if (span.bytes > 4 * words)
    HONE_RETURN_IF_ERROR(driver.Check(driver.MemsetD8(span.address + 4 * words, byte, span.bytes - 4 * words),
                                      "fill device memory"));
  return driver.Check(driver.CtxSynchronize(), "fill device memory");
}

Status DevicePlane::Copy(DeviceSpan to, DeviceSpan from) {
  if (to.bytes != from.bytes)
    return Error{ErrorKind::kInternal, fmt::format("{} bytes do not fit {}", from.bytes, to.bytes)};
  if (to.bytes == 0) return Ok();
  const Driver& driver = context_->driver();
  const DeviceContext::Scope scope(*context_);
  HONE_RETURN_IF_ERROR(scope.status());
  HONE_RETURN_IF_ERROR(
      driver.Check(driver.MemcpyDtoD(to.address, from.address, to.bytes), "copy on the device"));
  return driver.Check(driver.CtxSynchronize(), "copy on the device");
}

Status DevicePlane::Upload(DeviceSpan to, std::span<const std::byte> from) {
  if (to.bytes != from.size())
    return Error{ErrorKind::kInternal, fmt::format("{} bytes do not fit {}", from.size(), to.bytes)};
  if (from.empty()) return Ok();
  const Driver& driver = context_->driver();
  const DeviceContext::Scope scope(*context_);
  HONE_RETURN_IF_ERROR(scope.status());
  HONE_RETURN_IF_ERROR(
      driver.Check(driver.MemcpyHtoD(to.address, from.data(), from.size()), "copy to the device"));
  return driver.Check(driver.CtxSynchronize(), "copy to the device");
}

Status DevicePlane::Download(std::span<std::byte> to, DeviceSpan from) {
  if (to.size() != from.bytes)
    return Error{ErrorKind::kInternal, fmt::format("{} bytes do not fit {}", from.bytes, to.size())};
  if (to.empty()) return Ok();
  const Driver& driver = context_->driver();
  const DeviceContext::Scope scope(*context_);
  HONE_RETURN_IF_ERROR(scope.status());
  return driver.Check(driver.MemcpyDtoH(to.data(), from.address, to.size()), "copy from the device");
}

Result<Distance> DevicePlane::Compare(Dtype dtype, DeviceSpan got, Dtype truth_dtype, DeviceSpan truth,
                                      const TruthScales* scales) {
  const std::scoped_lock alone(mutex_);
  HONE_ASSIGN_OR_RETURN(const ComparedSums sums,
                        kernels_->Compare(dtype, got, truth_dtype, truth, {scales, -1, 0}));
  return DistanceOf(dtype, sums);
}

}  // namespace hone

#include "evaluation/device_memory.h"

#include <fmt/format.h>

#include "base/text.h"

namespace hone {

namespace {

cuda::AllocationProperties PropertiesFor(cuda::Device device, bool shareable) {
  cuda::AllocationProperties properties = {};
  properties.type = cuda::kAllocationPinned;
  properties.requested_handle_types = shareable ? cuda::kHandlePosixDescriptor : 0;
  properties.location = {cuda::kLocationDevice, device};
  return properties;
}

Status RequireAttribute(const Driver& driver, cuda::Device device, int attribute, const std::string& name,
                        const char* what) {
  int value = 0;
  HONE_RETURN_IF_ERROR(
      driver.Check(driver.DeviceGetAttribute(&value, attribute, device), "read what the GPU can do"));
  if (value != 0) return Ok();
  return Error{ErrorKind::kUnavailable, fmt::format("{} has no {} with this driver", name, what)};
}

}  // namespace

Result<std::shared_ptr<DeviceContext>> DeviceContext::Open(const Driver& driver, int ordinal) {
  HONE_RETURN_IF_ERROR(driver.Check(driver.Init(0), "start the CUDA driver"));
  int count = 0;
  HONE_RETURN_IF_ERROR(driver.Check(driver.DeviceGetCount(&count), "count GPUs"));
  if (ordinal < 0 || ordinal >= count)
    return Error{ErrorKind::kUnavailable,
                 count == 0 ? "the CUDA driver sees no GPU"
                            : fmt::format("there is no GPU {}: the CUDA driver sees {}", ordinal, count)};
  std::shared_ptr<DeviceContext> made(new DeviceContext(driver));
  HONE_RETURN_IF_ERROR(
      driver.Check(driver.DeviceGet(&made->device_, ordinal), fmt::format("open GPU {}", ordinal)));
  char name[256] = "";
  HONE_RETURN_IF_ERROR(
      driver.Check(driver.DeviceGetName(name, sizeof name, made->device_), "read the GPU's name"));
  made->name_ = name;
  HONE_RETURN_IF_ERROR(RequireAttribute(driver, made->device_, cuda::kAttributeVirtualMemory, made->name_,
                                        "virtual memory management"));
  HONE_RETURN_IF_ERROR(RequireAttribute(driver, made->device_, cuda::kAttributePosixDescriptor, made->name_,
                                        "memory that can be shared by descriptor"));
  // Sets the flags first. They also apply to an existing context.
  HONE_RETURN_IF_ERROR(driver.Check(driver.PrimaryCtxSetFlags(made->device_, cuda::kSchedBlockingSync),
                                    "choose how the GPU's context waits"));
  cuda::Context context = nullptr;
  HONE_RETURN_IF_ERROR(driver.Check(driver.PrimaryCtxRetain(&context, made->device_), "make a GPU context"));
  made->context_ = context;
  const cuda::AllocationProperties properties = PropertiesFor(made->device_, true);
  HONE_RETURN_IF_ERROR(driver.Check(
      driver.MemGetAllocationGranularity(&made->granularity_, &properties, cuda::kGranularityMinimum),
      "read the granularity of GPU memory"));
  if (made->granularity_ == 0) return Error{ErrorKind::kInvalid, "the CUDA driver names no granularity"};
  return made;
}

DeviceContext::~DeviceContext() {
  if (context_ != nullptr) driver_.PrimaryCtxRelease(device_);
}

DeviceContext::Scope::Scope(const DeviceContext& context)
    : driver_(context.driver_),
      status_(driver_.Check(driver_.CtxPushCurrent(context.context_), "use the GPU context")) {}

DeviceContext::Scope::~Scope() {
  cuda::Context popped = nullptr;
  if (status_.ok()) driver_.CtxPopCurrent(&popped);
}

Result<DeviceBuffer> DeviceBuffer::Allocate(std::shared_ptr<DeviceContext> context, size_t bytes,
                                            bool shareable) {
  const Driver& driver = context->driver();
  const size_t granularity = context->granularity();
  if (bytes > SIZE_MAX - granularity)
    return Error{ErrorKind::kInvalid, "too many bytes for one GPU allocation"};
  const size_t mapped = std::max<size_t>(1, (bytes + granularity - 1) / granularity) * granularity;
  const std::string what =
      fmt::format("allocate {} of memory on {}", HumanBytes(static_cast<double>(mapped)), context->name());
  const DeviceContext::Scope scope(*context);
  HONE_RETURN_IF_ERROR(scope.status());
  // Failed steps are undone explicitly, so that a DeviceBuffer is either complete or empty.
  cuda::Allocation allocation = 0;
  const cuda::AllocationProperties properties = PropertiesFor(context->device(), shareable);
  HONE_RETURN_IF_ERROR(driver.Check(driver.MemCreate(&allocation, mapped, &properties, 0), what));
  cuda::Address address = 0;
  cuda::Status status = driver.MemAddressReserve(&address, mapped, 0, 0, 0);
  if (status == 0) {
    status = driver.MemMap(address, mapped, 0, allocation, 0);
    if (status == 0) {
      const cuda::AccessDescription access = {{cuda::kLocationDevice, context->device()},
                                              cuda::kAccessReadWrite};
      status = driver.MemSetAccess(address, mapped, &access, 1);
      if (status != 0) driver.MemUnmap(address, mapped);
    }
    if (status != 0) driver.MemAddressFree(address, mapped);
  }
  if (status != 0) {
    driver.MemRelease(allocation);
    return driver.Check(status, what).error();
  }
  DeviceBuffer buffer;
  buffer.context_ = std::move(context);
  buffer.allocation_ = allocation;
  buffer.address_ = address;
  buffer.bytes_ = bytes;
  buffer.mapped_ = mapped;
  buffer.shareable_ = shareable;
  return buffer;
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept {
  *this = std::move(other);
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(allocation_, other.allocation_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(shareable_, other.shareable_);
  return *this;
}

Result<UniqueFd> DeviceBuffer::Export() const {
  if (!shareable_) return Error{ErrorKind::kInternal, "this GPU memory was not made to be shared"};
  const Driver& driver = context_->driver();
  const DeviceContext::Scope scope(*context_);
  HONE_RETURN_IF_ERROR(scope.status());
  int descriptor = -1;
  HONE_RETURN_IF_ERROR(driver.Check(
      driver.MemExportToShareableHandle(&descriptor, allocation_, cuda::kHandlePosixDescriptor, 0),
      "make a descriptor of GPU memory"));
  return UniqueFd(descriptor);
}

void DeviceBuffer::Free() {
  if (address_ == 0) return;
  const Driver& driver = context_->driver();
  {
    const DeviceContext::Scope scope(*context_);
    // A failure here cannot be handled. The rest is freed when the process ends.
    driver.MemUnmap(address_, mapped_);
    driver.MemAddressFree(address_, mapped_);
    driver.MemRelease(allocation_);
  }
  address_ = 0;
  allocation_ = 0;
  bytes_ = mapped_ = 0;
  shareable_ = false;
  context_.reset();
}

Result<MemoryInfo> QueryMemory(const DeviceContext& context) {
  const DeviceContext::Scope scope(context);
  HONE_RETURN_IF_ERROR(scope.status());
  MemoryInfo info;
  HONE_RETURN_IF_ERROR(context.driver().Check(
      context.driver().MemGetInfo(&info.free_bytes, &info.total_bytes), "read how much GPU memory is free"));
  return info;
}

}  // namespace hone

// Device memory that the parent owns. Allocations use the driver's virtual memory interface: physical memory
// (which can be exported as a descriptor), an address range, a mapping and access rights.
//
// A descriptor allows its holder to read and write the whole allocation: access rights belong to a mapping,
// and every process makes its own. Two parties that must not see each other's values therefore never get
// descriptors of the same allocation. Physical memory returns to the device when the parent has freed it and
// every process that imported it has released it or ended.
#pragma once

#include <memory>

#include "base/unique_fd.h"
#include "evaluation/driver.h"

namespace hone {

// The primary context of one device. It waits by blocking synchronisation instead of spinning. Every buffer
// in it keeps it alive.
class DeviceContext {
 public:
  // Returns kUnavailable with a reason if there is no device or it cannot share memory. The driver must
  // outlive the context. Ordinals count visible devices: the driver honours CUDA_VISIBLE_DEVICES.
  static Result<std::shared_ptr<DeviceContext>> Open(const Driver& driver, int ordinal);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;

  const Driver& driver() const { return driver_; }
  cuda::Device device() const { return device_; }
  const std::string& name() const { return name_; }
  size_t granularity() const { return granularity_; }

  // Makes the context current in this thread within a scope.
  class Scope {
   public:
    explicit Scope(const DeviceContext& context);
    ~Scope();
    Scope(const Scope&) = delete;
    const Status& status() const { return status_; }

   private:
    const Driver& driver_;
    Status status_;
  };

 private:
  explicit DeviceContext(const Driver& driver) : driver_(driver) {}
  const Driver& driver_;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
  std::string name_;
  size_t granularity_ = 0;
};

// A range of device memory, without ownership.
struct DeviceSpan {
  cuda::Address address = 0;
  size_t bytes = 0;

  DeviceSpan Part(size_t offset, size_t count) const { return {address + offset, count}; }
};

struct MemoryInfo {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
};

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  // Contents are undefined. The size is rounded up to the device's granularity (2 MiB on current GPUs).
  static Result<DeviceBuffer> Allocate(std::shared_ptr<DeviceContext> context, size_t bytes, bool shareable);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer() { Free(); }

  // The requested bytes. The mapping has mapped_bytes().
  DeviceSpan span() const { return {address_, bytes_}; }
  size_t bytes() const { return bytes_; }
  size_t mapped_bytes() const { return mapped_; }
  bool shareable() const { return shareable_; }
  // Returns a descriptor of the whole allocation for another process. It stays valid if the buffer is freed.
  Result<UniqueFd> Export() const;
  void Free();

 private:
  std::shared_ptr<DeviceContext> context_;
  cuda::Allocation allocation_ = 0;
  cuda::Address address_ = 0;  // 0: not mapped
  size_t bytes_ = 0;
  size_t mapped_ = 0;
  bool shareable_ = false;
};

Result<MemoryInfo> QueryMemory(const DeviceContext& context);

}  // namespace hone

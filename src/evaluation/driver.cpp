#include "evaluation/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace hone {

namespace {

// Fills one entry of the table. Names are the library's, including a version suffix where it has one.
template <class F>
bool Find(void* library, const char* name, F** function, std::string* missing) {
  *function = reinterpret_cast<F*>(dlsym(library, name));
  if (*function == nullptr && missing->empty()) *missing = name;
  return *function != nullptr;
}

Result<const Driver*> Open() {
  // Never closed, because the driver starts its own threads and exit handlers.
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Error{ErrorKind::kUnavailable, "no CUDA driver here: libcuda.so.1 cannot be opened"};
  static Driver driver;
  std::string missing;
  Find(library, "cuInit", &driver.Init, &missing);
  Find(library, "cuDriverGetVersion", &driver.DriverGetVersion, &missing);
  Find(library, "cuGetErrorName", &driver.GetErrorName, &missing);
  Find(library, "cuGetErrorString", &driver.GetErrorString, &missing);
  Find(library, "cuDeviceGetCount", &driver.DeviceGetCount, &missing);
  Find(library, "cuDeviceGet", &driver.DeviceGet, &missing);
  Find(library, "cuDeviceGetName", &driver.DeviceGetName, &missing);
  Find(library, "cuDeviceGetUuid_v2", &driver.DeviceGetUuid, &missing);
  Find(library, "cuDeviceGetAttribute", &driver.DeviceGetAttribute, &missing);
  Find(library, "cuDevicePrimaryCtxSetFlags_v2", &driver.PrimaryCtxSetFlags, &missing);
  Find(library, "cuDevicePrimaryCtxRetain", &driver.PrimaryCtxRetain, &missing);
  Find(library, "cuDevicePrimaryCtxRelease_v2", &driver.PrimaryCtxRelease, &missing);
  Find(library, "cuCtxPushCurrent_v2", &driver.CtxPushCurrent, &missing);
  Find(library, "cuCtxPopCurrent_v2", &driver.CtxPopCurrent, &missing);
  Find(library, "cuCtxSynchronize", &driver.CtxSynchronize, &missing);
  Find(library, "cuMemGetInfo_v2", &driver.MemGetInfo, &missing);
  Find(library, "cuMemGetAllocationGranularity", &driver.MemGetAllocationGranularity, &missing);
  Find(library, "cuMemCreate", &driver.MemCreate, &missing);
  Find(library, "cuMemRelease", &driver.MemRelease, &missing);
  Find(library, "cuMemExportToShareableHandle", &driver.MemExportToShareableHandle, &missing);
  Find(library, "cuMemAddressReserve", &driver.MemAddressReserve, &missing);
  Find(library, "cuMemAddressFree", &driver.MemAddressFree, &missing);
  Find(library, "cuMemMap", &driver.MemMap, &missing);
  Find(library, "cuMemUnmap", &driver.MemUnmap, &missing);
  Find(library, "cuMemSetAccess", &driver.MemSetAccess, &missing);
  Find(library, "cuMemsetD8_v2", &driver.MemsetD8, &missing);
  Find(library, "cuMemsetD32_v2", &driver.MemsetD32, &missing);
  Find(library, "cuMemcpyHtoD_v2", &driver.MemcpyHtoD, &missing);
  Find(library, "cuMemcpyDtoH_v2", &driver.MemcpyDtoH, &missing);
  Find(library, "cuMemcpyDtoD_v2", &driver.MemcpyDtoD, &missing);
  Find(library, "cuModuleLoadData", &driver.ModuleLoadData, &missing);
  Find(library, "cuModuleUnload", &driver.ModuleUnload, &missing);
  Find(library, "cuModuleGetFunction", &driver.ModuleGetFunction, &missing);
  Find(library, "cuLaunchKernel", &driver.LaunchKernel, &missing);
  if (!missing.empty())
    return Error{
        ErrorKind::kUnavailable,
        fmt::format("the CUDA driver here is too old to share device memory: it has no {}", missing)};
  return &driver;
}

}  // namespace

Status Driver::Check(cuda::Status status, const std::string& doing) const {
  if (status == 0) return Ok();
  const char* name = nullptr;
  const char* text = nullptr;
  if (GetErrorName == nullptr || GetErrorName(status, &name) != 0 || name == nullptr) name = "unknown error";
  if (GetErrorString == nullptr || GetErrorString(status, &text) != 0 || text == nullptr) text = "CUDA error";
  return Error{
      status == cuda::kOutOfMemory || status == cuda::kNoDevice ? ErrorKind::kUnavailable : ErrorKind::kIo,
      fmt::format("cannot {}: {} ({} {})", doing, text, name, status)};
}

Result<const Driver*> LoadDriver() {
  static const Result<const Driver*> loaded = Open();
  return loaded;
}

}  // namespace hone

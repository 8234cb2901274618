#include "evaluation/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

#if __has_include(<cuda.h>)
#include <cuda.h>
#define HONE_HAS_CUDA_H 1
#endif

#include "evaluation/device_fixture.h"

namespace hone {
namespace {

using testing::HasSubstr;

#ifdef HONE_HAS_CUDA_H
// Compares the types as the compiler sees them; enumerations are ints in Hone's declarations.
static_assert(sizeof(cuda::AllocationProperties) == sizeof(CUmemAllocationProp));
static_assert(offsetof(cuda::AllocationProperties, requested_handle_types) ==
              offsetof(CUmemAllocationProp, requestedHandleTypes));
static_assert(offsetof(cuda::AllocationProperties, location) == offsetof(CUmemAllocationProp, location));
static_assert(offsetof(cuda::AllocationProperties, flags) == offsetof(CUmemAllocationProp, allocFlags));
static_assert(sizeof(cuda::Uuid) == sizeof(CUuuid));
static_assert(sizeof(cuda::AccessDescription) == sizeof(CUmemAccessDesc));
static_assert(offsetof(cuda::AccessDescription, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(std::is_same_v<cuda::Address, CUdeviceptr>);
static_assert(std::is_same_v<cuda::Allocation, CUmemGenericAllocationHandle>);
static_assert(std::is_same_v<cuda::Device, CUdevice>);
static_assert(cuda::kAllocationPinned == CU_MEM_ALLOCATION_TYPE_PINNED);
static_assert(cuda::kLocationDevice == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(cuda::kHandlePosixDescriptor == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
static_assert(cuda::kAccessReadWrite == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(cuda::kGranularityMinimum == CU_MEM_ALLOC_GRANULARITY_MINIMUM);
static_assert(cuda::kSchedBlockingSync == CU_CTX_SCHED_BLOCKING_SYNC);
static_assert(cuda::kAttributeMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(cuda::kAttributeMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(cuda::kAttributeVirtualMemory == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
static_assert(cuda::kAttributePosixDescriptor ==
              CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
static_assert(cuda::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(cuda::kNoDevice == CUDA_ERROR_NO_DEVICE);

// Both functions must have the same number of parameters, each with the same size.
template <class... A>
constexpr bool SameParameters(cuda::Status (*)(A...), CUresult (*)(A...)) {
  return true;
}
template <class... A, class... B>
constexpr bool SameParameters(cuda::Status (*)(A...), CUresult (*)(B...)) {
  if constexpr (sizeof...(A) != sizeof...(B))
    return false;
  else
    return ((sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>)&&...);
}
#define HONE_SAME(ours, theirs) \
  static_assert(                \
      SameParameters(static_cast<decltype(Driver::ours)>(nullptr), static_cast<decltype(&theirs)>(nullptr)))
HONE_SAME(Init, cuInit);
HONE_SAME(DriverGetVersion, cuDriverGetVersion);
HONE_SAME(GetErrorName, cuGetErrorName);
HONE_SAME(GetErrorString, cuGetErrorString);
HONE_SAME(DeviceGetCount, cuDeviceGetCount);
HONE_SAME(DeviceGet, cuDeviceGet);
HONE_SAME(DeviceGetName, cuDeviceGetName);
HONE_SAME(DeviceGetUuid, cuDeviceGetUuid);
HONE_SAME(DeviceGetAttribute, cuDeviceGetAttribute);
HONE_SAME(PrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags);
HONE_SAME(PrimaryCtxRetain, cuDevicePrimaryCtxRetain);
HONE_SAME(PrimaryCtxRelease, cuDevicePrimaryCtxRelease);
HONE_SAME(CtxPushCurrent, cuCtxPushCurrent);
HONE_SAME(CtxPopCurrent, cuCtxPopCurrent);
HONE_SAME(CtxSynchronize, cuCtxSynchronize);
HONE_SAME(MemGetInfo, cuMemGetInfo);
HONE_SAME(MemGetAllocationGranularity, cuMemGetAllocationGranularity);
HONE_SAME(MemCreate, cuMemCreate);
HONE_SAME(MemRelease, cuMemRelease);
HONE_SAME(MemExportToShareableHandle, cuMemExportToShareableHandle);
HONE_SAME(MemAddressReserve, cuMemAddressReserve);
HONE_SAME(MemAddressFree, cuMemAddressFree);
HONE_SAME(MemMap, cuMemMap);
HONE_SAME(MemUnmap, cuMemUnmap);
HONE_SAME(MemSetAccess, cuMemSetAccess);
HONE_SAME(MemsetD8, cuMemsetD8);
HONE_SAME(MemsetD32, cuMemsetD32);
HONE_SAME(MemcpyHtoD, cuMemcpyHtoD);
HONE_SAME(MemcpyDtoH, cuMemcpyDtoH);
HONE_SAME(MemcpyDtoD, cuMemcpyDtoD);
HONE_SAME(ModuleLoadData, cuModuleLoadData);
HONE_SAME(ModuleUnload, cuModuleUnload);
HONE_SAME(ModuleGetFunction, cuModuleGetFunction);
HONE_SAME(LaunchKernel, cuLaunchKernel);
#endif

TEST(Driver, SaysWhatFailedAndWhy) {
  FakeDevice device;
  const Driver driver = FakeDriver(&device);
  EXPECT_TRUE(driver.Check(0, "count GPUs").ok());
  const Status failed = driver.Check(999, "count GPUs");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "cannot count GPUs: told to (CUDA_FAKE 999)");
  EXPECT_EQ(failed.error().kind, ErrorKind::kIo);
  EXPECT_EQ(driver.Check(cuda::kOutOfMemory, "allocate").error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(Driver().Check(1, "start").error().message, HasSubstr("cannot start"));
}

TEST(Driver, IsWholeOrUnavailable) {
  const Result<const Driver*> driver = LoadDriver();
  if (driver.ok()) {
    EXPECT_NE((*driver)->LaunchKernel, nullptr);
    EXPECT_EQ(*LoadDriver(), *driver);
  } else {
    EXPECT_EQ(driver.error().kind, ErrorKind::kUnavailable);
    EXPECT_THAT(driver.error().message, HasSubstr("CUDA driver"));
  }
}

}  // namespace
}  // namespace hone

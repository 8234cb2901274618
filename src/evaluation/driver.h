// The CUDA driver, libcuda, loaded at run time. Hone builds without CUDA and runs on machines without a GPU,
// so the few types and functions it needs are declared here and looked up on first use. driver_test.cpp
// checks the declarations against cuda.h if it is installed.
//
// A Driver is a plain table of function pointers, which tests fill with their own functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace hone {

// Names and layouts as in cuda.h, without its prefix CU.
namespace cuda {

using Status = int;  // CUresult; 0 is success
using Device = int;
using Context = struct CUctx_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using Stream = struct CUstream_st*;
using Address = unsigned long long;     // CUdeviceptr
using Allocation = unsigned long long;  // CUmemGenericAllocationHandle

struct Location {
  int type;
  int id;
};
struct AllocationProperties {
  int type;
  int requested_handle_types;
  Location location;
  void* win32_meta_data;
  struct {
    unsigned char compression_type;
    unsigned char gpu_direct_rdma_capable;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};
struct AccessDescription {
  Location location;
  int flags;
};
struct Uuid {
  unsigned char bytes[16];
};

inline constexpr int kAllocationPinned = 1;
inline constexpr int kLocationDevice = 1;
inline constexpr int kHandlePosixDescriptor = 1;
inline constexpr int kAccessReadWrite = 3;
inline constexpr int kGranularityMinimum = 0;
inline constexpr unsigned kSchedBlockingSync = 4;
inline constexpr int kAttributeMajor = 75;
inline constexpr int kAttributeMinor = 76;
inline constexpr int kAttributeVirtualMemory = 102;
inline constexpr int kAttributePosixDescriptor = 103;
inline constexpr Status kOutOfMemory = 2;
inline constexpr Status kNoDevice = 100;

}  // namespace cuda

struct Driver {
  cuda::Status (*Init)(unsigned flags) = nullptr;
  cuda::Status (*DriverGetVersion)(int* version) = nullptr;
  cuda::Status (*GetErrorName)(cuda::Status status, const char** name) = nullptr;
  cuda::Status (*GetErrorString)(cuda::Status status, const char** text) = nullptr;
  cuda::Status (*DeviceGetCount)(int* count) = nullptr;
  cuda::Status (*DeviceGet)(cuda::Device* device, int ordinal) = nullptr;
  cuda::Status (*DeviceGetName)(char* name, int size, cuda::Device device) = nullptr;
  cuda::Status (*DeviceGetUuid)(cuda::Uuid* uuid, cuda::Device device) = nullptr;
  cuda::Status (*DeviceGetAttribute)(int* value, int attribute, cuda::Device device) = nullptr;
  cuda::Status (*PrimaryCtxSetFlags)(cuda::Device device, unsigned flags) = nullptr;
  cuda::Status (*PrimaryCtxRetain)(cuda::Context* context, cuda::Device device) = nullptr;
  cuda::Status (*PrimaryCtxRelease)(cuda::Device device) = nullptr;
  cuda::Status (*CtxPushCurrent)(cuda::Context context) = nullptr;
  cuda::Status (*CtxPopCurrent)(cuda::Context* context) = nullptr;
  cuda::Status (*CtxSynchronize)() = nullptr;
  cuda::Status (*MemGetInfo)(size_t* free, size_t* total) = nullptr;
  cuda::Status (*MemGetAllocationGranularity)(size_t* bytes, const cuda::AllocationProperties* properties,
                                              int option) = nullptr;
  cuda::Status (*MemCreate)(cuda::Allocation* allocation, size_t bytes,
                            const cuda::AllocationProperties* properties, unsigned long long flags) = nullptr;
  cuda::Status (*MemRelease)(cuda::Allocation allocation) = nullptr;
  cuda::Status (*MemExportToShareableHandle)(void* handle, cuda::Allocation allocation, int type,
                                             unsigned long long flags) = nullptr;
  cuda::Status (*MemAddressReserve)(cuda::Address* address, size_t bytes, size_t alignment,
                                    cuda::Address hint, unsigned long long flags) = nullptr;
  cuda::Status (*MemAddressFree)(cuda::Address address, size_t bytes) = nullptr;
  cuda::Status (*MemMap)(cuda::Address address, size_t bytes, size_t offset, cuda::Allocation allocation,
                         unsigned long long flags) = nullptr;
  cuda::Status (*MemUnmap)(cuda::Address address, size_t bytes) = nullptr;
  cuda::Status (*MemSetAccess)(cuda::Address address, size_t bytes,
                               const cuda::AccessDescription* description, size_t count) = nullptr;
  cuda::Status (*MemsetD8)(cuda::Address address, unsigned char value, size_t count) = nullptr;
  cuda::Status (*MemsetD32)(cuda::Address address, unsigned value, size_t count) = nullptr;
  cuda::Status (*MemcpyHtoD)(cuda::Address to, const void* from, size_t bytes) = nullptr;
  cuda::Status (*MemcpyDtoH)(void* to, cuda::Address from, size_t bytes) = nullptr;
  cuda::Status (*MemcpyDtoD)(cuda::Address to, cuda::Address from, size_t bytes) = nullptr;
  cuda::Status (*ModuleLoadData)(cuda::Module* module, const void* image) = nullptr;
  cuda::Status (*ModuleUnload)(cuda::Module module) = nullptr;
  cuda::Status (*ModuleGetFunction)(cuda::Function* function, cuda::Module module,
                                    const char* name) = nullptr;
  cuda::Status (*LaunchKernel)(cuda::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                               cuda::Stream stream, void** arguments, void** extra) = nullptr;

  // Returns Ok for success, else "cannot <doing>: out of memory (CUDA_ERROR_OUT_OF_MEMORY)" and the like.
  hone::Status Check(cuda::Status status, const std::string& doing) const;
};

// Opens libcuda.so.1 and looks up every function, once per process. Returns kUnavailable with a reason if
// there is no driver or it lacks a function.
Result<const Driver*> LoadDriver();

}  // namespace hone

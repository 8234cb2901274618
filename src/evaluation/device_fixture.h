// A fake driver for tests without a GPU: device memory is a memory file, and kernels run as their host
// versions with the launched grid. It counts live objects, and a test can make any one function fail.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "evaluation/driver.h"
#include "evaluation/kernels/compare_core.h"
#include "evaluation/kernels/digest_core.h"
#include "evaluation/kernels/scales_core.h"

namespace hone {

struct FakeDevice {
  static constexpr size_t kGranularity = 1 << 21;
  int devices = 1;
  bool can_share = true;
  size_t total_bytes = 1ULL << 30;
  std::string failing;  // name of the function that fails, as in the table
  // Live objects.
  std::map<cuda::Allocation, size_t> allocations;
  std::map<cuda::Address, size_t> reserved;
  std::set<cuda::Address> mapped;
  int contexts = 0;
  int pushed = 0;
  int modules = 0;
  unsigned flags = 0;
  std::vector<std::string> launched;
  std::string image;

  bool IsClean() const {
    return allocations.empty() && reserved.empty() && mapped.empty() && contexts == 0 && pushed == 0 &&
           modules == 0;
  }
};

// The table holds plain function pointers, so the device they act on is global.
inline FakeDevice* fake_device = nullptr;

namespace fake {

inline cuda::Status Failing(const char* name) {
  return fake_device->failing == name ? 999 : 0;
}

#define HONE_FAKE_FAILS(name) \
  if (const cuda::Status failed = Failing(name); failed != 0) return failed

template <class T>
T* At(cuda::Address address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

inline const char* const kKernels[] = {
    "hone_largest",     "hone_merge_largest", "hone_compare",    "hone_merge_compare", "hone_digest_f16",
    "hone_digest_bf16", "hone_digest_f32",    "hone_digest_f64", "hone_digest_bytes",  "hone_merge_digest",
    "hone_differs",     "hone_exponents",     "hone_group_sums", "hone_group_scales"};

template <class Value, class Join>
Value Reduce(std::vector<Value> values, Join join) {
  for (unsigned stride = kernels::kThreads / 2; stride > 0; stride /= 2)
    for (unsigned thread = 0; thread < stride; ++thread)
      values[thread] = join(values[thread], values[thread + stride]);
  return values[0];
}

template <class Value, class Add, class Join>
void RunGrid(unsigned blocks, uint64_t tiles, void* partials, Add add, Join join) {
  for (unsigned block = 0; block < blocks; ++block) {
    std::vector<Value> values(kernels::kThreads);
    for (uint64_t tile = block; tile < tiles; tile += blocks)
      for (unsigned thread = 0; thread < kernels::kThreads; ++thread) add(tile, thread, &values[thread]);
    static_cast<Value*>(partials)[block] = Reduce(values, join);
  }
}

template <class Value, class Join>
void RunMerge(void** arguments, Join join) {
  const Value* const partials = At<Value>(*static_cast<cuda::Address*>(arguments[0]));
  std::vector<Value> values(kernels::kThreads);
  for (unsigned i = 0; i < *static_cast<unsigned*>(arguments[1]); ++i)
    values[i % kernels::kThreads] = join(values[i % kernels::kThreads], partials[i]);
  *At<Value>(*static_cast<cuda::Address*>(arguments[2])) = Reduce(values, join);
}

template <class Read>
void RunDigest(unsigned blocks, void** arguments) {
  const auto& args = *static_cast<kernels::DigestArgs*>(arguments[0]);
  RunGrid<kernels::DigestPartial>(
      blocks, kernels::DigestTiles(args.bytes), At<void>(*static_cast<cuda::Address*>(arguments[1])),
      [&](uint64_t tile, unsigned thread, kernels::DigestPartial* sums) {
        kernels::AddDigest<Read>(args, tile, thread, sums);
      },
      [](const auto& a, const auto& b) { return kernels::Merge(a, b); });
}

inline kernels::GroupPartial ReduceLanes(std::vector<kernels::GroupPartial> sums) {
  for (size_t stride = sums.size() / 2; stride > 0; stride /= 2)
    for (size_t lane = 0; lane < stride; ++lane) sums[lane] = kernels::Merge(sums[lane], sums[lane + stride]);
  return sums[0];
}

inline void RunGroupSums(void** arguments) {
  const auto& args = *static_cast<kernels::GroupArgs*>(arguments[0]);
  auto* const items = At<kernels::GroupPartial>(*static_cast<cuda::Address*>(arguments[1]));
  const kernels::GroupPlan plan = kernels::PlanGroups(args);
  for (uint64_t item = 0; item < plan.chunks * args.groups; ++item) {
    std::vector<kernels::GroupPartial> lanes(plan.lanes);
    for (unsigned lane = 0; lane < plan.lanes; ++lane)
      lanes[lane] = kernels::SumGroup(args, plan, item, lane);
    items[item] = ReduceLanes(lanes);
  }
}

inline void RunGroupScales(void** arguments) {
  const auto* const items = At<kernels::GroupPartial>(*static_cast<cuda::Address*>(arguments[0]));
  const uint64_t groups = *static_cast<uint64_t*>(arguments[1]),
                 chunks = *static_cast<uint64_t*>(arguments[2]);
  const double* const typical = At<double>(*static_cast<cuda::Address*>(arguments[3]));
  double* const scales = At<double>(*static_cast<cuda::Address*>(arguments[4]));
  const unsigned lanes = chunks >= kernels::kLanes ? kernels::kLanes : 1;
  for (uint64_t group = 0; group < groups; ++group) {
    std::vector<kernels::GroupPartial> parts(lanes);
    for (unsigned lane = 0; lane < lanes; ++lane)
      parts[lane] = kernels::MergeItems(items, groups, chunks, group, lane, lanes);
    const kernels::GroupPartial sum = ReduceLanes(parts);
    scales[group] = typical != nullptr ? kernels::ScaleOfGroup(sum, *typical) : kernels::TypicalOf(sum);
  }
}

inline void RunExponents(void** arguments) {
  const auto& args = *static_cast<kernels::CompareArgs*>(arguments[0]);
  auto* const counts = At<uint64_t>(*static_cast<cuda::Address*>(arguments[1]));
  for (uint64_t i = 0; i < args.numbers; ++i) {
    const unsigned exponent = kernels::ExponentOf(kernels::ReadNumber(args.truth_number, args.truth, i));
    if (exponent < kernels::kExponents) ++counts[exponent];
  }
}

inline void RunKernel(const std::string& name, unsigned blocks, void** arguments) {
  const auto merge = [](const auto& a, const auto& b) { return kernels::Merge(a, b); };
  if (name == "hone_largest") {
    const auto& args = *static_cast<kernels::CompareArgs*>(arguments[0]);
    RunGrid<double>(
        blocks, kernels::CompareTiles(args.numbers), At<void>(*static_cast<cuda::Address*>(arguments[1])),
        [&](uint64_t tile, unsigned thread, double* largest) {
          kernels::AddLargest(args, tile, thread, largest);
        },
        kernels::MergeLargest);
  } else if (name == "hone_compare") {
    const auto& args = *static_cast<kernels::CompareArgs*>(arguments[0]);
    const double scale = kernels::ScaleFor(*At<double>(*static_cast<cuda::Address*>(arguments[1])));
    const double typical = args.typical != nullptr ? *args.typical : 0;
    RunGrid<kernels::ComparePartial>(
        blocks, kernels::CompareTiles(args.numbers), At<void>(*static_cast<cuda::Address*>(arguments[2])),
        [&](uint64_t tile, unsigned thread, kernels::ComparePartial* sums) {
          kernels::AddCompared(args, scale, typical, tile, thread, sums);
        },
        merge);
  } else if (name == "hone_exponents") {
    RunExponents(arguments);
  } else if (name == "hone_group_sums") {
    RunGroupSums(arguments);
  } else if (name == "hone_group_scales") {
    RunGroupScales(arguments);
  } else if (name == "hone_merge_largest") {
    RunMerge<double>(arguments, kernels::MergeLargest);
  } else if (name == "hone_merge_compare") {
    RunMerge<kernels::ComparePartial>(arguments, merge);
  } else if (name == "hone_merge_digest") {
    RunMerge<kernels::DigestPartial>(arguments, merge);
  } else if (name == "hone_digest_f16") {
    RunDigest<kernels::ReadF16>(blocks, arguments);
  } else if (name == "hone_digest_bf16") {
    RunDigest<kernels::ReadBf16>(blocks, arguments);
  } else if (name == "hone_digest_f32") {
    RunDigest<kernels::ReadAs<float>>(blocks, arguments);
  } else if (name == "hone_digest_f64") {
    RunDigest<kernels::ReadAs<double>>(blocks, arguments);
  } else if (name == "hone_digest_bytes") {
    RunDigest<kernels::HashOnly>(blocks, arguments);
  } else if (name == "hone_differs") {
    const void* const a = *static_cast<const void**>(arguments[0]);
    const void* const b = *static_cast<const void**>(arguments[1]);
    if (std::memcmp(a, b, *static_cast<uint64_t*>(arguments[2])) != 0)
      *At<unsigned>(*static_cast<cuda::Address*>(arguments[3])) = 1;
  }
}

}  // namespace fake

// Returns a table whose functions act on `device`, which must outlive it.
inline Driver FakeDriver(FakeDevice* device) {
  using namespace fake;  // keeps the table readable
  fake_device = device;
  Driver driver;
  driver.Init = [](unsigned) { return Failing("Init"); };
  driver.DriverGetVersion = [](int* version) -> cuda::Status { return *version = 13000, 0; };
  driver.GetErrorName = [](cuda::Status, const char** name) -> cuda::Status {
    return *name = "CUDA_FAKE", 0;
  };
  driver.GetErrorString = [](cuda::Status, const char** text) -> cuda::Status {
    return *text = "told to", 0;
  };
  driver.DeviceGetCount = [](int* count) { return *count = fake_device->devices, Failing("DeviceGetCount"); };
  driver.DeviceGet = [](cuda::Device* found, int ordinal) { return *found = ordinal, Failing("DeviceGet"); };
  driver.DeviceGetName = [](char* name, int size, cuda::Device) -> cuda::Status {
    return std::strncpy(name, "Fake GPU", static_cast<size_t>(size)), 0;
  };
  driver.DeviceGetUuid = [](cuda::Uuid* uuid, cuda::Device device) -> cuda::Status {
    for (unsigned char& byte : uuid->bytes) byte = static_cast<unsigned char>(0xa0 + device);
    return Failing("DeviceGetUuid");
  };
  driver.DeviceGetAttribute = [](int* value, int attribute, cuda::Device) -> cuda::Status {
    return *value = attribute != cuda::kAttributePosixDescriptor || fake_device->can_share, 0;
  };
  driver.PrimaryCtxSetFlags = [](cuda::Device, unsigned flags) -> cuda::Status {
    return fake_device->flags = flags, Failing("PrimaryCtxSetFlags");
  };
  driver.PrimaryCtxRetain = [](cuda::Context* context, cuda::Device) -> cuda::Status {
    HONE_FAKE_FAILS("PrimaryCtxRetain");
    *context = reinterpret_cast<cuda::Context>(fake_device);
    return ++fake_device->contexts, 0;
  };
  driver.PrimaryCtxRelease = [](cuda::Device) -> cuda::Status { return --fake_device->contexts, 0; };
  driver.CtxPushCurrent = [](cuda::Context) -> cuda::Status {
    HONE_FAKE_FAILS("CtxPushCurrent");
    return ++fake_device->pushed, 0;
  };
  driver.CtxPopCurrent = [](cuda::Context*) -> cuda::Status { return --fake_device->pushed, 0; };
  driver.CtxSynchronize = [] { return Failing("CtxSynchronize"); };
  driver.MemGetInfo = [](size_t* free, size_t* total) -> cuda::Status {
    *total = fake_device->total_bytes;
    *free = *total;
    for (const auto& [allocation, bytes] : fake_device->allocations) *free -= bytes;
    return Failing("MemGetInfo");
  };
  driver.MemGetAllocationGranularity = [](size_t* bytes, const cuda::AllocationProperties*, int) {
    return *bytes = FakeDevice::kGranularity, Failing("MemGetAllocationGranularity");
  };
  driver.MemCreate = [](cuda::Allocation* made, size_t bytes, const cuda::AllocationProperties* properties,
                        unsigned long long) -> cuda::Status {
    HONE_FAKE_FAILS("MemCreate");
    if (bytes > fake_device->total_bytes) return cuda::kOutOfMemory;
    // Duplicates the memory file's descriptor. Exportable allocations have odd handles.
    const int file = memfd_create("fake", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return cuda::kOutOfMemory;
    *made = 2 * static_cast<cuda::Allocation>(file) +
            (properties->requested_handle_types == cuda::kHandlePosixDescriptor ? 1 : 0);
    return fake_device->allocations[*made] = bytes, 0;
  };
  driver.MemRelease = [](cuda::Allocation allocation) -> cuda::Status {
    if (fake_device->allocations.erase(allocation) != 1) return 1;
    return close(static_cast<int>(allocation / 2));
  };
  driver.MemExportToShareableHandle = [](void* handle, cuda::Allocation allocation, int,
                                         unsigned long long) -> cuda::Status {
    HONE_FAKE_FAILS("MemExportToShareableHandle");
    if (allocation % 2 == 0) return 1;
    return *static_cast<int*>(handle) = fcntl(static_cast<int>(allocation / 2), F_DUPFD_CLOEXEC, 0), 0;
  };
  driver.MemAddressReserve = [](cuda::Address* address, size_t bytes, size_t, cuda::Address,
                                unsigned long long) -> cuda::Status {
    HONE_FAKE_FAILS("MemAddressReserve");
    void* const start = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return cuda::kOutOfMemory;
    *address = reinterpret_cast<uintptr_t>(start);
    return fake_device->reserved[*address] = bytes, 0;
  };
  driver.MemAddressFree = [](cuda::Address address, size_t bytes) -> cuda::Status {
    if (fake_device->reserved.erase(address) != 1 || fake_device->mapped.count(address) != 0) return 1;
    return munmap(At<void>(address), bytes);
  };
  driver.MemMap = [](cuda::Address address, size_t bytes, size_t, cuda::Allocation allocation,
                     unsigned long long) -> cuda::Status {
    HONE_FAKE_FAILS("MemMap");
    fake_device->mapped.insert(address);
    const int file = static_cast<int>(allocation / 2);
    return mmap(At<void>(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED ? 1 : 0;
  };
  driver.MemUnmap = [](cuda::Address address, size_t bytes) -> cuda::Status {
    if (fake_device->mapped.erase(address) != 1) return 1;
    void* const start = mmap(At<void>(address), bytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return start == MAP_FAILED ? 1 : 0;
  };
  // As on a device, memory is inaccessible before this call.
  driver.MemSetAccess = [](cuda::Address address, size_t bytes, const cuda::AccessDescription*,
                           size_t) -> cuda::Status {
    HONE_FAKE_FAILS("MemSetAccess");
    return mprotect(At<void>(address), bytes, PROT_READ | PROT_WRITE);
  };
  driver.MemsetD8 = [](cuda::Address address, unsigned char value, size_t count) -> cuda::Status {
    return std::memset(At<void>(address), value, count), 0;
  };
  driver.MemsetD32 = [](cuda::Address address, unsigned value, size_t count) -> cuda::Status {
    for (size_t i = 0; i < count; ++i) std::memcpy(At<char>(address) + 4 * i, &value, 4);
    return 0;
  };
  driver.MemcpyHtoD = [](cuda::Address to, const void* from, size_t bytes) -> cuda::Status {
    return std::memcpy(At<void>(to), from, bytes), 0;
  };
  driver.MemcpyDtoH = [](void* to, cuda::Address from, size_t bytes) -> cuda::Status {
    return std::memcpy(to, At<void>(from), bytes), 0;
  };
  driver.MemcpyDtoD = [](cuda::Address to, cuda::Address from, size_t bytes) -> cuda::Status {
    return std::memmove(At<void>(to), At<void>(from), bytes), 0;
  };
  driver.ModuleLoadData = [](cuda::Module* module, const void* image) -> cuda::Status {
    HONE_FAKE_FAILS("ModuleLoadData");
    fake_device->image = static_cast<const char*>(image);
    *module = reinterpret_cast<cuda::Module>(fake_device);
    return ++fake_device->modules, 0;
  };
  driver.ModuleUnload = [](cuda::Module) -> cuda::Status { return --fake_device->modules, 0; };
  driver.ModuleGetFunction = [](cuda::Function* function, cuda::Module, const char* name) -> cuda::Status {
    for (const char* const& known : kKernels)
      if (std::string(known) == name)
        return *function = reinterpret_cast<cuda::Function>(const_cast<char*>(known)), 0;
    return 500;
  };
  driver.LaunchKernel = [](cuda::Function function, unsigned blocks, unsigned, unsigned, unsigned threads,
                           unsigned, unsigned, unsigned, cuda::Stream, void** arguments,
                           void**) -> cuda::Status {
    HONE_FAKE_FAILS("LaunchKernel");
    if (threads != kernels::kThreads || blocks == 0) return 1;
    const std::string name = reinterpret_cast<const char*>(function);
    fake_device->launched.push_back(name);
    RunKernel(name, blocks, arguments);
    return 0;
  };
  return driver;
}

#undef HONE_FAKE_FAILS

}  // namespace hone

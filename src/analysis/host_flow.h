// Data-flow on the host side: which buffers a function makes, which launches write them, what is returned,
// and which library calls feed the result. Names are followed within one function; flow through attributes
// and containers counts as "used", so that nothing is reported when in doubt.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernel_trace.h"
#include "analysis/kernels.h"
#include "analysis/scopes.h"

namespace hone {

struct LibraryCall {
  const PyNode* node = nullptr;
  std::string name;    // "torch.matmul", "nn.GRU"
  bool heavy = false;  // does the work a kernel is meant to do, rather than plumbing
  bool reaches_output = false;
  bool in_loop = false;
};

struct LaunchResult {
  const Launch* launch = nullptr;
  std::vector<std::string_view> written;  // host variables whose memory the kernel stores to
  bool used = true;                       // something reads what was written
  bool stores_known = true;               // every store could be traced to a parameter
};

struct HostCast {
  const PyNode* node = nullptr;
  std::string to;  // "torch.float16"
};

struct HostFlow {
  std::vector<HostCast> casts;
  std::vector<LibraryCall> library_calls;
  std::vector<LaunchResult> launches;
  // `return x` where x came from torch.empty and nothing writes it.
  struct Unwritten {
    const PyNode* allocation = nullptr;
    const PyNode* returned = nullptr;
    std::string_view name;
    std::string reason;
  };
  std::vector<Unwritten> unwritten;
  std::vector<const PyNode*> host_functions;  // functions that run and are not kernels
};

HostFlow TraceHost(const Scopes& scopes, const Kernels& kernels, const std::vector<KernelTrace>& traces);

// The variable at the bottom of x, x[i], x.view(...), x.contiguous(); "" when there is none.
std::string_view RootVariable(const PyNode* expression);
// The parameters of the kernel that it stores to or updates atomically. `complete` is false when a store's
// target could not be traced.
std::set<std::string_view> StoredParams(const KernelTrace& trace, bool* complete);

}  // namespace hone

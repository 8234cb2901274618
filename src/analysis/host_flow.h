// Data flow in host code: which buffers a function creates, which launches write them, what is returned, and
// which library calls contribute to the result. Names are followed within one function. Flow through
// attributes and containers counts as "used", so that doubtful cases are not reported.
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
  bool heavy = false;  // does the main work that a kernel should do
  bool reaches_output = false;
  bool in_loop = false;
};

struct LaunchResult {
  const Launch* launch = nullptr;
  std::vector<std::string_view> written;  // host variables whose memory the kernel stores to
  bool used = true;                       // some code reads what was written
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
  // `return x` for an x that comes from torch.empty and is never written.
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

// The variable inside x, x[i], x.view(...), x.contiguous(); "" if there is none.
std::string_view RootVariable(const PyNode* expression);
// The kernel's parameters that it stores to or updates atomically. `complete` is false if a store's target
// could not be traced.
std::set<std::string_view> StoredParams(const KernelTrace& trace, bool* complete);

}  // namespace hone

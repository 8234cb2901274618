// jit-called-from-host: a kernel is called like a function, without a grid.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckJitCalledFromHost(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const Kernels& kernels = *candidate.python->kernels;
  const Scopes& scopes = *candidate.python->scopes;
  for (const PyNode* call : scopes.calls()) {
    const PyNode* callee = call->value;
    if (callee == nullptr || !(callee->Is(PyKind::kName) || callee->Is(PyKind::kAttribute))) continue;
    const Kernel* kernel = kernels.Resolve(callee);
    if (kernel == nullptr) continue;
    const PyNode* function = EnclosingFunction(call);
    bool in_kernel = false;
    for (const PyNode* at = function; at != nullptr; at = EnclosingFunction(at))
      in_kernel = in_kernel || kernels.OfFunction(at) != nullptr;
    // Decorators and defaults of a kernel run on the host, but calling one there is rare enough to skip.
    if (in_kernel) continue;
    sink->Add(call, scopes.Runs(call) ? Severity::kError : Severity::kWarning,
              fmt::format("{} is a @triton.jit kernel and is called from the host without a grid", kernel->name),
              fmt::format("Launch it as {}[grid](...); what a jitted helper computes has to be stored by a kernel.", kernel->name));
  }
}

}  // namespace hone

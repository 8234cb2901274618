// autotune-on-stateful-kernel: tuning runs the kernel many times, but this kernel changes its own input.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckAutotuneOnStatefulKernel(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces) {
    const Kernel& kernel = *trace.kernel;
    if (kernel.autotune == nullptr || !kernel.launched ||
        (kernel.configs.size() < 2 && !kernel.configs_pruned))
      continue;
    if (kernel.autotune->Keyword("restore_value") != nullptr ||
        kernel.autotune->Keyword("reset_to_zero") != nullptr)
      continue;
    if (kernel.autotune->Keyword("pre_hook") != nullptr) continue;
    for (const MemoryAccess& store : trace.accesses) {
      if (store.kind == MemoryAccess::Kind::kLoad || store.base.empty()) continue;
      const bool atomic = store.kind == MemoryAccess::Kind::kAtomic;
      const bool read_too =
          std::any_of(trace.accesses.begin(), trace.accesses.end(), [&](const MemoryAccess& load) {
            return load.kind == MemoryAccess::Kind::kLoad && load.base == store.base;
          });
      if (!atomic && !read_too) continue;
      sink->Add(kernel.autotune, Severity::kWarning,
                fmt::format("{} {} {}, and autotuning runs it once per config on the same memory",
                            kernel.name, atomic ? "accumulates into" : "both reads and writes", store.base),
                fmt::format("Add {}=['{}'] to the autotune decorator, or do not tune this kernel.",
                            atomic ? "reset_to_zero" : "restore_value", store.base));
      break;
    }
  }
}

}  // namespace hone

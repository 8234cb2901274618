// unmasked-access: a block is accessed without a mask at addresses that may exceed the tensor.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckUnmaskedAccess(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces) {
    if (!trace.kernel->launched) continue;
    std::set<const PyNode*> said;
    for (const MemoryAccess& access : trace.accesses) {
      if (access.masked || !access.is_block || !access.ranges || access.base.empty()) continue;
      // Addresses that depend on a program id or a loop cover a range whose end must be checked.
      if (access.program_axes == 0 && access.loops == 0) continue;
      if (!said.insert(access.node).second) continue;
      const char* what = access.kind == MemoryAccess::Kind::kLoad ? "loads from" : "stores to";
      sink->Add(
          access.node, Severity::kWarning,
          fmt::format("{} {} {} without a mask; sizes that are not a multiple of the block run past the end",
                      trace.kernel->name, what, access.base),
          "Add mask=offsets < size (and other=0.0 for loads), or check on the host that the sizes divide.");
    }
  }
}

}  // namespace hone

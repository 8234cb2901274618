// grid-misses-parallelism: few programs, each looping over work that could be spread.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/kernel_class.h"

namespace hone {

void CheckGridMissesParallelism(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces) {
    if (!trace.kernel->launched || trace.program_ids.size() != 1) continue;
    // Inside a loop that carries state, a second loop that stores to a different place each time: those
    // iterations are independent and could be programs.
    for (const KernelLoop& outer : trace.loops) {
      std::string how;
      if (outer.is_static || !CarriesState(trace, outer, &how)) continue;
      for (const KernelLoop& inner : trace.loops) {
        if (inner.node == outer.node || inner.is_static || !IsInside(inner.node, outer.node)) continue;
        const bool stores =
            std::any_of(trace.accesses.begin(), trace.accesses.end(), [&](const MemoryAccess& access) {
              return access.kind == MemoryAccess::Kind::kStore && !access.inside.empty() &&
                     access.inside.back() == inner.node && access.loops != 0;
            });
        if (!stores) continue;
        sink->Add(inner.node, Severity::kWarning,
                  fmt::format("{} has one grid axis and loops over {} inside every step: those tiles run one "
                              "after the other",
                              trace.kernel->name, inner.trip),
                  "Spread the tiles over more programs; if they exchange state each step, use a cooperative "
                  "launch or one launch per step.");
        break;
      }
    }
  }
}

}  // namespace hone

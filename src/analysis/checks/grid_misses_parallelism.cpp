// grid-misses-parallelism: few programs, each with a loop over work that could be parallel.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/kernel_class.h"

namespace hone {

namespace {

// A loop whose loads and stores all access single elements by its counter, and which carries nothing but a
// sum between iterations: one lane does work that a block or more programs could do.
bool GoesElementByElement(const KernelTrace& trace, const KernelLoop& loop) {
  std::string how;
  if (loop.is_static || (loop.bit & trace.tile_loops) != 0 || CarriesState(trace, loop, &how)) return false;
  bool any = false;
  for (const MemoryAccess& access : trace.accesses) {
    if (std::find(access.inside.begin(), access.inside.end(), loop.node) == access.inside.end()) continue;
    if (access.is_block || !access.address_known || access.kind == MemoryAccess::Kind::kAtomic) return false;
    any = any || (access.loops & loop.bit) != 0;
  }
  return any;
}

}  // namespace

void CheckGridMissesParallelism(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces) {
    if (!trace.kernel->launched || trace.program_ids.size() != 1) continue;
    // A loop that carries state contains a second loop that stores to a different place each time. The inner
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
    // Reports the outermost of nested loops, because parallelising it helps most.
    for (const KernelLoop& loop : trace.loops) {
      if (!GoesElementByElement(trace, loop)) continue;
      const bool inner = std::any_of(trace.loops.begin(), trace.loops.end(), [&](const KernelLoop& other) {
        return other.node != loop.node && IsInside(loop.node, other.node) &&
               GoesElementByElement(trace, other);
      });
      if (inner) continue;
      sink->Add(
          loop.node, Severity::kWarning,
          fmt::format("{} has one grid axis and loops over {} element by element: one lane does all the work",
                      trace.kernel->name, loop.trip),
          fmt::format("Let tl.arange blocks or a second grid axis cover {}.", loop.trip));
      break;
    }
  }
}

}  // namespace hone

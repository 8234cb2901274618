// allocation-in-loop: a host loop allocates a tensor in every iteration.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/once.h"
#include "base/text.h"

namespace hone {

void CheckAllocationInLoop(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  static const std::set<std::string_view> kAllocators = {
      "torch.empty",      "torch.zeros",      "torch.ones",         "torch.full",
      "torch.empty_like", "torch.zeros_like", "torch.ones_like",    "torch.full_like",
      "torch.rand",       "torch.randn",      "torch.empty_strided"};
  for (const LibraryCall& call : candidate.python->flow.library_calls) {
    if (!call.in_loop || kAllocators.count(call.name) == 0 || RunsOnce(call.node)) continue;
    const PyNode* function = EnclosingFunction(call.node);
    if (function == nullptr || function->name == "__init__") continue;
    sink->Add(call.node, Severity::kWarning,
              fmt::format("{} allocates in every iteration of a host loop", call.name),
              "Allocate once before the loop and reuse it, or let the kernel loop.");
  }
}

}  // namespace hone

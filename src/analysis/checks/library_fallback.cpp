// library-fallback: the work that was to be written is done by PyTorch's own kernels.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckLibraryFallback(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  bool own_kernels = false;
  for (const auto& kernel : candidate.python->kernels->kernels())
    own_kernels = own_kernels || kernel->launched;
  for (const CudaUnit& unit : candidate.cuda) own_kernels = own_kernels || !unit.kernels.empty();
  std::set<std::string> said;
  for (const LibraryCall& call : candidate.python->flow.library_calls) {
    if (!call.heavy || !call.reaches_output || !said.insert(call.name).second) continue;
    sink->Add(call.node, Severity::kWarning,
              fmt::format("{} does part of the work{}", call.name,
                          own_kernels ? "" : "; the candidate has no kernel of its own"),
              "Write it as a kernel, or accept that a speed-up here is the library's.");
  }
}

}  // namespace hone

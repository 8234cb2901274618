// library-fallback: PyTorch's own kernels do the work that the candidate should do.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/inheritance.h"

namespace hone {

namespace {

bool HasOwnKernels(const Candidate& candidate) {
  for (const auto& kernel : candidate.python->kernels->kernels())
    if (kernel->launched) return true;
  for (const CudaUnit& unit : candidate.cuda)
    if (!unit.kernels.empty()) return true;
  // C++ that the file compiles itself counts as a kernel for the CPU.
  return candidate.native.builds() && !candidate.native.compiles.empty();
}

}  // namespace

void CheckLibraryFallback(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const bool own_kernels = HasOwnKernels(candidate);
  // Code that ModelNew inherits from the task's own Model is the reference, used if the kernel does not
  // apply.
  const std::set<const PyNode*> reference = ReferenceCode(*candidate.python->scopes);
  std::set<std::string> said;
  bool runs_reference = false;
  for (const LibraryCall& call : candidate.python->flow.library_calls) {
    if (!call.heavy || !call.reaches_output) continue;
    if (IsIn(reference, call.node)) {
      runs_reference = true;
      continue;
    }
    if (!said.insert(call.name).second) continue;
    sink->Add(call.node, Severity::kWarning,
              fmt::format("{} does part of the work{}", call.name,
                          own_kernels ? "" : "; the candidate has no kernel of its own"),
              "Write it as a kernel; otherwise a speed-up here is the library's.");
  }
  if (runs_reference && !own_kernels && said.empty())
    sink->Add(candidate.python->scopes->ClassNamed("ModelNew"), Severity::kNote,
              "ModelNew runs the operators of Model and has no kernel of its own",
              "Write a kernel; otherwise a speed-up here is the library's.");
}

}  // namespace hone

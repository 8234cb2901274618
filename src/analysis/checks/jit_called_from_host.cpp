// jit-called-from-host: host code calls a kernel like a function, without a grid.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

namespace {

// For example tl.cdiv(n, 4) in forward: language functions work only inside kernels.
bool IsDeviceOnly(std::string_view name) {
  return name != "constexpr" && name != "dtype" && name != "pointer_type" && name != "block_type" &&
         name != "str_to_ty" && name != "tensor_descriptor" && name != "PropagateNan";
}

bool UsedByKernels(const Kernels& kernels, std::string_view name) {
  bool used = false;
  for (const auto& kernel : kernels.kernels())
    WalkPython(kernel->function, [&](const PyNode* node) {
      used = used || (node->Is(PyKind::kName) && node->name == name);
      return !used;
    });
  return used;
}

}  // namespace

void CheckJitCalledFromHost(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const Kernels& kernels = *candidate.python->kernels;
  const Scopes& scopes = *candidate.python->scopes;
  for (const PyNode* call : scopes.calls()) {
    const PyNode* callee = call->value;
    if (callee == nullptr || !(callee->Is(PyKind::kName) || callee->Is(PyKind::kAttribute))) continue;
    const Kernel* kernel = kernels.Resolve(callee);
    const std::string dotted = kernel == nullptr ? scopes.Resolve(callee) : "";
    const std::string_view prefix = "triton.language.";
    const bool device_only = StartsWith(dotted, prefix) &&
                             IsDeviceOnly(std::string_view(dotted).substr(prefix.size())) &&
                             dotted.find('.', prefix.size()) == std::string::npos;
    if (kernel == nullptr ? !device_only : kernel->wrapped) continue;
    bool in_kernel = false;
    for (const PyNode* at = EnclosingFunction(call); at != nullptr; at = EnclosingFunction(at))
      in_kernel = in_kernel || kernels.OfFunction(at) != nullptr || !at->decorators.empty();
    // Decorators and defaults of a kernel run on the host, but calls there are rare enough to skip.
    if (in_kernel) continue;
    if (device_only) {
      // A helper without @triton.jit that only kernels call is reported at the call.
      const PyNode* function = EnclosingFunction(call);
      if (function == nullptr || UsedByKernels(kernels, function->name)) continue;
      // A function that is passed to triton.jit in a way that the analysis does not recognise is a kernel.
      const bool method = function->parent != nullptr && function->parent->Is(PyKind::kClass);
      const bool called = std::any_of(scopes.calls().begin(), scopes.calls().end(), [&](const PyNode* other) {
        return other->value != nullptr && other->value->IsName(function->name);
      });
      if (!method && !called) continue;
      sink->Add(call, scopes.Runs(call) ? Severity::kError : Severity::kWarning,
                fmt::format("{} is a function of triton.language and works only inside a kernel",
                            TextOf(candidate, callee)),
                dotted == "triton.language.cdiv" ? "Use triton.cdiv on the host."
                                                 : "Use the torch function of the same meaning.");
      continue;
    }
    sink->Add(
        call, scopes.Runs(call) ? Severity::kError : Severity::kWarning,
        fmt::format("{} is a @triton.jit kernel and is called from the host without a grid", kernel->name),
        fmt::format("Launch it as {}[grid](...); what a jitted helper computes has to be stored by a kernel.",
                    kernel->name));
  }
}

}  // namespace hone

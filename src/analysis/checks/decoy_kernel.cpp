// decoy-kernel: a kernel is launched but its result is not used.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/extension_calls.h"

namespace hone {

namespace {

void CheckCudaDecoys(const Candidate& candidate, FindingSink* sink) {
  const std::vector<CudaLaunchResult> launches = CudaLaunchResults(candidate);
  for (const CudaLaunchResult& result : launches) {
    if (result.used) continue;
    sink->AddAt(result.unit->OuterStart(result.launch->node), result.unit->OuterEnd(result.launch->node),
                Severity::kWarning,
                fmt::format("{} writes {}, which nothing reads or returns afterwards: the launch does not "
                            "contribute to the result",
                            result.launch->kernel, result.buffer),
                "Return what the kernel computed, or remove the launch.");
  }
  for (const ExtensionCall& call : ExtensionCalls(candidate, launches)) {
    if (call.used) continue;
    sink->Add(call.node, Severity::kWarning,
              fmt::format("the result of {} is not used, so its kernel {} does not contribute to the output",
                          call.function, call.kernel),
              fmt::format("Use the tensor that {} returns, or remove the call.", call.function));
  }
}

}  // namespace

void CheckDecoyKernel(const Candidate& candidate, FindingSink* sink) {
  CheckCudaDecoys(candidate, sink);
  if (candidate.python == nullptr) return;
  for (const LaunchResult& result : candidate.python->flow.launches) {
    if (result.used || !result.launch->runs) continue;
    const std::string where = result.written.empty() ? "a temporary" : std::string(result.written.front());
    sink->Add(
        result.launch->call, Severity::kWarning,
        fmt::format(
            "{} writes {}, which nothing reads afterwards: the launch does not contribute to the result",
            result.launch->kernel->name, where),
        "Return what the kernel computed, or remove the launch.");
  }
  for (const auto& kernel : candidate.python->kernels->kernels()) {
    const Scopes& scopes = *candidate.python->scopes;
    // A kernel launched inside a `try` with PyTorch as the fallback is not a decoy.
    if (kernel->runs() || scopes.MayRun(kernel->function) || scopes.ClassNamed("ModelNew") == nullptr)
      continue;
    bool any_launch = false;
    for (const auto& launch : candidate.python->kernels->launches())
      any_launch = any_launch || launch->kernel == kernel.get();
    sink->Add(kernel->function, Severity::kWarning,
              any_launch
                  ? fmt::format("{} is launched only by code that forward does not reach", kernel->name)
                  : fmt::format("{} is never launched", kernel->name),
              "Use it in forward, or remove it.");
  }
}

}  // namespace hone

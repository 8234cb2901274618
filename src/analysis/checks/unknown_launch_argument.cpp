// unknown-launch-argument: a launch passes arguments that the kernel does not take.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

void CheckUnknownLaunchArgument(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const auto& launch : candidate.python->kernels->launches()) {
    const Severity severity = launch->runs ? Severity::kError : Severity::kWarning;
    const Kernel& kernel = *launch->kernel;
    bool variadic = kernel.wrapped;
    std::vector<std::string> known;
    for (const KernelParam& param : kernel.params) {
      variadic = variadic || !param.node->op.empty();
      known.emplace_back(param.name);
    }
    if (variadic) continue;
    for (const PyNode* keyword : launch->unknown) {
      const std::string close = ClosestWord(keyword->name, known);
      sink->Add(keyword, severity, fmt::format("{} has no parameter {}", kernel.name, keyword->name),
                close.empty()
                    ? fmt::format("Add {} to the kernel's parameters, or remove it here.", keyword->name)
                    : fmt::format("Did you mean {}?", close));
    }
    if (launch->surplus_positional > 0 && launch->complete)
      sink->Add(launch->call, severity,
                fmt::format("{} takes {} parameters and the launch passes {} by position", kernel.name,
                            kernel.params.size(), launch->call->args.size()),
                "Make the arguments of the launch match the kernel's parameters.");
  }
}

}  // namespace hone

// autotune-redefined: both the autotuner and the launch set a meta-parameter.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckAutotuneRedefined(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const auto& launch : candidate.python->kernels->launches()) {
    const Kernel& kernel = *launch->kernel;
    if (kernel.autotune == nullptr || kernel.wrapped) continue;
    std::set<std::string_view> tuned;
    for (const TuneConfig& config : kernel.configs)
      for (const auto& [key, value] : config.values) tuned.insert(key);
    for (const PyNode* keyword : launch->call->keywords) {
      const bool option = keyword->name == "num_warps" || keyword->name == "num_stages";
      if (!option && tuned.count(keyword->name) == 0) continue;
      // Triton supplies num_warps and num_stages even without a config, so those always clash.
      sink->Add(keyword, launch->runs ? Severity::kError : Severity::kWarning,
                fmt::format("{} is chosen by the autotuner of {} and passed again at the launch",
                            keyword->name, kernel.name),
                fmt::format("Remove {} from the launch.", keyword->name));
    }
    for (const LaunchArgument& argument : launch->arguments) {
      const std::string_view name = argument.keyword.empty() ? argument.param : argument.keyword;
      const bool written_here =
          argument.keyword.empty() || launch->call->Keyword(argument.keyword) == nullptr;
      if (!written_here || tuned.count(name) == 0) continue;
      sink->Add(argument.value, launch->runs ? Severity::kError : Severity::kWarning,
                fmt::format("{} is chosen by the autotuner of {} and passed again {}", name, kernel.name,
                            argument.keyword.empty() ? "by position" : "through **"),
                argument.keyword.empty()
                    ? "Remove this argument; pass what follows it by keyword."
                    : fmt::format("Take {} out of the dictionary that the launch unpacks.", name));
    }
  }
}

}  // namespace hone

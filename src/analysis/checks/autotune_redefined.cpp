// autotune-redefined: a meta-parameter is given by the autotuner and again at the launch.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

namespace {

// Removes "NAME=value, " with the comma that belongs to it.
TextEdit RemoveArgument(const Candidate& candidate, const PyNode* keyword) {
  const std::string_view text = candidate.source.text();
  uint32_t start = keyword->start;
  uint32_t end = keyword->end;
  uint32_t after = end;
  while (after < text.size() && (text[after] == ' ' || text[after] == '\t')) ++after;
  if (after < text.size() && text[after] == ',') {
    end = after + 1;
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
    // The argument had a line to itself: take the line.
    uint32_t line_start = start;
    while (line_start > 0 && (text[line_start - 1] == ' ' || text[line_start - 1] == '\t')) --line_start;
    if (end < text.size() && text[end] == '\n' && line_start > 0 && text[line_start - 1] == '\n') {
      start = line_start;
      ++end;
    }
  } else {
    while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\n' || text[start - 1] == '\t'))
      --start;
    if (start > 0 && text[start - 1] == ',') --start;
  }
  return {start, end, ""};
}

}  // namespace

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
      // Without any config Triton still supplies num_warps and num_stages, so those clash in every case.
      Finding& finding =
          sink->Add(keyword, launch->runs ? Severity::kError : Severity::kWarning,
                    fmt::format("{} is chosen by the autotuner of {} and passed again at the launch",
                                keyword->name, kernel.name),
                    fmt::format("Remove {} from the launch.", keyword->name));
      finding.edits.push_back(RemoveArgument(candidate, keyword));
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

// autotune-many-configs: tuning compiles each config at the first call of every shape.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckAutotuneManyConfigs(const Candidate& candidate, FindingSink* sink) {
  constexpr size_t kMany = 12;
  if (candidate.python == nullptr) return;
  for (const auto& kernel : candidate.python->kernels->kernels()) {
    if (kernel->autotune == nullptr) continue;
    size_t count = kernel->configs.size();
    // A comprehension is a single entry here, but produces the product of its ranges.
    WalkPython(kernel->autotune, [&](const PyNode* node) {
      if (!node->Is(PyKind::kComprehension)) return true;
      size_t product = 1;
      for (const PyNode* clause : node->args)
        if (clause->value != nullptr &&
            (clause->value->Is(PyKind::kList) || clause->value->Is(PyKind::kTuple)))
          product *= std::max<size_t>(1, clause->value->args.size());
      count = std::max(count, std::min<size_t>(product, 1u << 20));
      return true;
    });
    if (count <= kMany) continue;
    sink->Add(kernel->autotune, Severity::kWarning,
              fmt::format("{} is tuned over {} configs; each is compiled and timed at the first call",
                          kernel->name, count),
              "Keep a few configs that differ in kind; Hone's own tuner searches the rest.");
  }
}

}  // namespace hone

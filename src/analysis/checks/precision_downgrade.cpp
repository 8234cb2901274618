// precision-downgrade: results are computed with fewer bits than the inputs have.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

void CheckPrecisionDowngrade(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const Scopes& scopes = *candidate.python->scopes;
  for (const KernelTrace& trace : candidate.python->traces) {
    // A cast back to the output pointer's type does not lower the precision. These casts name a type.
    const auto cast =
        std::find_if(trace.casts.begin(), trace.casts.end(), [](const CastUse& use) { return use.lowers; });
    if (!trace.kernel->runs() || cast == trace.casts.end()) continue;
    const PyNode* node = cast->node;
    sink->Add(
        node, Severity::kWarning,
        fmt::format("{} casts to a half-precision type: `{}`", trace.kernel->name, TextOf(candidate, node)),
        "Keep float32, or make sure that the task accepts the error; a GEMM can use input_precision=\"tf32\" "
        "instead.");
  }
  std::set<std::string_view> said;
  for (const PyNode* function : candidate.python->flow.host_functions) {
    WalkPython(function, [&](const PyNode* node) {
      if (!node->Is(PyKind::kCall) || node->value == nullptr || !node->value->Is(PyKind::kAttribute))
        return true;
      const std::string_view method = node->value->name;
      bool lowers = (method == "half" || method == "bfloat16") && node->args.empty();
      for (const PyNode* argument : node->args) {
        const std::string type = scopes.Resolve(argument);
        lowers = lowers || (method == "to" &&
                            (type == "torch.float16" || type == "torch.bfloat16" || type == "torch.half"));
      }
      if (EndsWith(scopes.Resolve(node->value), "autocast")) lowers = true;
      if (!lowers || !said.insert(function->name).second) return true;
      sink->Add(node, Severity::kWarning,
                fmt::format("{} lowers the precision: `{}`", function->name, TextOf(candidate, node)),
                "Keep the type of the inputs, or make sure that the task accepts the error.");
      return true;
    });
  }
}

}  // namespace hone

// Fixes tl.dot of two different floating-point types, one of them half: the half operand is cast up to
// float32, which loses nothing.
#include <fmt/format.h>

#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

FixEdits FixDotTypes(const FixRequest& request) {
  const PyNode* call = request.node;
  const Candidate& candidate = request.candidate;
  if (call == nullptr || request.problem == nullptr || !call->Is(PyKind::kCall) ||
      request.problem->subject != "tl.dot" || call->args.size() < 2)
    return {};
  for (const KernelTrace& trace : candidate.python->traces)
    for (const DotUse& dot : trace.dots) {
      if (dot.node != call || dot.a.element.empty() || dot.a.element == dot.b.element) continue;
      const auto half = [](const KernelValue& side) {
        return side.element == "fp16" || side.element == "bf16";
      };
      const auto can_meet = [&](const KernelValue& side) { return half(side) || side.element == "fp32"; };
      if (!can_meet(dot.a) || !can_meet(dot.b)) continue;
      FixEdits edits;
      const std::string language = EnsureLanguage(candidate, &edits);
      if (language.empty()) return {};
      for (const int i : {0, 1}) {
        const PyNode* side = call->args[static_cast<size_t>(i)];
        if (half(i == 0 ? dot.a : dot.b))
          edits.push_back(
              {side->start, side->end, fmt::format("{}.to({}.float32)", Operand(candidate, side), language)});
      }
      return edits;
    }
  return {};
}

}  // namespace hone

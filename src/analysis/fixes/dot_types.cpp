// Fixes tl.dot of a half and a float operand: the half one is cast up, which loses nothing.
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
      if (dot.node != call || dot.a.element.empty() || dot.b.element.empty()) continue;
      const auto half = [](const KernelValue& side) {
        return side.element == "fp16" || side.element == "bf16";
      };
      const bool first = half(dot.a) && dot.b.element == "fp32";
      const bool second = half(dot.b) && dot.a.element == "fp32";
      if (!first && !second) continue;
      const PyNode* side = call->args[first ? 0 : 1];
      FixEdits edits;
      const std::string language = EnsureLanguage(candidate, &edits);
      if (language.empty()) return {};
      edits.push_back(
          {side->start, side->end, fmt::format("{}.to({}.float32)", Operand(candidate, side), language)});
      return edits;
    }
  return {};
}

}  // namespace hone

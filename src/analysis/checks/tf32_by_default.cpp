// tf32-by-default: tl.dot on float32 rounds its operands to TF32 by default.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckTf32ByDefault(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  std::set<const PyNode*> said;
  for (const KernelTrace& trace : candidate.python->traces) {
    if (!trace.kernel->runs()) continue;
    for (const DotUse& dot : trace.dots) {
      const bool half = dot.a.element == "fp16" || dot.a.element == "bf16" || dot.b.element == "fp16" ||
                        dot.b.element == "bf16";
      if (half || !dot.precision.empty() || !said.insert(dot.node).second) continue;
      sink->Add(dot.node, Severity::kWarning,
                fmt::format("tl.dot in {} uses TF32 for float32 operands, about three decimal digits",
                            trace.kernel->name),
                "Set input_precision: \"ieee\" for full precision, \"tf32x3\" for nearly full at "
                "tensor-core speed, \"tf32\" to accept it.");
      break;
    }
  }
}

}  // namespace hone

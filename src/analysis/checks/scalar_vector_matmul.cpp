// scalar-vector-matmul: a matrix product is computed as scalar times vector, without tensor cores.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckScalarVectorMatmul(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces) {
    if (!trace.dots.empty() || trace.scalar_vector_products.empty() || !trace.kernel->runs()) continue;
    const PyNode* node = trace.scalar_vector_products.front();
    sink->Add(node, Severity::kWarning,
              fmt::format("{} accumulates `{}` one element at a time instead of using tl.dot",
                          trace.kernel->name, TextOf(candidate, node)),
              "Load tiles of both operands and use tl.dot; pad dimensions below 16 and mask.");
  }
}

}  // namespace hone

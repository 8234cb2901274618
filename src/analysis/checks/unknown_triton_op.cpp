// unknown-triton-op: triton.language (or a block) has no such name.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

namespace {

struct Replacement {
  std::string_view name;
  std::string_view advice;
};

// Names that models use most often in error, with equivalents.
constexpr Replacement kReplacements[] = {
    {"tanh", "Use libdevice.tanh: from triton.language.extra import libdevice."},
    {"sigmoid", "Use 1 / (1 + tl.exp(-x))."},
    {"any", "Use tl.max(x.to(tl.int32), axis=0) > 0."},
    {"all", "Use tl.min(x.to(tl.int32), axis=0) > 0."},
    {"log1p", "Use tl.log(1 + x), or log1p from triton.language.extra.libdevice."},
    {"expm1", "Use tl.exp(x) - 1, or expm1 from triton.language.extra.libdevice."},
    {"pow", "Use tl.exp(y * tl.log(x)), or pow from triton.language.extra.libdevice."},
    {"power", "Use tl.exp(y * tl.log(x)), or pow from triton.language.extra.libdevice."},
    {"astype", "Use x.to(dtype)."},
    {"prefetch", "Remove it; the compiler prefetches by num_stages."},
    {"relu", "Use tl.maximum(x, 0.0)."},
    {"gelu", "Use 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))."},
    {"silu", "Use x * tl.sigmoid(x)."},
    {"square", "Use x * x."},
    {"mean", "Use tl.sum(x, axis=0) / n."},
    {"var", "Compute it from tl.sum of x and of x * x."},
    {"matmul", "Use tl.dot(a, b)."},
    {"mma", "Use tl.dot(a, b)."},
    {"concatenate", "Use tl.join or tl.cat, or store the parts separately."},
    {"stack", "Use tl.join."},
    {"ones", "Use tl.full(shape, 1.0, dtype)."},
    {"ones_like", "Use tl.full(x.shape, 1.0, x.dtype)."},
    {"full_like", "Use tl.full(x.shape, value, x.dtype)."},
    {"empty", "Use tl.zeros(shape, dtype)."},
    {"round", "Use tl.floor(x + 0.5)."},
    {"isnan", "Use x != x."},
    {"isinf", "Use tl.abs(x) == float('inf')."},
    {"inf", "Use float('inf')."},
    {"nan", "Use float('nan')."},
    {"pi", "Use 3.141592653589793."},
    {"float", "Use tl.float32."},
    {"half", "Use tl.float16."},
    {"int", "Use tl.int32."},
    {"bool", "Use tl.int1."},
    {"long", "Use tl.int64."},
    {"mod", "Use a % b."},
    {"fmod", "Use a % b."},
    {"logical_and", "Use a & b."},
    {"logical_or", "Use a | b."},
    {"logical_not", "Use ~a, or a == 0."},
    {"syncthreads", "Use tl.debug_barrier(); different programs cannot be synchronised."},
    {"barrier", "Use tl.debug_barrier(); different programs cannot be synchronised."},
    {"thread_id", "A program works on whole blocks; use tl.arange."},
    {"shared_memory", "Triton places shared memory itself."},
    {"transpose", "Use tl.trans(x)."},
    {"squeeze", "Use tl.reshape."},
    {"unsqueeze", "Use x[:, None] or tl.expand_dims."},
    {"select", "Use tl.where."},
    {"if_else", "Use tl.where."},
    {"next_power_of_two", "The function is called triton.next_power_of_2."},
    {"libdevice", "Import it: from triton.language.extra import libdevice."},
    {"item", "Use tl.sum or tl.max to get one number."},
    {"size", "Use x.shape[0]."},
    {"numel", "Use x.shape[0]."},
    {"zero_", "Use tl.zeros."},
    {"clone", "Blocks are values; assign it."},
    {"contiguous", "Remove it; blocks have no strides."},
    {"double", "Use .to(tl.float64)."},
};

std::string Advice(std::string_view name, std::string_view scope, uint32_t versions) {
  for (const Replacement& replacement : kReplacements)
    if (replacement.name == name) return std::string(replacement.advice);
  const std::string close = ClosestWord(name, TritonNames(scope, versions));
  return close.empty() ? "Write it with operations that triton.language has."
                       : fmt::format("Did you mean {}?", close);
}

}  // namespace

void CheckUnknownTritonOp(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const uint32_t versions = candidate.options.triton_versions;
  for (const KernelTrace& trace : candidate.python->traces) {
    for (const KernelProblem& problem : trace.problems) {
      if (problem.kind != ProblemKind::kUnknownOp) continue;
      const bool on_block = problem.subject[0] == '.';
      const std::string message = on_block
                                      ? fmt::format("{}: {}", TextOf(candidate, problem.node), problem.detail)
                                      : fmt::format("{} does not exist: {}", problem.subject, problem.detail);
      sink->AddProblem(problem, message,
                       Advice(problem.node->name, on_block ? "tensor" : "triton.language", versions));
    }
  }
  // Also on the host: from triton.language import tanh fails when the file is imported.
  for (const PyNode* statement : candidate.python->tree.module->body) {
    if (!statement->Is(PyKind::kImportFrom)) continue;
    const std::string module(statement->name);
    if (module != "triton" && module != "triton.language" && module != "triton.language.math") continue;
    for (const PyNode* alias : statement->args) {
      if (alias->name == "*" || StartsWith(alias->name, "_")) continue;
      const uint32_t has = TritonReleasesWith(module, alias->name) & versions;
      if (has == versions) continue;
      if (has == 0 && (module == "triton" || TritonReleasesWith("triton", alias->name) != 0)) continue;
      sink->Add(alias, has == 0 ? Severity::kError : Severity::kWarning,
                fmt::format("{} has no {}", module, alias->name), Advice(alias->name, module, versions));
    }
  }
}

}  // namespace hone

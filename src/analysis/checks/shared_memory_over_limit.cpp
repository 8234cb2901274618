// shared-memory-over-limit: the tiles of a pipelined loop do not fit into shared memory.
#include <fmt/format.h>

#include <algorithm>

#include <map>
#include "analysis/check.h"
#include "analysis/checks/checks.h"

#include "base/text.h"

namespace hone {

namespace {

// Whether the host code mentions a half-precision type. If not, tensors are float32.
bool MentionsHalf(const Candidate& candidate) {
  bool found = false;
  WalkPython(candidate.python->tree.module, [&](const PyNode* node) {
    if (node->Is(PyKind::kAttribute) || node->Is(PyKind::kName))
      found = found || node->name == "float16" || node->name == "bfloat16" || node->name == "half" ||
              node->name == "int8" || StartsWith(node->name, "float8");
    return !found;
  });
  return found;
}

int64_t TileBytes(const KernelValue& value, int64_t default_bytes) {
  if (!value.is_block() || value.shape.size() < 2) return 0;
  int64_t bytes = default_bytes;
  if (value.element == "fp16" || value.element == "bf16") bytes = std::min<int64_t>(bytes, 2);
  if (value.element == "fp64") bytes = 8;
  if (StartsWith(value.element, "float8") || value.element == "int8") bytes = 1;
  for (int64_t extent : value.shape) {
    if (extent <= 0 || __builtin_mul_overflow(bytes, extent, &bytes)) return 0;
  }
  return bytes;
}

struct Estimate {
  const DotUse* dot = nullptr;
  int64_t bytes = 0;         // on the requested device
  int64_t bytes_before = 0;  // on devices before Hopper
  int64_t stages = 0;
};

// Hopper's matrix instructions read every stage from shared memory; on other devices one stage is in
// registers. Measured with Triton 3.3 and 3.6 for sm_90: they need 64 rows, a multiple of four warps, and
// operands that are neither cast after the load nor multiplied in full float32.
bool UsesWarpGroups(const DotUse& dot, const Constant& warps) {
  if (!warps.is_int() || warps.integer < 4 || warps.integer % 4 != 0) return false;
  if (Contains(dot.precision, "ieee") || Contains(dot.precision, "False")) return false;
  if (!dot.a.is_block() || dot.a.shape.size() != 2 || dot.a.shape[0] < 64) return false;
  return dot.a.element.empty() && dot.b.element.empty();
}

// The value from a launch option or a config, else Triton's default.
Constant Option(const Candidate& candidate, const DotUse& dot, std::string_view name, const Constant& tuned,
                int64_t fallback) {
  if (dot.config != nullptr) return tuned;
  const PyNode* given = dot.launch->Argument(name);
  return given != nullptr ? candidate.python->values->Eval(given) : Constant::Int(fallback);
}

}  // namespace

void CheckSharedMemoryOverLimit(const Candidate& candidate, FindingSink* sink) {
  constexpr int64_t kStaticLimit = 48 * 1024;
  for (const CudaUnit& unit : candidate.cuda)
    for (const CudaKernel& kernel : unit.kernels)
      if (kernel.static_shared_bytes > kStaticLimit)
        sink->AddAt(unit.OuterStart(kernel.definition), unit.OuterStart(kernel.definition) + 1,
                    Severity::kError,
                    fmt::format("{} declares {} of __shared__ arrays; the compiler allows 48 KiB without "
                                "dynamic shared memory",
                                kernel.name, HumanBytes(static_cast<double>(kernel.static_shared_bytes))),
                    "Use smaller tiles, or extern __shared__ with cudaFuncSetAttribute.");
  if (candidate.python == nullptr) return;
  const DeviceLimits& device =
      candidate.options.device != nullptr ? *candidate.options.device : MostGenerousDevice();
  constexpr int64_t kLargestBeforeHopper = 166912;
  const int64_t default_bytes = MentionsHalf(candidate) ? 2 : 4;
  for (const KernelTrace& trace : candidate.python->traces) {
    const Kernel& kernel = *trace.kernel;
    // For each launch and config, and in it for each loop: all that one loop streams is resident at once.
    std::map<std::pair<const Launch*, const TuneConfig*>, std::map<const PyNode*, Estimate>> estimates;
    for (const DotUse& dot : trace.dots) {
      if (dot.launch == nullptr || !dot.launch->runs) continue;
      const Constant value = Option(candidate, dot, "num_stages",
                                    dot.config != nullptr ? dot.config->num_stages : Constant(), 3);
      const Constant warps =
          Option(candidate, dot, "num_warps", dot.config != nullptr ? dot.config->num_warps : Constant(), 4);
      if (!value.is_int()) continue;
      int64_t stages = value.integer;
      const PyNode* loop = dot.inside.empty() ? nullptr : dot.inside.back();
      // tl.range(..., num_stages=n) sets the value for its own loop.
      if (loop != nullptr && loop->Is(PyKind::kFor) && loop->value != nullptr &&
          loop->value->Is(PyKind::kCall))
        if (const PyNode* own = loop->value->Keyword("num_stages"); own != nullptr && own->Is(PyKind::kInt))
          stages = own->integer;
      const int64_t before = loop == nullptr ? 1 : std::max<int64_t>(1, stages - 1);
      const bool every_stage = loop != nullptr && device.wgmma && UsesWarpGroups(dot, warps);
      const int64_t copies = every_stage ? std::max<int64_t>(1, stages) : before;
      Estimate& estimate = estimates[{dot.launch, dot.config}][loop];
      for (const KernelValue* operand : {&dot.a, &dot.b}) {
        const bool streamed =
            operand->from_load && operand->load_loop != nullptr && operand->load_loop == loop;
        if (!operand->from_load) continue;
        const int64_t tile = TileBytes(*operand, default_bytes);
        estimate.bytes += tile * (streamed ? copies : 1);
        estimate.bytes_before += tile * (streamed ? before : 1);
      }
      estimate.dot = &dot;
      estimate.stages = stages;
    }
    size_t over = 0;
    const Estimate* worst = nullptr;
    const TuneConfig* worst_config = nullptr;
    for (const auto& [where, loops] : estimates) {
      bool exceeds = false;
      for (const auto& [loop, estimate] : loops) {
        if (estimate.bytes <= device.shared_memory_bytes) continue;
        if (candidate.options.device == nullptr && estimate.bytes_before <= kLargestBeforeHopper) continue;
        exceeds = true;
        if (worst == nullptr || estimate.bytes > worst->bytes) {
          worst = &estimate;
          worst_config = where.second;
        }
      }
      if (exceeds) ++over;
    }
    if (worst == nullptr) continue;
    // The autotuner skips configs that do not fit, so the launch fails only if none fits.
    const bool all = over == estimates.size() && kernel.configs_known && !kernel.configs_pruned;
    sink->Add(
        worst->dot->node, all ? Severity::kError : Severity::kWarning,
        fmt::format(
            "{} keeps {} of tiles in shared memory ({} and {} with num_stages={}){}, more than the {} of {}",
            kernel.name, HumanBytes(static_cast<double>(worst->bytes)), worst->dot->a.ExtentsText(),
            worst->dot->b.ExtentsText(), worst->stages,
            worst_config != nullptr
                ? fmt::format(" with the autotune config at line {}", LineOf(candidate, worst_config->node))
                : "",
            HumanBytes(static_cast<double>(device.shared_memory_bytes)), device.name),
        "Use smaller blocks or a lower num_stages.");
  }
}

}  // namespace hone

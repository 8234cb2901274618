#include "analysis/kernel_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/check.h"
#include "base/text.h"

namespace hone {

namespace {

bool Mentions(const PyNode* expression, std::string_view name) {
  bool found = false;
  WalkPython(expression, [&](const PyNode* node) {
    found = found || node->IsName(name);
    return !found;
  });
  return found;
}

// acc + f(...) where f does not use acc. tl.dot(a, b, acc) counts as well.
bool IsSummation(const PyNode* value, std::string_view name) {
  if (value == nullptr) return false;
  if (value->Is(PyKind::kBinOp) && (value->op == "+" || value->op == "-")) {
    if (value->left->IsName(name)) return !Mentions(value->right, name);
    if (value->right->IsName(name)) return !Mentions(value->left, name);
  }
  if (value->Is(PyKind::kCall) && value->value != nullptr && value->value->Is(PyKind::kAttribute)) {
    const std::string_view op = value->value->name;
    if (op == "dot" || op == "advance" || op == "maximum" || op == "minimum" || op == "fma") return true;
  }
  return false;
}

std::string_view Callee(const PyNode* call) {
  return call->value != nullptr && call->value->Is(PyKind::kAttribute) ? call->value->name
                                                                       : std::string_view();
}

struct Vote {
  KernelClass kernel_class;
  uint32_t line;
  std::string what;
};

// Two or more short loops over a window around a dot or product indicate a convolution.
bool LooksLikeConvolution(const KernelTrace& trace) {
  // A convolution reads one tensor at an output position plus the window's loop counters, so some load
  // depends on at least two loop counters besides the lane.
  for (const MemoryAccess& access : trace.accesses) {
    if (access.kind != MemoryAccess::Kind::kLoad) continue;
    if (__builtin_popcount(access.loops & ~trace.tile_loops) >= 2) return true;
  }
  // The same with a window flattened into one loop, whose index is divided into coordinates.
  return trace.divides_loop_index;
}

Vote ClassifyTriton(const Candidate& candidate, const KernelTrace& trace, const Launch* launch) {
  const auto line = [&](const PyNode* node) { return LineOf(candidate, node); };
  const std::string name(trace.kernel->name);
  std::set<const PyNode*> dots;
  for (const DotUse& dot : trace.dots) dots.insert(dot.node);
  const auto calls = [&](const char* op) {
    const auto it = trace.op_counts.find(op);
    return it == trace.op_counts.end() ? 0 : it->second;
  };
  const int exps = calls("exp") + calls("exp2") + calls("softmax");
  // Online softmax rescales its accumulator, which resembles a recurrence. Two dots around an exponential
  // with a running maximum are therefore classified as attention first.
  const bool running_max = std::any_of(trace.reductions.begin(), trace.reductions.end(),
                                       [](const ReductionUse& use) { return use.op == "max"; });
  if (dots.size() >= 2 && exps > 0 && running_max && calls("maximum") > 0)
    return {KernelClass::kAttention, line(*dots.begin()),
            name + " multiplies twice around a running softmax"};

  for (const KernelLoop& loop : trace.loops) {
    std::string how;
    if (loop.is_static || !CarriesState(trace, loop, &how)) continue;
    const bool stores_inside =
        std::any_of(trace.accesses.begin(), trace.accesses.end(), [&](const MemoryAccess& access) {
          return access.kind == MemoryAccess::Kind::kStore &&
                 std::find(access.inside.begin(), access.inside.end(), loop.node) != access.inside.end();
        });
    // State that leaves the kernel only at the end belongs to a reduction.
    if (!stores_inside) continue;
    return {KernelClass::kPersistentRecurrent, line(loop.node),
            fmt::format("{} loops over {} and carries {}", name, loop.trip, how)};
  }
  if (!trace.scans.empty() && dots.empty())
    return {KernelClass::kScan, line(trace.scans.front()), name + " scans"};
  if (launch != nullptr && !launch->host_loops.empty()) {
    const PyNode* loop = launch->host_loops.back();
    return {KernelClass::kLaunchPerStep, line(launch->call),
            fmt::format("{} is launched inside the host loop of line {}", name, line(loop))};
  }
  if (!dots.empty()) {
    if (exps > 0 && running_max)
      return {KernelClass::kAttention, line(*dots.begin()), name + " multiplies around a softmax"};
    if (LooksLikeConvolution(trace))
      return {KernelClass::kConv, line(*dots.begin()),
              name + " multiplies at addresses that slide with two loop counters"};
    return {KernelClass::kGemm, line(*dots.begin()), name + " accumulates tl.dot"};
  }
  if (!trace.scalar_vector_products.empty() && LooksLikeConvolution(trace))
    return {KernelClass::kConv, line(trace.loops.front().node),
            name + " sums products at addresses that slide with two loop counters"};
  if (!trace.scalar_vector_products.empty())
    return {KernelClass::kGemm, line(trace.scalar_vector_products.front()),
            name + " accumulates products of a scalar and a vector"};
  if (!trace.reductions.empty())
    return {KernelClass::kReduction, line(trace.reductions.front().node),
            fmt::format("{} reduces with tl.{}", name, trace.reductions.front().op)};
  const bool accumulates = std::any_of(trace.loops.begin(), trace.loops.end(),
                                       [](const KernelLoop& l) { return !l.carried.empty(); });
  if (accumulates)
    return {KernelClass::kReduction, line(trace.loops.front().node), name + " accumulates over a loop"};
  if (calls("trans") + calls("permute") > 0)
    return {KernelClass::kOther, line(trace.kernel->function), name + " moves elements to other positions"};
  const bool stores = std::any_of(trace.accesses.begin(), trace.accesses.end(),
                                  [](const MemoryAccess& a) { return a.kind != MemoryAccess::Kind::kLoad; });
  if (stores)
    return {KernelClass::kElementwise, line(trace.kernel->function),
            name + " stores what it computed from the same position"};
  return {KernelClass::kOther, line(trace.kernel->function), name + " stores nothing that could be followed"};
}

Vote ClassifyCuda(const Candidate& candidate, const CudaUnit& unit, const CudaKernel& kernel) {
  const uint32_t line = candidate.source.PositionAt(unit.OuterStart(kernel.definition)).line;
  const std::string name(kernel.name);
  const CudaFlow& flow = kernel.flow;
  if ((kernel.grid_sync || kernel.cluster_sync) && !kernel.loops.empty())
    return {KernelClass::kPersistentRecurrent, line,
            name + (kernel.grid_sync ? " loops with a grid-wide barrier in each step"
                                     : " loops with a barrier of its cluster in each step")};
  for (const CudaAccess& store : flow.accesses) {
    // A step that writes its result inside the loop and reads results of earlier steps.
    if (!store.is_store || store.base.empty() || store.loops.empty() || !flow.accumulates_product) continue;
    const SyntaxNode* loop = store.loops.front();
    const bool through_memory =
        std::any_of(flow.accesses.begin(), flow.accesses.end(), [&](const CudaAccess& load) {
          return !load.is_store && load.base == store.base && !load.loops.empty() &&
                 load.loops.front() == loop;
        });
    const bool through_shared =
        std::any_of(kernel.events.begin(), kernel.events.end(), [&](const CudaEvent& event) {
          return event.kind == CudaEvent::Kind::kShared && event.access.is_write &&
                 event.access.node->start > loop->start && event.access.node->end < loop->end;
        });
    if (through_memory || through_shared)
      return {KernelClass::kPersistentRecurrent, candidate.source.PositionAt(unit.OuterStart(loop)).line,
              name + (through_memory ? " carries state through memory" : " carries state in shared memory") +
                  " from step to step"};
  }
  for (const CudaLaunch& launch : unit.launches)
    if (launch.kernel == kernel.name && launch.in_loop)
      return {KernelClass::kLaunchPerStep, candidate.source.PositionAt(unit.OuterStart(launch.node)).line,
              name + " is launched inside a host loop"};
  if (kernel.matrix_ops > 0) return {KernelClass::kGemm, line, name + " uses matrix instructions"};
  if (flow.accumulates_product)
    return {kernel.loops.size() >= 3 ? KernelClass::kConv : KernelClass::kGemm, line,
            name + " accumulates products of two arrays"};
  for (const CudaEvent& event : kernel.events)
    if (event.kind == CudaEvent::Kind::kShared && !event.access.is_write &&
        Contains(event.access.index, "-") && !kernel.loops.empty())
      return {KernelClass::kScan, line, name + " combines each element with those before it"};
  if (flow.accumulates)
    return {KernelClass::kReduction, line, name + " combines values across threads or iterations"};
  if (!kernel.shared_arrays.empty())
    return {KernelClass::kOther, line, name + " moves elements through shared memory"};
  return {KernelClass::kElementwise, line, name + " has neither accumulation nor shared memory"};
}

// If kernels differ, the class with the largest effect on speed decides.
int Weight(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::kPersistentRecurrent:
      return 9;
    case KernelClass::kLaunchPerStep:
      return 8;
    case KernelClass::kAttention:
      return 7;
    case KernelClass::kConv:
      return 6;
    case KernelClass::kGemm:
      return 5;
    case KernelClass::kScan:
      return 4;
    case KernelClass::kReduction:
      return 3;
    case KernelClass::kElementwise:
      return 2;
    case KernelClass::kOther:
      return 1;
    case KernelClass::kNone:
      return 0;
  }
  return 0;
}

}  // namespace

const char* KernelClassName(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::kPersistentRecurrent:
      return "persistent_recurrent";
    case KernelClass::kLaunchPerStep:
      return "launch_per_step";
    case KernelClass::kGemm:
      return "gemm";
    case KernelClass::kConv:
      return "conv";
    case KernelClass::kElementwise:
      return "elementwise";
    case KernelClass::kReduction:
      return "reduction";
    case KernelClass::kAttention:
      return "attention";
    case KernelClass::kScan:
      return "scan";
    case KernelClass::kOther:
      return "other";
    case KernelClass::kNone:
      return "none";
  }
  return "none";
}

bool IsRecurrence(const PyNode* loop, std::string_view name) {
  bool recurrent = false;
  bool fed_back = false;
  WalkPython(loop, [&](const PyNode* node) {
    if (node->Is(PyKind::kAugAssign) && node->target != nullptr && node->target->IsName(name)) {
      recurrent = recurrent || (node->op != "+" && node->op != "-");
      return true;
    }
    if (node->Is(PyKind::kAssign) && node->args.size() == 1 && node->args[0]->IsName(name)) {
      recurrent = recurrent || !IsSummation(node->value, name);
      return true;
    }
    if (node->Is(PyKind::kCall) &&
        (Callee(node) == "dot" || Callee(node) == "sum" || Callee(node) == "trans"))
      for (const PyNode* argument : node->args)
        fed_back = fed_back || (node->args.size() < 3 && Mentions(argument, name));
    return true;
  });
  if (!recurrent) return false;
  // The old value must affect the new one somewhere in the loop, directly or through other names.
  std::set<std::string_view> tainted = {name};
  for (int round = 0; round < 8; ++round) {
    WalkPython(loop, [&](const PyNode* node) {
      if (!node->Is(PyKind::kAssign) || node->args.size() != 1 || !node->args[0]->Is(PyKind::kName) ||
          node->value == nullptr)
        return true;
      const std::string_view target = node->args[0]->name;
      for (std::string_view source : std::set<std::string_view>(tainted))
        if (Mentions(node->value, source)) {
          if (target == name && (source != name || !IsSummation(node->value, name))) fed_back = true;
          if (tainted.size() < 48) tainted.insert(target);
        }
      return true;
    });
  }
  return fed_back;
}

bool CarriesState(const KernelTrace& trace, const KernelLoop& loop, std::string* how) {
  // Real kernels carry few names. The bound prevents quadratic time for generated ones.
  for (size_t i = 0; i < loop.carried.size() && i < 24; ++i) {
    const std::string& name = loop.carried[i];
    if (!IsRecurrence(loop.node, name)) continue;
    *how = name + " in registers";
    return true;
  }
  const auto inside = [&](const MemoryAccess& access) {
    return std::find(access.inside.begin(), access.inside.end(), loop.node) != access.inside.end();
  };
  for (const MemoryAccess& store : trace.accesses) {
    if (store.kind == MemoryAccess::Kind::kLoad || store.base.empty() || !inside(store)) continue;
    for (const MemoryAccess& load : trace.accesses) {
      if (load.kind != MemoryAccess::Kind::kLoad || load.base != store.base || !inside(load)) continue;
      *how = std::string(store.base) + " through memory";
      return true;
    }
  }
  return false;
}

KernelClass Classify(const Candidate& candidate, std::vector<Evidence>* evidence) {
  std::vector<Vote> votes;
  if (candidate.python != nullptr) {
    for (const KernelTrace& trace : candidate.python->traces) {
      if (trace.kernel->is_device_function && !trace.kernel->launched) continue;
      const Launch* launch = nullptr;
      for (const auto& other : candidate.python->kernels->launches())
        if (other->kernel == trace.kernel && (launch == nullptr || launch->host_loops.empty()))
          launch = other.get();
      votes.push_back(ClassifyTriton(candidate, trace, launch));
    }
  }
  for (const CudaUnit& unit : candidate.cuda)
    for (const CudaKernel& kernel : unit.kernels) votes.push_back(ClassifyCuda(candidate, unit, kernel));
  KernelClass best = KernelClass::kNone;
  for (const Vote& vote : votes)
    if (Weight(vote.kernel_class) > Weight(best)) best = vote.kernel_class;
  for (const Vote& vote : votes) evidence->push_back({vote.line, vote.what});
  std::stable_sort(evidence->begin(), evidence->end(),
                   [](const Evidence& a, const Evidence& b) { return a.line < b.line; });
  return best;
}

}  // namespace hone

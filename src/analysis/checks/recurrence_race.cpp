// recurrence-race: programs exchange state through memory inside a time loop without synchronisation.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/kernel_class.h"
#include "base/text.h"

namespace hone {

namespace {

// A loop that spins on an atomic or a volatile load, the only way in which programs can wait for each other.
const PyNode* SpinLoop(const KernelTrace& trace) {
  for (const MemoryAccess& access : trace.accesses) {
    if (access.kind != MemoryAccess::Kind::kAtomic) continue;
    for (const PyNode* loop : access.inside)
      if (loop->Is(PyKind::kWhile)) return loop;
  }
  const PyNode* found = nullptr;
  WalkPython(trace.kernel->function, [&](const PyNode* node) {
    if (node->Is(PyKind::kWhile) && node->test != nullptr)
      WalkPython(node->test, [&](const PyNode* part) {
        if (part->Is(PyKind::kCall) && part->value != nullptr && part->value->Is(PyKind::kAttribute) &&
            (StartsWith(part->value->name, "atomic_") || part->value->name == "load"))
          found = node;
        return true;
      });
    return true;
  });
  return found;
}

bool GridIsOneAlong(const Candidate& candidate, const Kernel* kernel, int axis) {
  for (const auto& launch : candidate.python->kernels->launches()) {
    if (launch->kernel != kernel) continue;
    const PyNode* grid = launch->grid;
    if (grid != nullptr && grid->Is(PyKind::kName)) {
      const std::vector<Binding>* bindings = candidate.python->scopes->Find(grid->name, grid);
      if (bindings != nullptr && bindings->size() == 1) grid = bindings->front().value;
    }
    if (grid != nullptr && grid->Is(PyKind::kLambda)) grid = grid->value;
    if (grid == nullptr || !(grid->Is(PyKind::kTuple) || grid->Is(PyKind::kList))) return false;
    if (static_cast<size_t>(axis) >= grid->args.size()) continue;
    if (!(candidate.python->values->Eval(grid->args[static_cast<size_t>(axis)]) == Constant::Int(1)))
      return false;
  }
  return true;
}

void CheckCudaKernel(const Candidate& candidate, const CudaUnit& unit, const CudaKernel& kernel,
                     FindingSink* sink) {
  const bool cooperative = Contains(*unit.text, "cudaLaunchCooperativeKernel") ||
                           Contains(*unit.text, "cudaLaunchAttributeCooperative") ||
                           Contains(*unit.text, "cuLaunchCooperativeKernel");
  if (kernel.grid_sync || kernel.flow.spin_loop != nullptr) {
    if (cooperative) return;
    const SyntaxNode* at = kernel.flow.spin_loop != nullptr ? kernel.flow.spin_loop : kernel.definition;
    sink->AddAt(unit.OuterStart(at), unit.OuterStart(at) + 1, Severity::kError,
                fmt::format("{} makes its blocks wait for each other, but it is not launched cooperatively, "
                            "so nothing keeps them all on the "
                            "device at once",
                            kernel.name),
                "Launch it with cudaLaunchCooperativeKernel and a grid that fits on the device.");
    return;
  }
  if (kernel.cluster_sync) return;
  for (const CudaAccess& store : kernel.flow.accesses) {
    if (!store.is_store || store.base.empty() || store.loops.empty() || !store.differs_by_block) continue;
    for (const CudaAccess& load : kernel.flow.accesses) {
      if (load.is_store || load.base != store.base || load.loops.empty() ||
          load.loops.front() != store.loops.front())
        continue;
      if (load.differs_by_block) continue;
      sink->AddAt(unit.OuterStart(store.node), unit.OuterEnd(store.node), Severity::kError,
                  fmt::format("{} stores its part of {} here and reads the parts of the other blocks in the "
                              "loop of line {}, with no barrier across "
                              "the grid: the result depends on timing",
                              kernel.name, store.base,
                              candidate.source.PositionAt(unit.OuterStart(store.loops.front())).line),
                  "Use cooperative_groups::this_grid().sync() with a cooperative launch, let one block own "
                  "the state, or launch once per step.");
      return;
    }
  }
}

std::string AxisName(int axis) {
  return fmt::format("program_id({})", axis);
}

}  // namespace

void CheckRecurrenceRace(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces) {
    const Kernel& kernel = *trace.kernel;
    if (!kernel.launched) continue;
    std::set<std::string_view> said;
    for (const MemoryAccess& store : trace.accesses) {
      if (store.kind != MemoryAccess::Kind::kStore || store.base.empty() || store.inside.empty() ||
          said.count(store.base) != 0)
        continue;
      for (const MemoryAccess& load : trace.accesses) {
        if (load.kind != MemoryAccess::Kind::kLoad || load.base != store.base || load.inside.empty())
          continue;
        if (!load.address_known || !store.address_known) continue;
        // Both must be in the same loop, whose iterations run one after the other.
        if (load.inside.front() != store.inside.front()) continue;
        // Programs along this axis write their own part and read a part that does not depend on the axis.
        const int exchanged = store.program_axes & ~load.program_axes;
        if (exchanged == 0) continue;
        const int axis = __builtin_ctz(static_cast<unsigned>(exchanged));
        if (GridIsOneAlong(candidate, &kernel, axis)) continue;
        const PyNode* loop = store.inside.front();
        if (const PyNode* spin = SpinLoop(trace)) {
          bool cooperative = false;
          for (const auto& launch : candidate.python->kernels->launches())
            cooperative = cooperative || (launch->kernel == &kernel &&
                                          launch->Argument("launch_cooperative_grid") != nullptr);
          if (!cooperative) {
            sink->Add(spin, Severity::kError,
                      fmt::format("{} makes its programs wait for each other, but nothing keeps all of them "
                                  "on the device at once",
                                  kernel.name),
                      "Launch with launch_cooperative_grid=True and no more programs than fit, or the wait "
                      "may never end.");
            said.insert(store.base);
          }
          break;
        }
        said.insert(store.base);
        sink->Add(store.node, Severity::kError,
                  fmt::format("{} stores its part of {} here and reads the parts of the other programs ({}) "
                              "in the loop of line {}, with no "
                              "barrier across the grid: the result depends on timing",
                              kernel.name, store.base, AxisName(axis), LineOf(candidate, loop)),
                  fmt::format("Let one program own everything that {} carries from step to step (drop {}), "
                              "or launch once per step.",
                              store.base, AxisName(axis)));
        break;
      }
    }
  }
  for (const CudaUnit& unit : candidate.cuda)
    for (const CudaKernel& kernel : unit.kernels) CheckCudaKernel(candidate, unit, kernel, sink);
}

}  // namespace hone

#include "analysis/facts.h"

#include <algorithm>
#include <set>

#include "analysis/check.h"
#include "analysis/extension_calls.h"
#include "analysis/kernel_class.h"
#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

OrderedJson Lines(const Candidate& candidate, const std::vector<const PyNode*>& nodes) {
  std::set<uint32_t> lines;
  for (const PyNode* node : nodes) lines.insert(LineOf(candidate, node));
  return OrderedJson(lines);
}

std::vector<int> Axes(uint8_t mask) {
  std::vector<int> out;
  for (int axis = 0; axis < 8; ++axis)
    if ((mask >> axis & 1) != 0) out.push_back(axis);
  return out;
}

// Memory that one loop both loads and stores, with the programs that access it.
OrderedJson SharedState(const KernelTrace& trace) {
  OrderedJson out = OrderedJson::array();
  std::set<std::string_view> seen;
  for (const MemoryAccess& store : trace.accesses) {
    if (store.kind == MemoryAccess::Kind::kLoad || store.base.empty() || store.inside.empty()) continue;
    for (const MemoryAccess& load : trace.accesses) {
      if (load.kind != MemoryAccess::Kind::kLoad || load.base != store.base || load.inside.empty()) continue;
      if (load.inside.front() != store.inside.front() || !seen.insert(store.base).second) continue;
      out.push_back({{"pointer", std::string(store.base)},
                     {"stored_by_program_axes", Axes(store.program_axes)},
                     {"loaded_by_program_axes", Axes(load.program_axes)}});
    }
  }
  return out;
}

OrderedJson KernelFacts(const Candidate& candidate, const KernelTrace& trace) {
  const Kernel& kernel = *trace.kernel;
  OrderedJson out;
  out["name"] = std::string(kernel.name);
  out["language"] = "triton";
  out["line"] = LineOf(candidate, kernel.function);
  out["launched"] = kernel.launched;
  out["device_function"] = kernel.is_device_function && !kernel.launched;
  std::vector<std::string> params;
  std::vector<std::string> constexprs;
  for (const KernelParam& param : kernel.params)
    (param.is_constexpr ? constexprs : params).emplace_back(param.name);
  out["parameters"] = params;
  out["constexpr_parameters"] = constexprs;
  OrderedJson axes = OrderedJson::object();
  for (const auto& [axis, uses] : trace.program_ids) {
    OrderedJson names = OrderedJson::array();
    for (const PyNode* use : uses)
      if (use->parent != nullptr && use->parent->Is(PyKind::kAssign) &&
          use->parent->args[0]->Is(PyKind::kName))
        names.push_back(std::string(use->parent->args[0]->name));
    axes[std::to_string(axis)] = {{"lines", Lines(candidate, uses)}, {"names", names}};
  }
  out["program_axes"] = axes;
  OrderedJson loops = OrderedJson::array();
  for (const KernelLoop& loop : trace.loops) {
    std::string how;
    const bool state = CarriesState(trace, loop, &how);
    loops.push_back({{"line", LineOf(candidate, loop.node)},
                     {"trip", loop.trip},
                     {"static", loop.is_static},
                     {"carried", loop.carried},
                     {"state", state ? how : ""}});
  }
  out["loops"] = loops;
  out["shared_state"] = SharedState(trace);
  std::vector<const PyNode*> dots;
  for (const DotUse& dot : trace.dots) dots.push_back(dot.node);
  out["dots"] = Lines(candidate, dots);
  out["scalar_vector_products"] = Lines(candidate, trace.scalar_vector_products);
  OrderedJson reductions = OrderedJson::array();
  for (const ReductionUse& use : trace.reductions)
    reductions.push_back({{"op", use.op}, {"line", LineOf(candidate, use.node)}});
  out["reductions"] = reductions;
  OrderedJson atomics = OrderedJson::array();
  OrderedJson loads = OrderedJson::array();
  OrderedJson stores = OrderedJson::array();
  int unmasked = 0;
  for (const MemoryAccess& access : trace.accesses) {
    const OrderedJson entry = {{"pointer", std::string(access.base)},
                               {"line", LineOf(candidate, access.node)},
                               {"masked", access.masked},
                               {"program_axes", Axes(access.program_axes)}};
    if (access.is_block && !access.masked) ++unmasked;
    if (access.kind == MemoryAccess::Kind::kLoad) loads.push_back(entry);
    if (access.kind == MemoryAccess::Kind::kStore) stores.push_back(entry);
    if (access.kind == MemoryAccess::Kind::kAtomic)
      atomics.push_back({{"op", access.op},
                         {"pointer", std::string(access.base)},
                         {"line", LineOf(candidate, access.node)}});
  }
  out["loads"] = loads;
  out["stores"] = stores;
  out["atomics"] = atomics;
  out["unmasked_accesses"] = unmasked;
  out["barriers"] = Lines(candidate, trace.barriers);
  out["scans"] = Lines(candidate, trace.scans);
  OrderedJson casts = OrderedJson::array();
  for (const CastUse& cast : trace.casts)
    casts.push_back({{"line", LineOf(candidate, cast.node)}, {"to", cast.to}, {"lowers", cast.lowers}});
  out["casts"] = casts;
  out["autotune_configs"] = kernel.configs.size();
  return out;
}

OrderedJson LaunchFacts(const Candidate& candidate, const Launch& launch, const LaunchResult* result) {
  OrderedJson out;
  out["kernel"] = std::string(launch.kernel->name);
  out["line"] = LineOf(candidate, launch.call);
  out["runs"] = launch.runs;
  const PyNode* grid = launch.grid;
  if (grid != nullptr && grid->Is(PyKind::kName)) {
    const std::vector<Binding>* bindings = candidate.python->scopes->Find(grid->name, grid);
    if (bindings != nullptr && bindings->size() == 1) {
      if (bindings->front().value != nullptr) grid = bindings->front().value;
      if (bindings->front().node->Is(PyKind::kFunction))
        for (const PyNode* statement : bindings->front().node->body)
          if (statement->Is(PyKind::kReturn)) grid = statement->value;
    }
  }
  if (grid != nullptr && grid->Is(PyKind::kLambda)) grid = grid->value;
  OrderedJson dimensions = OrderedJson::array();
  if (grid != nullptr && (grid->Is(PyKind::kTuple) || grid->Is(PyKind::kList)))
    for (const PyNode* dimension : grid->args)
      dimensions.push_back(std::string(TextOf(candidate, dimension)));
  out["grid"] = dimensions;
  out["cooperative"] = launch.Argument("launch_cooperative_grid") != nullptr;
  const PyNode* ctas = launch.Argument("num_ctas");
  out["cluster"] = launch.Argument("cluster_dims") != nullptr ||
                   (ctas != nullptr && !(candidate.python->values->Eval(ctas) == Constant::Int(1)));
  OrderedJson loops = OrderedJson::array();
  for (const PyNode* loop : launch.host_loops) {
    const PyNode* over = loop->Is(PyKind::kFor) ? loop->value : loop->test;
    loops.push_back({{"line", LineOf(candidate, loop)},
                     {"over", over != nullptr ? std::string(TextOf(candidate, over)) : ""}});
  }
  out["host_loops"] = loops;
  out["result_used"] = result == nullptr || result->used;
  return out;
}

OrderedJson CudaFacts(const Candidate& candidate, const CudaUnit& unit, const CudaKernel& kernel) {
  OrderedJson out;
  out["name"] = std::string(kernel.name);
  out["language"] = "cuda";
  out["line"] = candidate.source.PositionAt(unit.OuterStart(kernel.definition)).line;
  std::vector<int> axes;
  for (int axis = 0; axis < 3; ++axis)
    if (kernel.block_axes[axis]) axes.push_back(axis);
  out["block_axes"] = axes;
  std::vector<std::string> shared(kernel.shared_arrays.begin(), kernel.shared_arrays.end());
  out["shared_arrays"] = shared;
  out["barriers"] = kernel.barriers;
  out["grid_barrier"] = kernel.grid_sync;
  out["cluster_barrier"] = kernel.cluster_sync;
  out["atomics"] = kernel.atomics;
  out["matrix_instructions"] = kernel.matrix_ops;
  OrderedJson loops = OrderedJson::array();
  for (size_t i = 0; i < kernel.loops.size(); ++i)
    loops.push_back({{"line", candidate.source.PositionAt(unit.OuterStart(kernel.loops[i])).line},
                     {"condition", std::string(kernel.loop_conditions[i])}});
  out["loops"] = loops;
  OrderedJson loads = OrderedJson::array();
  OrderedJson stores = OrderedJson::array();
  OrderedJson shared_state = OrderedJson::array();
  std::set<std::string_view> seen;
  for (const CudaAccess& access : kernel.flow.accesses) {
    if (access.base.empty()) continue;
    (access.is_store ? stores : loads)
        .push_back({{"pointer", std::string(access.base)},
                    {"line", candidate.source.PositionAt(unit.OuterStart(access.node)).line},
                    {"differs_by_block", access.differs_by_block}});
    for (const CudaAccess& other : kernel.flow.accesses) {
      const bool same = access.is_store && !other.is_store && other.base == access.base;
      if (!same || access.loops.empty() || other.loops.empty() ||
          access.loops.front() != other.loops.front() || !seen.insert(access.base).second)
        continue;
      shared_state.push_back({{"pointer", std::string(access.base)},
                              {"stored_differs_by_block", access.differs_by_block},
                              {"loaded_differs_by_block", other.differs_by_block}});
    }
  }
  out["loads"] = loads;
  out["stores"] = stores;
  out["shared_state"] = shared_state;
  out["accumulates"] = kernel.flow.accumulates;
  return out;
}

// The code that the file compiles, guarded or not, through hone_ext or PyTorch's extensions.
OrderedJson CompileCalls(const Candidate& candidate) {
  static const std::set<std::string> kCompilers = {"hone_ext.cpp", "hone_ext.cuda",
                                                   "torch.utils.cpp_extension.load",
                                                   "torch.utils.cpp_extension.load_inline"};
  OrderedJson out = OrderedJson::array();
  for (const PyNode* call : candidate.python->scopes->calls()) {
    const std::string name = candidate.python->scopes->Resolve(call->value);
    if (kCompilers.count(name) != 0 && !IsDead(call))
      out.push_back({{"with", name}, {"line", LineOf(candidate, call)}});
  }
  return out;
}

}  // namespace

OrderedJson CollectFacts(const Candidate& candidate) {
  OrderedJson out;
  OrderedJson kernels = OrderedJson::array();
  OrderedJson launches = OrderedJson::array();
  OrderedJson library = OrderedJson::array();
  OrderedJson functions = OrderedJson::array();
  OrderedJson casts = OrderedJson::array();
  if (candidate.python != nullptr) {
    for (const KernelTrace& trace : candidate.python->traces)
      kernels.push_back(KernelFacts(candidate, trace));
    for (const auto& launch : candidate.python->kernels->launches()) {
      const LaunchResult* result = nullptr;
      for (const LaunchResult& other : candidate.python->flow.launches)
        if (other.launch == launch.get()) result = &other;
      launches.push_back(LaunchFacts(candidate, *launch, result));
    }
    for (const LibraryCall& call : candidate.python->flow.library_calls)
      library.push_back({{"name", call.name},
                         {"line", LineOf(candidate, call.node)},
                         {"heavy", call.heavy},
                         {"reaches_output", call.reaches_output},
                         {"in_loop", call.in_loop}});
    for (const HostCast& cast : candidate.python->flow.casts)
      casts.push_back({{"line", LineOf(candidate, cast.node)}, {"to", cast.to}});
    out["compiles"] = CompileCalls(candidate);
    for (const PyNode* function : candidate.python->flow.host_functions)
      functions.push_back({{"name", std::string(function->name)}, {"line", LineOf(candidate, function)}});
  }
  for (const CudaUnit& unit : candidate.cuda) {
    for (const CudaKernel& kernel : unit.kernels) kernels.push_back(CudaFacts(candidate, unit, kernel));
    for (std::string_view call : unit.library_calls)
      library.push_back({{"name", std::string(call)}, {"heavy", true}});
  }
  const std::vector<CudaLaunchResult> cuda = CudaLaunchResults(candidate);
  for (const CudaLaunchResult& result : cuda)
    launches.push_back(
        {{"kernel", std::string(result.launch->kernel)},
         {"line", candidate.source.PositionAt(result.unit->OuterStart(result.launch->node)).line},
         {"grid", OrderedJson::array({std::string(result.launch->grid)})},
         {"block", std::string(result.launch->block)},
         {"in_host_loop", result.launch->in_loop},
         {"checked", result.launch->checked},
         {"cooperative", result.launch->cooperative},
         {"cluster", result.launch->cluster},
         {"result_used", result.used}});
  OrderedJson extensions = OrderedJson::array();
  for (const ExtensionCall& call : ExtensionCalls(candidate, cuda))
    extensions.push_back({{"function", std::string(call.function)},
                          {"kernel", std::string(call.kernel)},
                          {"line", LineOf(candidate, call.node)},
                          {"result_used", call.used}});
  out["extension_calls"] = extensions;
  out["kernels"] = kernels;
  out["launches"] = launches;
  out["library_calls"] = library;
  out["host_functions"] = functions;
  out["host_casts"] = casts;
  return out;
}

}  // namespace hone

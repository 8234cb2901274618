// Launches: where kernels are started, and which expression each parameter gets. See kernels.h.
#include <algorithm>

#include "analysis/kernels.h"
#include "base/text.h"

namespace hone {

bool IsLaunchOption(std::string_view name) {
  static const std::set<std::string_view> kOptions = {"num_warps",
                                                      "num_stages",
                                                      "num_ctas",
                                                      "maxnreg",
                                                      "grid",
                                                      "warmup",
                                                      "stream",
                                                      "device",
                                                      "device_type",
                                                      "debug",
                                                      "extern_libs",
                                                      "enable_fp_fusion",
                                                      "launch_cooperative_grid",
                                                      "launch_pdl",
                                                      "cluster_dims",
                                                      "ptx_version",
                                                      "enable_warp_specialization",
                                                      "num_buffers_warp_spec",
                                                      "num_consumer_groups",
                                                      "reg_dec_producer",
                                                      "reg_inc_consumer",
                                                      "waves_per_eu",
                                                      "matrix_instr_nonkdim",
                                                      "kpack",
                                                      "allow_fp8e4nv",
                                                      "supported_fp8_dtypes",
                                                      "default_dot_input_precision",
                                                      "allowed_dot_input_precisions",
                                                      "max_num_imprecise_acc_default",
                                                      "backend_name",
                                                      "sanitize_overflow",
                                                      "arch",
                                                      "ptx_options",
                                                      "ir_override",
                                                      "instrumentation_mode",
                                                      "schedule_hint",
                                                      "allow_flush_denorm",
                                                      "noinline",
                                                      "optimize_epilogue",
                                                      "warp_size",
                                                      "disable_line_info",
                                                      "early_inline"};
  return kOptions.count(name) != 0;
}

const PyNode* Launch::Argument(std::string_view param) const {
  for (const LaunchArgument& argument : arguments)
    if (argument.param == param || (argument.param.empty() && argument.keyword == param))
      return argument.value;
  return nullptr;
}

void Kernels::CollectLaunches() {
  for (const PyNode* call : scopes_.calls()) {
    const PyNode* callee = call->value;
    if (callee != nullptr && callee->Is(PyKind::kName)) {
      // launch = kernel[grid]; launch(...)
      const std::vector<Binding>* bindings = scopes_.Find(callee->name, callee);
      if (bindings != nullptr && bindings->size() == 1 && bindings->front().value != nullptr)
        callee = bindings->front().value;
    }
    if (callee == nullptr || !callee->Is(PyKind::kSubscript)) continue;
    Kernel* kernel = Resolve(callee->value);
    if (kernel == nullptr) continue;
    auto launch = std::make_unique<Launch>();
    launch->call = call;
    launch->grid = callee->target;
    launch->kernel = kernel;
    launch->runs = scopes_.Runs(call);
    launch->conditional = IsConditional(call);
    kernel->launched = kernel->launched || launch->runs;
    for (const PyNode* at = call->parent; at != nullptr && !at->Is(PyKind::kFunction); at = at->parent)
      if (at->Is(PyKind::kFor) || at->Is(PyKind::kWhile)) launch->host_loops.push_back(at);
    BindArguments(launch.get());
    launches_.push_back(std::move(launch));
  }
}

// options["X"] = 1 or options.update(...): the dictionary has more entries than its literal.
bool Kernels::IsChanged(const PyNode* name) const {
  bool changed = false;
  WalkPython(scopes_.ScopeOf(name), [&](const PyNode* node) {
    if (node->Is(PyKind::kAssign) && !node->args.empty() && node->args[0]->Is(PyKind::kSubscript) &&
        node->args[0]->value != nullptr)
      changed = changed || node->args[0]->value->IsName(name->name);
    if (node->Is(PyKind::kAttribute) && node->value != nullptr && node->value->IsName(name->name))
      changed = changed || node->name == "update" || node->name == "setdefault" || node->name == "pop";
    return !changed;
  });
  return changed;
}

// **options with a dictionary literal in the file: each entry is an argument.
bool Kernels::BindDictionary(const PyNode* expression, Launch* launch, std::set<std::string_view>* bound,
                             int depth) const {
  if (expression == nullptr || depth > 4) return false;
  std::vector<std::pair<std::string_view, const PyNode*>> entries;
  if (expression->Is(PyKind::kDict)) {
    for (size_t i = 0; i < expression->keys.size() && i < expression->args.size(); ++i) {
      if (expression->keys[i] == nullptr || !expression->keys[i]->Is(PyKind::kString)) return false;
      entries.emplace_back(expression->keys[i]->string, expression->args[i]);
    }
  } else if (expression->Is(PyKind::kCall) && expression->value != nullptr &&
             expression->value->IsName("dict") && expression->args.empty()) {
    for (const PyNode* keyword : expression->keywords) {
      if (keyword->name.empty()) return false;
      entries.emplace_back(keyword->name, keyword->value);
    }
  } else if (expression->Is(PyKind::kName)) {
    const std::vector<Binding>* bindings = scopes_.Find(expression->name, expression);
    if (bindings == nullptr || bindings->size() != 1 || IsChanged(expression)) return false;
    return BindDictionary(bindings->front().value, launch, bound, depth + 1);
  } else {
    return false;
  }
  for (const auto& [key, value] : entries) {
    const KernelParam* param = launch->kernel->Param(key);
    launch->arguments.push_back({param != nullptr ? param->name : std::string_view(), key, value});
    if (param != nullptr) bound->insert(param->name);
  }
  return true;
}

void Kernels::BindArguments(Launch* launch) {
  const Kernel& kernel = *launch->kernel;
  if (kernel.wrapped) launch->complete = false;
  std::set<std::string_view> bound;
  size_t next = 0;
  for (const PyNode* argument : launch->call->args) {
    if (argument->Is(PyKind::kStarred)) {
      launch->complete = false;
      break;
    }
    if (next >= kernel.params.size()) {
      ++launch->surplus_positional;
      continue;
    }
    const std::string_view name = kernel.params[next++].name;
    bound.insert(name);
    launch->arguments.push_back({name, "", argument});
  }
  for (const PyNode* keyword : launch->call->keywords) {
    if (keyword->name.empty()) {
      if (!BindDictionary(keyword->value, launch, &bound, 0)) launch->complete = false;
      continue;
    }
    const KernelParam* param = kernel.Param(keyword->name);
    launch->arguments.push_back(
        {param != nullptr ? param->name : std::string_view(), keyword->name, keyword->value});
    if (param == nullptr && !IsLaunchOption(keyword->name)) launch->unknown.push_back(keyword);
    if (param != nullptr && !bound.insert(param->name).second) launch->duplicate.push_back(keyword);
  }
  for (const KernelParam& param : kernel.params) {
    if (bound.count(param.name) != 0 || param.node->value != nullptr || !param.node->op.empty()) continue;
    if (kernel.supplied.count(std::string(param.name)) != 0) continue;
    launch->missing.emplace_back(param.name);
  }
}

void Kernels::MarkDeviceFunctions() {
  // Each round follows calls one level deeper.
  bool changed = true;
  for (int depth = 0; changed && depth < 16; ++depth) {
    changed = false;
    for (const auto& kernel : kernels_) {
      if (!kernel->runs()) continue;
      WalkPython(kernel->function, [&](const PyNode* node) {
        if (!node->Is(PyKind::kName)) return true;
        Kernel* callee = Resolve(node);
        if (callee != nullptr && callee != kernel.get() && !callee->runs()) {
          callee->is_device_function = true;
          changed = true;
        }
        return true;
      });
    }
  }
}

}  // namespace hone

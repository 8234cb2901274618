#include "analysis/kernels.h"

#include <algorithm>

#include "base/text.h"

namespace hone {

namespace {

bool IsJit(const std::string& dotted) {
  return dotted == "triton.jit" || dotted == "triton.runtime.jit.jit";
}
bool IsAutotune(const std::string& dotted) {
  return dotted == "triton.autotune" || dotted == "triton.runtime.autotuner.autotune";
}
bool IsHeuristics(const std::string& dotted) {
  return dotted == "triton.heuristics" || dotted == "triton.runtime.autotuner.heuristics";
}

const PyNode* DecoratorCallee(const PyNode* decorator) {
  return decorator->Is(PyKind::kCall) ? decorator->value : decorator;
}

// The returned expression of a function with a single return.
const PyNode* OnlyReturn(const PyNode* function) {
  const PyNode* found = nullptr;
  int count = 0;
  WalkPython(function, [&](const PyNode* node) {
    if (node != function && (node->Is(PyKind::kFunction) || node->Is(PyKind::kLambda))) return false;
    if (node->Is(PyKind::kReturn)) {
      found = node->value;
      ++count;
    }
    return true;
  });
  return count == 1 ? found : nullptr;
}

bool IsConstexprAnnotation(const Scopes& scopes, const PyNode* annotation) {
  if (annotation == nullptr) return false;
  if (annotation->Is(PyKind::kString)) return Contains(annotation->string, "constexpr");
  return EndsWith(scopes.Resolve(annotation), "constexpr");
}

}  // namespace

const KernelParam* Kernel::Param(std::string_view param) const {
  for (const KernelParam& p : params)
    if (p.name == param) return &p;
  return nullptr;
}

Kernels::Kernels(const Scopes& scopes, const HostValues& values) : scopes_(scopes), values_(values) {
  CollectKernels();
  CollectLaunches();
  MarkDeviceFunctions();
}

void Kernels::CollectKernels() {
  for (const PyNode* function : scopes_.functions()) {
    const PyNode* jit = nullptr;
    bool tuned = false;
    for (const PyNode* decorator : function->decorators) {
      const std::string dotted = scopes_.Resolve(DecoratorCallee(decorator));
      if (IsJit(dotted)) jit = decorator;
      if (IsAutotune(dotted) || IsHeuristics(dotted)) {
        tuned = true;
        // Decorators apply from bottom to top, so one that wraps a kernel must be above jit.
        if (jit != nullptr) misdecorated_.push_back(decorator);
      }
    }
    if (jit != nullptr) AddKernel(function, jit);
    if (jit == nullptr && tuned) misdecorated_.push_back(function->decorators.front());
  }
  for (const PyNode* call : scopes_.calls()) {
    if (call->args.size() != 1 || !IsJit(scopes_.Resolve(call->value)) || !call->args[0]->Is(PyKind::kName))
      continue;
    const std::vector<Binding>* bindings = scopes_.Find(call->args[0]->name, call);
    if (bindings == nullptr) continue;
    for (const Binding& binding : *bindings)
      if (binding.node->Is(PyKind::kFunction) && OfFunction(binding.node) == nullptr)
        AddKernel(binding.node, call);
  }
}

void Kernels::AddKernel(const PyNode* function, const PyNode* jit) {
  auto kernel = std::make_unique<Kernel>();
  kernel->function = function;
  kernel->name = function->name;
  kernel->jit = jit;
  for (const PyNode* param : function->params)
    kernel->params.push_back({param->name, param, IsConstexprAnnotation(scopes_, param->annotation)});
  for (const PyNode* decorator : function->decorators) {
    const std::string any = scopes_.Resolve(DecoratorCallee(decorator));
    const bool harmless = any == "staticmethod" || any == "classmethod";
    if (!IsJit(any) && !IsAutotune(any) && !IsHeuristics(any) && !harmless) kernel->wrapped = true;
    if (!decorator->Is(PyKind::kCall)) continue;
    const std::string dotted = scopes_.Resolve(decorator->value);
    if (IsAutotune(dotted)) ReadAutotune(kernel.get(), decorator);
    if (IsHeuristics(dotted)) {
      kernel->heuristics = decorator;
      const PyNode* table = decorator->args.empty() ? decorator->Keyword("values") : decorator->args[0];
      if (table != nullptr && table->Is(PyKind::kDict)) {
        for (const PyNode* key : table->keys)
          if (key != nullptr && key->Is(PyKind::kString)) kernel->supplied.insert(key->string);
      } else {
        kernel->configs_known = false;
      }
    }
  }
  kernels_.push_back(std::move(kernel));
}

void Kernels::ReadAutotune(Kernel* kernel, const PyNode* call) {
  kernel->autotune = call;
  kernel->configs_pruned = kernel->configs_pruned || call->Keyword("prune_configs_by") != nullptr;
  const PyNode* configs = call->Keyword("configs");
  if (configs == nullptr && !call->args.empty()) configs = call->args[0];
  if (configs == nullptr)
    kernel->configs_known = false;
  else
    ReadConfigs(kernel, configs, 0);
  for (const TuneConfig& config : kernel->configs)
    for (const auto& [key, value] : config.values) kernel->supplied.insert(key);
}

void Kernels::ReadConfigs(Kernel* kernel, const PyNode* expression, int depth) {
  if (expression == nullptr || depth > 6 || kernel->configs.size() > 256) {
    kernel->configs_known = false;
    return;
  }
  if (expression->Is(PyKind::kList) || expression->Is(PyKind::kTuple)) {
    for (const PyNode* item : expression->args)
      ReadConfigs(kernel, item->Is(PyKind::kStarred) ? item->value : item, depth + 1);
    return;
  }
  if (expression->Is(PyKind::kComprehension)) {
    kernel->configs_pruned = true;
    if (expression->value != nullptr && expression->value->Is(PyKind::kCall))
      ReadConfig(kernel, expression->value, true);
    else
      kernel->configs_known = false;
    return;
  }
  if (expression->Is(PyKind::kBinOp) && expression->op == "+") {
    ReadConfigs(kernel, expression->left, depth + 1);
    ReadConfigs(kernel, expression->right, depth + 1);
    return;
  }
  if (expression->Is(PyKind::kName)) {
    const std::vector<Binding>* bindings = scopes_.Find(expression->name, expression);
    if (bindings != nullptr && bindings->size() == 1 && bindings->front().value != nullptr) {
      ReadConfigs(kernel, bindings->front().value, depth + 1);
      ReadAppended(kernel, expression, depth);
      return;
    }
  }
  if (expression->Is(PyKind::kCall) && expression->value != nullptr) {
    const std::string dotted = scopes_.Resolve(expression->value);
    if (dotted == "triton.Config" || dotted == "triton.runtime.autotuner.Config") {
      ReadConfig(kernel, expression, false);
      return;
    }
    if (expression->value->Is(PyKind::kName)) {
      const std::vector<const PyNode*> functions = scopes_.FunctionsNamed(expression->value->name);
      const PyNode* returned = functions.size() == 1 ? OnlyReturn(functions[0]) : nullptr;
      if (returned != nullptr) {
        ReadConfigs(kernel, returned, depth + 1);
        return;
      }
    }
  }
  kernel->configs_known = false;
}

// configs = []; ... configs.append(triton.Config(...)): the number of calls is unknown, but the keys are
// known.
void Kernels::ReadAppended(Kernel* kernel, const PyNode* list, int depth) {
  const PyNode* scope = scopes_.ScopeOf(list);
  for (const PyNode* call : scopes_.calls()) {
    const PyNode* callee = call->value;
    if (callee == nullptr || !callee->Is(PyKind::kAttribute) || callee->value == nullptr ||
        !callee->value->IsName(list->name))
      continue;
    if (scopes_.ScopeOf(call) != scope || call->args.size() != 1) continue;
    if (callee->name != "append") {
      kernel->configs_known = false;
      continue;
    }
    kernel->configs_pruned = true;
    if (call->args[0]->Is(PyKind::kCall) && EndsWith(scopes_.Resolve(call->args[0]->value), "Config"))
      ReadConfig(kernel, call->args[0], true);
    else
      ReadConfigs(kernel, call->args[0], depth + 1);
  }
}

void Kernels::ReadConfig(Kernel* kernel, const PyNode* call, bool in_comprehension) {
  TuneConfig config;
  config.node = call;
  const PyNode* table = call->args.empty() ? call->Keyword("kwargs") : call->args[0];
  if (table != nullptr && table->Is(PyKind::kDict)) {
    for (size_t i = 0; i < table->keys.size() && i < table->args.size(); ++i) {
      if (table->keys[i] == nullptr || !table->keys[i]->Is(PyKind::kString)) {
        config.keys_known = false;
        continue;
      }
      config.values[table->keys[i]->string] = in_comprehension ? Constant() : values_.Eval(table->args[i]);
    }
  } else if (table != nullptr && table->Is(PyKind::kCall) && table->value != nullptr &&
             table->value->IsName("dict")) {
    for (const PyNode* keyword : table->keywords)
      config.values[std::string(keyword->name)] =
          in_comprehension ? Constant() : values_.Eval(keyword->value);
  } else {
    config.keys_known = false;
  }
  const PyNode* warps = call->Keyword("num_warps");
  const PyNode* stages = call->Keyword("num_stages");
  if (warps == nullptr && call->args.size() > 1) warps = call->args[1];
  if (stages == nullptr && call->args.size() > 2) stages = call->args[2];
  config.num_warps = warps == nullptr   ? Constant::Int(4)
                     : in_comprehension ? Constant()
                                        : values_.Eval(warps);
  config.num_stages = stages == nullptr  ? Constant::Int(3)
                      : in_comprehension ? Constant()
                                         : values_.Eval(stages);
  if (!config.keys_known) kernel->configs_known = false;
  kernel->configs.push_back(std::move(config));
}

Kernel* Kernels::OfFunction(const PyNode* function) const {
  for (const auto& kernel : kernels_)
    if (kernel->function == function) return kernel.get();
  return nullptr;
}

Kernel* Kernels::Resolve(const PyNode* expression, int depth) const {
  if (expression == nullptr || depth > 6) return nullptr;
  const std::vector<Binding>* bindings = nullptr;
  std::vector<Binding> attribute_bindings;
  if (expression->Is(PyKind::kName)) {
    bindings = scopes_.Find(expression->name, expression);
  } else if (expression->Is(PyKind::kAttribute) && expression->value != nullptr &&
             expression->value->Is(PyKind::kName)) {
    const bool on_self = expression->value->IsName("self") || expression->value->IsName("cls");
    const PyNode* owner = on_self ? EnclosingClass(expression) : scopes_.ClassNamed(expression->value->name);
    if (owner == nullptr) return nullptr;
    attribute_bindings = scopes_.AttributeBindings(owner, expression->name);
    for (const PyNode* statement : owner->body)
      if (statement->Is(PyKind::kFunction) && statement->name == expression->name)
        attribute_bindings.push_back({statement, nullptr});
    bindings = &attribute_bindings;
  } else if (expression->Is(PyKind::kCall)) {
    if (Kernel* wrapped = expression->args.size() == 1 && IsJit(scopes_.Resolve(expression->value))
                              ? Resolve(expression->args[0], depth + 1)
                              : nullptr)
      return wrapped;
    // A factory: def make(): @triton.jit def k(...): ...; return k
    if (expression->value == nullptr || !expression->value->Is(PyKind::kName)) return nullptr;
    const std::vector<const PyNode*> functions = scopes_.FunctionsNamed(expression->value->name);
    return functions.size() == 1 ? Resolve(OnlyReturn(functions[0]), depth + 1) : nullptr;
  }
  if (bindings == nullptr || bindings->empty()) return nullptr;
  // The last definition wins. A name that sometimes has another value is not followed.
  Kernel* found = nullptr;
  for (const Binding& binding : *bindings) {
    Kernel* kernel =
        binding.node->Is(PyKind::kFunction) ? OfFunction(binding.node) : Resolve(binding.value, depth + 1);
    if (kernel == nullptr) return nullptr;
    found = kernel;
  }
  return found;
}

}  // namespace hone

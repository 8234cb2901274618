// input-modified: forward writes into a tensor that belongs to the caller.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

namespace {

// The parameter of forward behind an expression, possibly through views; "" for a new tensor.
std::string_view InputBehind(const Scopes& scopes, const PyNode* forward, std::string_view name,
                             const PyNode* at, int depth) {
  if (name.empty() || depth > 6) return {};
  const PyNode* scope = nullptr;
  const std::vector<Binding>* bindings = scopes.Find(name, at, &scope);
  if (bindings == nullptr || scope != forward) return {};
  for (const Binding& binding : *bindings) {
    if (binding.node->Is(PyKind::kParam)) {
      if (bindings->size() == 1) return name == "self" ? std::string_view() : name;
      continue;
    }
    // x = x.view(...) is still the caller's memory. x = x.contiguous() usually is too, but not always, so it
    // does not count.
    if (bindings->size() != 1 || binding.value == nullptr) return {};
    bool view_only = binding.value->Is(PyKind::kName) || binding.value->Is(PyKind::kSubscript);
    if (binding.value->Is(PyKind::kCall) && binding.value->value != nullptr &&
        binding.value->value->Is(PyKind::kAttribute)) {
      const std::string_view method = binding.value->value->name;
      view_only = method == "view" || method == "squeeze" || method == "unsqueeze" || method == "transpose" ||
                  method == "permute" || method == "t";
    }
    return view_only ? InputBehind(scopes, forward, RootVariable(binding.value), binding.value, depth + 1)
                     : std::string_view();
  }
  return {};
}

bool IsForward(const PyNode* function) {
  return function != nullptr && function->Is(PyKind::kFunction) && function->name == "forward" &&
         function->parent != nullptr && function->parent->Is(PyKind::kClass);
}

// A helper's parameter counts if forward passes its own input directly.
std::string_view CallerInput(const Candidate& candidate, const PyNode* function, std::string_view param) {
  const Scopes& scopes = *candidate.python->scopes;
  for (const PyNode* call : scopes.calls()) {
    const PyNode* caller = EnclosingFunction(call);
    if (!IsForward(caller) || call->value == nullptr || !call->value->IsName(function->name)) continue;
    for (size_t i = 0; i < call->args.size() && i < function->params.size(); ++i)
      if (function->params[i]->name == param)
        if (const std::string_view input =
                InputBehind(scopes, caller, RootVariable(call->args[i]), call->args[i], 0);
            !input.empty())
          return input;
  }
  return {};
}

}  // namespace

void CheckInputModified(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const Scopes& scopes = *candidate.python->scopes;
  std::set<std::string_view> said;
  for (const auto& launch : candidate.python->kernels->launches()) {
    const PyNode* function = EnclosingFunction(launch->call);
    const KernelTrace* trace = candidate.TraceOf(launch->kernel);
    if (function == nullptr || trace == nullptr || !launch->runs) continue;
    bool complete = true;
    for (std::string_view param : StoredParams(*trace, &complete)) {
      const PyNode* argument = launch->Argument(param);
      if (argument == nullptr) continue;
      const std::string_view own = InputBehind(scopes, function, RootVariable(argument), argument, 0);
      const std::string_view input = IsForward(function) ? own
                                     : own.empty()       ? own
                                                         : CallerInput(candidate, function, own);
      if (input.empty() || !said.insert(input).second) continue;
      sink->Add(argument, Severity::kWarning,
                fmt::format("{} stores into {}, which is {} of forward: the caller's tensor changes",
                            launch->kernel->name, param, input),
                fmt::format("Write into torch.empty_like({}) instead, or clone it first.", input));
    }
  }
  for (const PyNode* function : candidate.python->flow.host_functions) {
    if (!IsForward(function)) continue;
    WalkPython(function, [&](const PyNode* node) {
      // In-place methods of torch end in a single underscore.
      if (node->Is(PyKind::kCall) && node->value != nullptr && node->value->Is(PyKind::kAttribute) &&
          EndsWith(node->value->name, "_") && !EndsWith(node->value->name, "__") &&
          node->value->name != "requires_grad_") {
        const std::string_view input =
            InputBehind(scopes, function, RootVariable(node->value->value), node, 0);
        if (!input.empty() && said.insert(input).second)
          sink->Add(node, Severity::kWarning,
                    fmt::format("{} changes {} of forward in place", TextOf(candidate, node->value), input),
                    fmt::format("Work on a copy: {}.clone().", input));
      }
      if (node->Is(PyKind::kAssign) && !node->args.empty() && node->args[0]->Is(PyKind::kSubscript)) {
        const std::string_view input = InputBehind(scopes, function, RootVariable(node->args[0]), node, 0);
        if (!input.empty() && said.insert(input).second)
          sink->Add(node, Severity::kWarning, fmt::format("forward assigns into its input {}", input),
                    fmt::format("Work on a copy: {}.clone().", input));
      }
      return true;
    });
  }
}

}  // namespace hone

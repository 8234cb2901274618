// weights-not-transferable: parameters that the reference's state_dict cannot fill.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

namespace {

struct Parameter {
  std::string name;   // "gru" for a module, "weight" for a parameter
  std::string type;   // "nn.Linear" or "nn.Parameter"
  std::string shape;  // the constructor's arguments as written, without spaces
  const PyNode* node = nullptr;
};

std::vector<Parameter> Parameters(const PythonUnit& unit, std::string_view source,
                                  std::string_view class_name) {
  std::vector<Parameter> out;
  const PyNode* model = unit.scopes->ClassNamed(class_name);
  if (model == nullptr) return out;
  WalkPython(model, [&](const PyNode* node) {
    if (!node->Is(PyKind::kAssign) || node->args.size() != 1 || node->value == nullptr ||
        !node->value->Is(PyKind::kCall))
      return true;
    const PyNode* target = node->args[0];
    if (!target->Is(PyKind::kAttribute) || target->value == nullptr || !target->value->IsName("self"))
      return true;
    const std::string made = unit.scopes->Resolve(node->value->value);
    if (!StartsWith(made, "torch.nn.")) return true;
    Parameter parameter;
    parameter.name = std::string(target->name);
    parameter.type = "nn." + made.substr(made.rfind('.') + 1);
    parameter.node = node;
    for (const PyNode* argument : node->value->args)
      for (char c : source.substr(argument->start, argument->end - argument->start))
        if (c != ' ') parameter.shape += c;
    out.push_back(std::move(parameter));
    return true;
  });
  return out;
}

bool HasState(const std::string& type) {
  static const std::set<std::string_view> kStateless = {"nn.ReLU",      "nn.Tanh",
                                                        "nn.Sigmoid",   "nn.GELU",
                                                        "nn.SiLU",      "nn.Softmax",
                                                        "nn.Dropout",   "nn.MaxPool1d",
                                                        "nn.MaxPool2d", "nn.MaxPool3d",
                                                        "nn.AvgPool1d", "nn.AvgPool2d",
                                                        "nn.AvgPool3d", "nn.AdaptiveAvgPool2d",
                                                        "nn.Identity",  "nn.Flatten",
                                                        "nn.LeakyReLU", "nn.Hardtanh",
                                                        "nn.Softplus",  "nn.Mish",
                                                        "nn.ELU",       "nn.Hardswish"};
  return kStateless.count(type) == 0;
}

}  // namespace

void CheckWeightsNotTransferable(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr || candidate.task == nullptr) return;
  const PyNode* model = candidate.python->scopes->ClassNamed("ModelNew");
  if (model == nullptr) return;
  // A candidate with its own layout says how to fill it.
  for (const PyNode* method : model->body)
    if (method->Is(PyKind::kFunction) &&
        (method->name == "load_reference" || method->name == "load_state_dict" ||
         method->name == "_load_from_state_dict"))
      return;
  const std::vector<Parameter> reference = Parameters(*candidate.task, candidate.options.task_text, "Model");
  const std::vector<Parameter> own = Parameters(*candidate.python, candidate.source.text(), "ModelNew");
  for (const Parameter& parameter : own) {
    if (!HasState(parameter.type)) continue;
    const Parameter* same = nullptr;
    for (const Parameter& other : reference)
      if (other.name == parameter.name) same = &other;
    if (same == nullptr) {
      sink->Add(parameter.node, Severity::kWarning,
                fmt::format("the reference has no parameter called {}, so its weights cannot be copied",
                            parameter.name),
                "Use the reference's names, or define load_reference(self, state_dict).");
    } else if (same->type == parameter.type && same->shape != parameter.shape &&
               parameter.type == "nn.Parameter") {
      sink->Add(
          parameter.node, Severity::kWarning,
          fmt::format("{} is made differently in the reference: its shape may not match", parameter.name),
          "Keep the reference's shape, or define load_reference(self, state_dict).");
    }
  }
  for (const Parameter& parameter : reference) {
    if (!HasState(parameter.type)) continue;
    bool found = false;
    for (const Parameter& other : own) found = found || other.name == parameter.name;
    if (!found)
      sink->Add(model, Severity::kWarning,
                fmt::format("ModelNew has nothing called {}, which the reference's weights are for",
                            parameter.name),
                fmt::format("Define self.{}, or define load_reference(self, state_dict).", parameter.name));
  }
}

}  // namespace hone

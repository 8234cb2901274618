// weights-not-transferable: parameters that the reference's state_dict cannot fill.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/inheritance.h"
#include "analysis/state_dict.h"

namespace hone {

namespace {

constexpr std::string_view kUseItsNames =
    "Use the reference's names, or define load_reference(self, state_dict).";

bool CannotMatch(const StateEntry& a, const StateEntry& b) {
  if (!a.shape_known || !b.shape_known) return false;
  return a.shape.size() != b.shape.size() ||
         !std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(),
                     [](int64_t x, int64_t y) { return x == y || x < 0 || y < 0; });
}

bool IsOpaque(const StateDict& state, std::string_view attribute) {
  return std::any_of(state.opaque.begin(), state.opaque.end(),
                     [&](const auto& pair) { return pair.first == attribute; });
}

void CheckOwn(const StateDict& own, const StateDict& reference, FindingSink* sink) {
  std::set<std::string_view> said;
  const auto missing = [&](std::string_view name, std::string_view attribute, const PyNode* node) {
    if (said.insert(attribute).second)
      sink->Add(
          node, Severity::kWarning,
          fmt::format("the reference has no parameter called {}, so its weights cannot be copied", name),
          std::string(kUseItsNames));
  };
  for (const auto& [attribute, node] : own.opaque)
    if (!reference.Has(attribute)) missing(attribute, attribute, node);
  for (const StateEntry& entry : own.entries) {
    if (IsOpaque(reference, entry.attribute)) continue;
    const StateEntry* same = reference.Find(entry.name);
    if (same == nullptr)
      missing(reference.Has(entry.attribute) ? std::string_view(entry.name) : entry.attribute,
              entry.attribute, entry.node);
    else if (CannotMatch(entry, *same) && said.insert(entry.attribute).second)
      sink->Add(entry.node, Severity::kWarning,
                fmt::format("{} has shape {} and the reference's has {}: its weights cannot be copied",
                            entry.name, ExtentsText(entry.shape), ExtentsText(same->shape)),
                "Keep the reference's shape and transpose or pack it when it is used, or define "
                "load_reference(self, state_dict).");
  }
}

}  // namespace

void CheckWeightsNotTransferable(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr || candidate.task == nullptr) return;
  const PyNode* model = candidate.python->scopes->ClassNamed("ModelNew");
  if (model == nullptr) return;
  // A candidate with its own layout defines how to fill it, itself or in a base class.
  for (const PyNode* owner : LineageOf(*candidate.python->scopes, model).classes)
    for (const PyNode* method : owner->body)
      if (method->Is(PyKind::kFunction) &&
          (method->name == "load_reference" || method->name == "load_state_dict" ||
           method->name == "_load_from_state_dict"))
        return;
  const StateDict reference = ReadStateDict(*candidate.task, "Model");
  const StateDict own = ReadStateDict(*candidate.python, "ModelNew");
  CheckOwn(own, reference, sink);
  if (!own.complete) return;  // the missing entries may be in a base class of another file
  std::set<std::string_view> said;
  const auto absent = [&](std::string_view name, std::string_view attribute) {
    if (said.insert(attribute).second)
      sink->Add(model, Severity::kWarning,
                fmt::format("ModelNew has no parameter called {}, so the reference's cannot be copied", name),
                fmt::format("Define self.{}, or define load_reference(self, state_dict).", name));
  };
  for (const auto& [attribute, node] : reference.opaque)
    if (!own.Has(attribute)) absent(attribute, attribute);
  for (const StateEntry& entry : reference.entries) {
    if (IsOpaque(own, entry.attribute) || own.Find(entry.name) != nullptr) continue;
    absent(own.Has(entry.attribute) ? std::string_view(entry.name) : entry.attribute, entry.attribute);
  }
}

}  // namespace hone

// Handles a ModelNew whose parameters have other names than the reference's: if the shapes, in order, allow
// only one match, load_reference copies the weights by name.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "analysis/state_dict.h"

namespace hone {

namespace {

bool ShapesKnown(const StateDict& state) {
  return state.complete && state.opaque.empty() && !state.entries.empty() &&
         std::all_of(state.entries.begin(), state.entries.end(), [](const StateEntry& entry) {
           return entry.shape_known && std::all_of(entry.shape.begin(), entry.shape.end(),
                                                   [](int64_t extent) { return extent > 0; });
         });
}

// The reference's entry for each own entry. A name that the reference has matches itself. The others need a
// shape that no other unmatched entry has.
bool Match(const StateDict& own, const StateDict& reference, std::vector<const StateEntry*>* matched) {
  if (own.entries.size() != reference.entries.size()) return false;
  std::vector<const StateEntry*> left;
  for (const StateEntry& entry : reference.entries)
    if (own.Find(entry.name) == nullptr) left.push_back(&entry);
  for (const StateEntry& entry : own.entries) {
    const StateEntry* same = reference.Find(entry.name);
    if (same == nullptr) {
      std::vector<const StateEntry*> fits;
      for (const StateEntry* other : left)
        if (other->shape == entry.shape) fits.push_back(other);
      if (fits.size() != 1) return false;
      same = fits[0];
      left.erase(std::find(left.begin(), left.end(), same));
    } else if (same->shape != entry.shape) {
      return false;
    }
    matched->push_back(same);
  }
  return left.empty();
}

}  // namespace

FixEdits FixWeightNames(const FixRequest& request) {
  const Candidate& candidate = request.candidate;
  if (candidate.task == nullptr) return {};
  const Scopes& scopes = *candidate.python->scopes;
  const PyNode* model = scopes.ClassNamed("ModelNew");
  if (model == nullptr || model->body.empty()) return {};
  const StateDict reference = ReadStateDict(*candidate.task, "Model");
  const StateDict own = ReadStateDict(*candidate.python, "ModelNew");
  if (!ShapesKnown(reference) || !ShapesKnown(own)) return {};
  std::vector<const StateEntry*> matched;
  if (!Match(own, reference, &matched)) return {};
  std::string indent;
  const PyNode* last = model->body.back();
  if (!last->Is(PyKind::kFunction) || !IndentOf(candidate, model->body.front()->start, &indent)) return {};
  FixEdits edits;
  const std::string torch = EnsureImported(candidate, "torch", "torch", "import torch", &edits);
  if (torch.empty()) return {};
  const std::string more = indent + indent;
  std::string text =
      fmt::format("\n\n{0}@{1}.no_grad()\n{0}def load_reference(self, state_dict):\n", indent, torch);
  text += fmt::format("{}own = dict(self.named_parameters(), **dict(self.named_buffers()))\n", more);
  for (size_t i = 0; i < own.entries.size(); ++i)
    text +=
        fmt::format("{}own[\"{}\"].copy_(state_dict[\"{}\"])\n", more, own.entries[i].name, matched[i]->name);
  text.pop_back();
  edits.push_back(Insert(last->end, text));
  return edits;
}

}  // namespace hone

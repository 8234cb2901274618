// Handles a ModelNew whose parameters have other names than the reference's: if names and shapes allow only
// one match, load_reference copies the weights by name.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "analysis/state_dict.h"
#include "base/text.h"

namespace hone {

namespace {

bool ShapesKnown(const StateDict& state) {
  return state.complete && state.opaque.empty() && !state.entries.empty() &&
         std::all_of(state.entries.begin(), state.entries.end(), [](const StateEntry& entry) {
           return entry.shape_known && std::all_of(entry.shape.begin(), entry.shape.end(),
                                                   [](int64_t extent) { return extent > 0; });
         });
}

// The name with dots for underscores: fc1_weight is a flat module's spelling of fc1.weight.
std::string InDots(std::string name) {
  std::replace(name.begin(), name.end(), '_', '.');
  return name;
}

bool IsTailOf(const std::string& tail, const std::string& name) {
  return name.size() > tail.size() && EndsWith(name, tail) && name[name.size() - tail.size() - 1] == '.';
}

// The ways in which two names can mean one parameter, the most certain first. Shapes are compared in
// addition.
bool SpelledAlike(const std::string& own, const std::string& other) {
  return InDots(own) == InDots(other);
}
bool OneEndsInTheOther(const std::string& own, const std::string& other) {
  return IsTailOf(own, other) || IsTailOf(other, own);
}
bool LastPartsAgree(const std::string& own, const std::string& other) {
  return own.substr(own.rfind('.') + 1) == other.substr(other.rfind('.') + 1);
}
bool AnyNames(const std::string&, const std::string&) {
  return true;
}
using NamesAgree = bool (*)(const std::string&, const std::string&);
constexpr NamesAgree kNamesAgree[] = {SpelledAlike, OneEndsInTheOther, LastPartsAgree, AnyNames};

// The reference's entry for each own entry. A name that the reference has matches itself. Another pair
// matches if each is the only one that agrees with the other in shape and in name, by the most certain way
// that leaves one.
class Matching {
 public:
  Matching(const StateDict& own, const StateDict& reference) : own_(own), reference_(reference) {}

  // Returns false unless every entry has a certain match.
  bool Run() {
    if (own_.entries.size() != reference_.entries.size()) return false;
    for (const StateEntry& entry : own_.entries) {
      const StateEntry* same = reference_.Find(entry.name);
      if (same != nullptr && same->shape != entry.shape) return false;
      if (same != nullptr) Pair(&entry, same);
    }
    for (const NamesAgree agree : kNamesAgree)
      while (Pass(agree)) {
      }
    return of_own_.size() == own_.entries.size();
  }

  const StateEntry* Of(const StateEntry& own) const { return of_own_.at(&own); }

 private:
  void Pair(const StateEntry* own, const StateEntry* other) {
    of_own_[own] = other;
    taken_.insert(other);
  }

  // Adds all certain pairs at once, so that none depends on the order in which they are found.
  bool Pass(NamesAgree agree) {
    std::map<const StateEntry*, std::vector<const StateEntry*>> fits;
    std::map<const StateEntry*, int> wanted;
    for (const StateEntry& own : own_.entries) {
      if (of_own_.count(&own) != 0) continue;
      for (const StateEntry& other : reference_.entries) {
        if (taken_.count(&other) != 0 || other.shape != own.shape || !agree(own.name, other.name)) continue;
        fits[&own].push_back(&other);
        ++wanted[&other];
      }
    }
    bool found = false;
    for (const auto& [own, others] : fits) {
      if (others.size() != 1 || wanted[others[0]] != 1) continue;
      Pair(own, others[0]);
      found = true;
    }
    return found;
  }

  const StateDict& own_;
  const StateDict& reference_;
  std::map<const StateEntry*, const StateEntry*> of_own_;
  std::set<const StateEntry*> taken_;
};

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
  Matching matching(own, reference);
  if (!matching.Run()) return {};
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
  for (const StateEntry& entry : own.entries)
    text +=
        fmt::format("{}own[\"{}\"].copy_(state_dict[\"{}\"])\n", more, entry.name, matching.Of(entry)->name);
  text.pop_back();
  edits.push_back(Insert(last->end, text));
  return edits;
}

}  // namespace hone

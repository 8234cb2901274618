// Adds the mask that the kernel computes and does not use: `mask = offs < n` above a load at `x + offs`. It
// has to be the only condition on these offsets, bound them from above, and be computed wherever the access
// is.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/fixes/lanes.h"
#include "base/text.h"

namespace hone {

namespace {

// Names with lanes, and the index under which each is used: "" for `offs`, ":,None" for `rows[:, None]`.
using LaneForms = std::map<std::string_view, std::string>;

class MaskSearch {
 public:
  MaskSearch(const Candidate& candidate, const Kernel& kernel, const PyNode* call)
      : candidate_(candidate), kernel_(kernel), call_(call), lanes_(candidate, kernel) {}

  std::string Find() {
    if (!Address(call_->args[0], 0) || wanted_.empty()) return "";
    for (const PyNode* place : places_)
      if (!IsPlace(place, 0)) return "";
    std::string found;
    const PyNode* chosen = nullptr;
    std::set<const PyNode*> parts;
    for (const auto& [name, bindings] : candidate_.python->scopes->NamesIn(kernel_.function)) {
      if (bindings.size() != 1 || bindings.front().value == nullptr) continue;
      const PyNode* value = bindings.front().value;
      LaneForms forms;
      std::set<const PyNode*> used;
      if (!IsBound(value, "", &forms, &used, 0) || forms != wanted_) continue;
      if (chosen != nullptr || !Dominates(bindings.front().node)) return "";
      found = std::string(name);
      chosen = value;
      parts = std::move(used);
    }
    return chosen != nullptr && IsTheOnlyOne(parts) ? found : "";
  }

 private:
  // Splits the address at its sums: every part with lanes goes to wanted_, every other part has to be the
  // pointer or the offset of a row.
  bool Address(const PyNode* part, int depth) {
    if (depth > 6) return false;
    if (part->Is(PyKind::kBinOp) && part->op == "+")
      return Address(part->left, depth + 1) && Address(part->right, depth + 1);
    if (!lanes_.Vary(part)) {
      places_.push_back(part);
      return true;
    }
    if (part->Is(PyKind::kBinOp) && part->op == "*") {
      const bool left = lanes_.Vary(part->left);
      const PyNode* stride = left ? part->right : part->left;
      if (lanes_.Vary(stride) || stride->Is(PyKind::kInt)) return false;
      return Lane(left ? part->left : part->right);
    }
    if (part->Is(PyKind::kName))
      if (const PyNode* value = lanes_.Definition(part); value != nullptr && MentionsPointer(value, 0))
        return Address(value, depth + 1);
    return Lane(part);
  }

  std::string IndexText(const PyNode* subscript) const {
    return subscript->target != nullptr ? ReplaceAll(Code(candidate_, subscript->target), " ", "") : "?";
  }

  bool Lane(const PyNode* part) {
    std::string form;
    if (part->Is(PyKind::kSubscript) && part->value != nullptr) {
      form = IndexText(part);
      part = part->value;
    }
    if (!part->Is(PyKind::kName)) return false;
    const PyNode* value = lanes_.Definition(part);
    if (value == nullptr || !wanted_.emplace(part->name, form).second) return false;
    WalkPython(value, [&](const PyNode* node) {
      if (node->Is(PyKind::kCall))
        for (const PyNode* argument : node->args)
          if (argument->Is(PyKind::kName)) extents_.insert(argument->name);
      return true;
    });
    return true;
  }

  bool MentionsPointer(const PyNode* expression, int depth) const {
    bool found = false;
    WalkPython(expression, [&](const PyNode* node) {
      if (node->Is(PyKind::kCall)) return false;
      if (!found && node->Is(PyKind::kName) && depth < 4) {
        const PyNode* value = lanes_.Definition(node);
        found = value != nullptr ? MentionsPointer(value, depth + 1) : IsPointer(node->name);
      }
      return !found;
    });
    return found;
  }

  bool IsPointer(std::string_view name) const {
    const KernelTrace* trace = candidate_.TraceOf(&kernel_);
    return std::any_of(trace->accesses.begin(), trace->accesses.end(),
                       [&](const MemoryAccess& access) { return !name.empty() && access.base == name; });
  }

  // A parameter's pointer, or a product such as row * stride that moves it by rows. What moves it by tiles of
  // these lanes would need a mask of its own.
  bool IsPlace(const PyNode* part, int depth) const {
    if (depth > 4) return false;
    if (part->Is(PyKind::kBinOp) && part->op == "+")
      return IsPlace(part->left, depth + 1) && IsPlace(part->right, depth + 1);
    if (part->Is(PyKind::kBinOp) && part->op == "*") return !MentionsExtent(part, 0);
    if (!part->Is(PyKind::kName)) return false;
    if (const PyNode* value = lanes_.Definition(part)) return IsPlace(value, depth + 1);
    if (!IsPointer(part->name)) return false;
    // The pointer may move by rows, but not in a loop.
    const std::vector<Binding>* bindings = candidate_.python->scopes->Find(part->name, part);
    return bindings != nullptr && std::all_of(bindings->begin(), bindings->end(), [&](const Binding& one) {
             if (one.node->Is(PyKind::kParam)) return true;
             return one.node->Is(PyKind::kAugAssign) && one.node->op == "+" && one.node->value != nullptr &&
                    one.node->parent == kernel_.function && IsPlace(one.node->value, depth + 1);
           });
  }

  bool MentionsExtent(const PyNode* expression, int depth) const {
    bool found = depth > 4;
    WalkPython(expression, [&](const PyNode* node) {
      if (!found && node->Is(PyKind::kName)) {
        found = extents_.count(node->name) != 0;
        const PyNode* value = lanes_.Definition(node);
        if (!found && value != nullptr) found = MentionsExtent(value, depth + 1);
      }
      return !found;
    });
    return found;
  }

  // Whether the expression is a conjunction of `lanes < bound`. `used` gets its comparisons.
  bool IsBound(const PyNode* part, std::string form, LaneForms* forms, std::set<const PyNode*>* used,
               int depth) const {
    if (part == nullptr || depth > 6) return false;
    if (part->Is(PyKind::kBinOp) && part->op == "&")
      return IsBound(part->left, form, forms, used, depth + 1) &&
             IsBound(part->right, form, forms, used, depth + 1);
    if (part->Is(PyKind::kSubscript) && part->value != nullptr && form.empty()) {
      return IsBound(part->value, IndexText(part), forms, used, depth + 1);
    }
    if (part->Is(PyKind::kName)) {
      const PyNode* value = lanes_.Definition(part);
      return value != nullptr && IsBound(value, form, forms, used, depth + 1);
    }
    if (!part->Is(PyKind::kCompare) || part->ops.size() != 1) return false;
    const bool above = part->ops[0] == "<" || part->ops[0] == "<=";
    const bool below = part->ops[0] == ">" || part->ops[0] == ">=";
    if (!above && !below) return false;
    const PyNode* lane = above ? part->left : part->args[0];
    const PyNode* bound = above ? part->args[0] : part->left;
    if (lanes_.Vary(bound) || !IsPure(bound)) return false;
    if (lane->Is(PyKind::kSubscript) && lane->value != nullptr && form.empty()) {
      form = IndexText(lane);
      lane = lane->value;
    }
    if (!lane->Is(PyKind::kName) || !lanes_.Vary(lane) || lanes_.Definition(lane) == nullptr) return false;
    used->insert(part);
    return forms->emplace(lane->name, form).second;
  }

  // Whether no other comparison of the kernel looks at the same lanes alone.
  bool IsTheOnlyOne(const std::set<const PyNode*>& parts) const {
    bool only = true;
    WalkPython(kernel_.function, [&](const PyNode* node) {
      if (!only || !node->Is(PyKind::kCompare) || parts.count(node) != 0) return only;
      const std::set<std::string_view> names = lanes_.VaryingNames(node);
      const bool same = !names.empty() && std::all_of(names.begin(), names.end(), [&](std::string_view name) {
        return wanted_.count(name) != 0;
      });
      only = !same;
      return only;
    });
    return only;
  }

  bool Dominates(const PyNode* assignment) const {
    if (assignment->start >= call_->start) return false;
    return assignment->parent == kernel_.function || IsInside(call_, assignment->parent);
  }

  const Candidate& candidate_;
  const Kernel& kernel_;
  const PyNode* call_;
  Lanes lanes_;
  LaneForms wanted_;
  std::vector<const PyNode*> places_;  // the parts of the address without lanes
  std::set<std::string_view> extents_;
};

}  // namespace

FixEdits FixDefinedMask(const FixRequest& request) {
  bool is_load = false;
  const PyNode* call = UnmaskedCall(request, &is_load);
  if (call == nullptr) return {};
  const Kernel* kernel = KernelAround(request.candidate, call);
  if (kernel == nullptr || request.candidate.TraceOf(kernel) == nullptr) return {};
  const std::string mask = MaskSearch(request.candidate, *kernel, call).Find();
  return mask.empty() ? FixEdits() : AddMask(request.candidate, *kernel, call, is_load, mask);
}

}  // namespace hone

#include "analysis/input_flow.h"

namespace hone {

namespace {

constexpr int kMaxRounds = 12;

bool IsMethod(const PyNode* function) {
  return function->parent != nullptr && function->parent->Is(PyKind::kClass) && !function->params.empty() &&
         function->params[0]->name == "self";
}

}  // namespace

InputFlow::InputFlow(const Scopes& scopes, const std::vector<const PyNode*>& functions) : scopes_(scopes) {
  for (const PyNode* function : functions)
    if (function->name == "forward" || function->name == "__call__")
      for (size_t i = IsMethod(function) ? 1 : 0; i < function->params.size(); ++i)
        MarkName(function, function->params[i]->name);
  for (int round = 0; round < kMaxRounds && changed_; ++round) {
    changed_ = false;
    for (const PyNode* function : functions) Follow(function);
  }
}

bool InputFlow::Mentions(const PyNode* function, const PyNode* expression) const {
  const auto own = names_.find(function);
  bool found = false;
  WalkPython(expression, [&](const PyNode* node) {
    found = found || (node->Is(PyKind::kName) && own != names_.end() && own->second.count(node->name) != 0) ||
            (node->Is(PyKind::kAttribute) && attributes_.count(node->name) != 0);
    return !found;
  });
  return found;
}

void InputFlow::MarkName(const PyNode* function, std::string_view name) {
  changed_ = names_[function].insert(name).second || changed_;
}

void InputFlow::Mark(const PyNode* function, const PyNode* target) {
  if (target == nullptr) return;
  if (target->Is(PyKind::kName)) MarkName(function, target->name);
  if (target->Is(PyKind::kAttribute)) changed_ = attributes_.insert(target->name).second || changed_;
  if (target->Is(PyKind::kSubscript) || target->Is(PyKind::kStarred)) Mark(function, target->value);
  if (target->Is(PyKind::kTuple) || target->Is(PyKind::kList))
    for (const PyNode* item : target->args) Mark(function, item);
}

void InputFlow::FollowCall(const PyNode* function, const PyNode* call) {
  const PyNode* callee = call->value;
  if (callee == nullptr || !(callee->Is(PyKind::kName) || callee->Is(PyKind::kAttribute))) return;
  for (const PyNode* target : scopes_.FunctionsNamed(callee->name)) {
    const size_t first = IsMethod(target) ? 1 : 0;
    bool starred = false;
    for (size_t i = 0; i < call->args.size(); ++i) {
      starred = starred || call->args[i]->Is(PyKind::kStarred);
      if (!Mentions(function, call->args[i])) continue;
      for (size_t p = first; p < target->params.size(); ++p)
        if (starred || p == first + i || !target->params[p]->op.empty())
          MarkName(target, target->params[p]->name);
    }
    for (const PyNode* keyword : call->keywords)
      if (keyword->value != nullptr && Mentions(function, keyword->value))
        for (const PyNode* param : target->params)
          if (param->name == keyword->name || param->op == "**") MarkName(target, param->name);
  }
}

void InputFlow::Follow(const PyNode* function) {
  WalkPython(function, [&](const PyNode* node) {
    if (node != function && node->Is(PyKind::kFunction)) return false;
    if (node->Is(PyKind::kAssign) && node->value != nullptr && Mentions(function, node->value))
      for (const PyNode* target : node->args) Mark(function, target);
    const bool binds = node->Is(PyKind::kAugAssign) || node->Is(PyKind::kAnnAssign) ||
                       node->Is(PyKind::kFor) || node->Is(PyKind::kCompFor) || node->Is(PyKind::kWithItem) ||
                       node->Is(PyKind::kNamedExpr);
    if (binds && node->value != nullptr && node->target != nullptr && Mentions(function, node->value))
      Mark(function, node->target);
    if (node->Is(PyKind::kCall)) FollowCall(function, node);
    return true;
  });
}

}  // namespace hone

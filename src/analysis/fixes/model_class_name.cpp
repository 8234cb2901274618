// Renames the only module of a file (Model, NewModel or similar) to ModelNew, which the judge needs.
#include <algorithm>

#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

bool HasForward(const PyNode* definition) {
  return std::any_of(definition->body.begin(), definition->body.end(),
                     [](const PyNode* one) { return one->Is(PyKind::kFunction) && one->name == "forward"; });
}

bool IsModule(const Scopes& scopes, const PyNode* definition) {
  return std::any_of(definition->args.begin(), definition->args.end(),
                     [&](const PyNode* base) { return EndsWith(scopes.Resolve(base), "Module"); });
}

// True if the class's name is used outside of the class itself, so that it is a part of another one.
bool IsUsed(const PyNode* module, const PyNode* definition) {
  bool used = false;
  WalkPython(module, [&](const PyNode* node) {
    used = used || (node->IsName(definition->name) && !IsInside(node, definition));
    return !used;
  });
  return used;
}

const SyntaxNode* NameOf(const SyntaxTree& syntax, const PyNode* definition) {
  for (const SyntaxNode* node = syntax.root(); node != nullptr; node = NextInDocument(node, syntax.root())) {
    if (!node->Is("class_definition") || node->end != definition->end) continue;
    const SyntaxNode* name = node->Field("name");
    if (name != nullptr && name->text == definition->name) return name;
  }
  return nullptr;
}

}  // namespace

FixEdits FixModelClassName(const FixRequest& request) {
  const Candidate& candidate = request.candidate;
  const Scopes& scopes = *candidate.python->scopes;
  const PyNode* only = nullptr;
  for (const PyNode* statement : scopes.module()->body) {
    if (!statement->Is(PyKind::kClass) || !HasForward(statement) || !IsModule(scopes, statement)) continue;
    if (IsUsed(scopes.module(), statement)) continue;
    if (only != nullptr) return {};
    only = statement;
  }
  const SyntaxNode* name = only != nullptr ? NameOf(candidate.python->syntax, only) : nullptr;
  if (name == nullptr) return {};
  FixEdits edits = {{name->start, name->end, "ModelNew"}};
  WalkPython(only, [&](const PyNode* node) {
    if (node->IsName(only->name)) edits.push_back({node->start, node->end, "ModelNew"});
    return true;
  });
  return edits;
}

}  // namespace hone

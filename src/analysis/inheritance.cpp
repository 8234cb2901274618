#include "analysis/inheritance.h"

#include <algorithm>

namespace hone {

namespace {

constexpr size_t kMaxClasses = 64;

void AddLineage(const Scopes& scopes, const PyNode* class_node, Lineage* out) {
  if (out->classes.size() >= kMaxClasses ||
      std::find(out->classes.begin(), out->classes.end(), class_node) != out->classes.end())
    return;
  out->classes.push_back(class_node);
  for (const PyNode* base : class_node->args) {
    const PyNode* own = base->Is(PyKind::kName) ? scopes.ClassNamed(base->name) : nullptr;
    const std::string dotted = scopes.Resolve(base);
    if (own != nullptr)
      AddLineage(scopes, own, out);
    else if (dotted != "torch.nn.Module" && dotted != "torch.nn.modules.Module" && dotted != "object")
      out->complete = false;
  }
}

const PyNode* DefinitionNamed(const Scopes& scopes, std::string_view name) {
  for (const PyNode* statement : scopes.module()->body)
    if ((statement->Is(PyKind::kFunction) || statement->Is(PyKind::kClass)) && statement->name == name)
      return statement;
  return nullptr;
}

void AddNamed(const Scopes& scopes, const PyNode* definition, std::set<const PyNode*>* out) {
  if (!out->insert(definition).second) return;
  WalkPython(definition, [&](const PyNode* node) {
    if (node->Is(PyKind::kName))
      if (const PyNode* named = DefinitionNamed(scopes, node->name)) AddNamed(scopes, named, out);
    return true;
  });
}

}  // namespace

Lineage LineageOf(const Scopes& scopes, const PyNode* class_node) {
  Lineage out;
  if (class_node != nullptr) AddLineage(scopes, class_node, &out);
  return out;
}

bool CallsBaseConstructor(const PyNode* class_node) {
  for (const PyNode* method : class_node->body) {
    if (!method->Is(PyKind::kFunction) || method->name != "__init__") continue;
    bool calls = false;
    WalkPython(method, [&](const PyNode* node) {
      calls = calls || (node->Is(PyKind::kCall) && node->value->Is(PyKind::kAttribute) &&
                        node->value->name == "__init__");
      return !calls;
    });
    return calls;
  }
  return true;
}

bool IsIn(const std::set<const PyNode*>& definitions, const PyNode* node) {
  return std::any_of(definitions.begin(), definitions.end(),
                     [&](const PyNode* definition) { return IsInside(node, definition); });
}

std::set<const PyNode*> ReferenceCode(const Scopes& scopes) {
  std::set<const PyNode*> out;
  const Lineage lineage = LineageOf(scopes, scopes.ClassNamed("ModelNew"));
  for (size_t i = 1; i < lineage.classes.size(); ++i) AddNamed(scopes, lineage.classes[i], &out);
  if (!lineage.classes.empty()) out.erase(lineage.classes[0]);
  return out;
}

}  // namespace hone

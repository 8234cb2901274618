#include "source/python_ast.h"

namespace hone {

PyNode* PyNode::Keyword(std::string_view n) const {
  for (PyNode* keyword : keywords)
    if (keyword->name == n) return keyword->value;
  return nullptr;
}

void WalkPython(const PyNode* node, const std::function<bool(const PyNode*)>& visit) {
  if (node == nullptr || !visit(node)) return;
  for (const PyNode* child : node->children) WalkPython(child, visit);
}

std::string DottedName(const PyNode* node) {
  std::vector<std::string_view> parts;
  for (; node != nullptr && node->Is(PyKind::kAttribute); node = node->value) parts.push_back(node->name);
  if (node == nullptr || !node->Is(PyKind::kName)) return {};
  std::string out(node->name);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    out += '.';
    out += *part;
  }
  return out;
}

const PyNode* EnclosingFunction(const PyNode* node) {
  for (const PyNode* at = node->parent; at != nullptr; at = at->parent)
    if (at->Is(PyKind::kFunction)) return at;
  return nullptr;
}

const PyNode* EnclosingClass(const PyNode* node) {
  for (const PyNode* at = node->parent; at != nullptr; at = at->parent)
    if (at->Is(PyKind::kClass)) return at;
  return nullptr;
}

bool IsInside(const PyNode* node, const PyNode* ancestor) {
  for (; node != nullptr; node = node->parent)
    if (node == ancestor) return true;
  return false;
}

}  // namespace hone

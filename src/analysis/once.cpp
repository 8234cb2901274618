#include "analysis/once.h"

#include <algorithm>

namespace hone {

namespace {

// The container of `key not in kept`, or the attribute of `kept is None`; null for other conditions.
const PyNode* KeptIn(const PyNode* test) {
  if (test == nullptr || !test->Is(PyKind::kCompare) || test->ops.size() != 1 || test->args.size() != 1)
    return nullptr;
  if (test->ops[0] == "not in") return test->args[0];
  if (test->ops[0] == "is" && test->args[0]->Is(PyKind::kNone)) return test->left;
  return nullptr;
}

bool Fills(const PyNode* block, const std::string& kept) {
  bool fills = false;
  for (const PyNode* statement : block->body)
    WalkPython(statement, [&](const PyNode* node) {
      if (!node->Is(PyKind::kAssign)) return !fills;
      for (const PyNode* target : node->args)
        fills = fills || DottedName(target->Is(PyKind::kSubscript) ? target->value : target) == kept;
      return !fills;
    });
  return fills;
}

}  // namespace

bool RunsOnce(const PyNode* node) {
  const PyNode* below = node;
  for (const PyNode* at = node->parent; at != nullptr; below = at, at = at->parent) {
    if (at->Is(PyKind::kFunction) || at->Is(PyKind::kLambda)) return false;
    if (!at->Is(PyKind::kIf) || std::find(at->body.begin(), at->body.end(), below) == at->body.end())
      continue;
    const PyNode* kept = KeptIn(at->test);
    if (kept == nullptr || !kept->Is(PyKind::kAttribute)) continue;
    const std::string name = DottedName(kept);
    if (!name.empty() && Fills(at, name)) return true;
  }
  return false;
}

}  // namespace hone

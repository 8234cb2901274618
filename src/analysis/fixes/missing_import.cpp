// Imports names that have one usual import: tl, math, F, Optional, load_inline.
#include "analysis/fixes/fix.h"
#include "analysis/usual_imports.h"
#include "base/text.h"

namespace hone {

namespace {

struct MemberOf {
  std::string_view name;
  std::string_view module;
};
// Functions that belong to a module: next_power_of_2(n) becomes triton.next_power_of_2(n).
constexpr MemberOf kMembers[] = {{"next_power_of_2", "triton"}, {"cdiv", "triton"}};

}  // namespace

FixEdits FixMissingImport(const FixRequest& request) {
  const PyNode* node = request.node;
  if (node == nullptr || !node->Is(PyKind::kName)) return {};
  const Candidate& candidate = request.candidate;
  const Scopes& scopes = *candidate.python->scopes;
  if (scopes.Find(node->name, node) != nullptr) return {};
  FixEdits edits;
  if (const std::string_view line = UsualImport(node->name); !line.empty()) {
    AddImport(candidate, line, &edits);
    return edits;
  }
  const bool called =
      node->parent != nullptr && node->parent->Is(PyKind::kCall) && node->parent->value == node;
  for (const MemberOf& row : kMembers) {
    if (row.name != node->name || !called) continue;
    const bool in_kernel = KernelAround(candidate, node) != nullptr;
    if (in_kernel && row.name != "cdiv") return {};
    const std::string module =
        in_kernel ? EnsureLanguage(candidate, &edits) : EnsureTriton(candidate, &edits);
    if (module.empty()) return {};
    edits.push_back({node->start, node->end, module + "." + std::string(node->name)});
    return edits;
  }
  return {};
}

}  // namespace hone

// Moves triton.autotune and triton.heuristics above triton.jit, and corrects misspelt arguments of them.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

// Moves or adds @triton.jit to the line above `def`.
FixEdits PutJitLast(const Candidate& candidate, const PyNode* function) {
  const Scopes& scopes = *candidate.python->scopes;
  const PyNode* jit = nullptr;
  uint32_t last = 0;
  for (const PyNode* decorator : function->decorators) {
    const PyNode* callee = decorator->Is(PyKind::kCall) ? decorator->value : decorator;
    if (scopes.Resolve(callee) == "triton.jit") jit = decorator;
    last = std::max(last, decorator->end);
  }
  const uint32_t def_line = candidate.source.PositionAt(last).line + 1;
  const std::string_view def = candidate.source.Line(def_line);
  if (!StartsWith(Trim(def), "def ")) return {};
  const std::string indent(def.substr(0, def.find_first_not_of(" \t")));
  FixEdits edits;
  std::string text = "@triton.jit";
  if (jit != nullptr) {
    if (!IsOneLine(candidate, jit)) return {};
    const uint32_t line = LineOf(candidate, jit);
    text = std::string(Trim(candidate.source.Line(line)));
    if (text != "@" + Code(candidate, jit)) return {};
    edits.push_back({candidate.source.LineStart(line), candidate.source.LineStart(line + 1), ""});
  } else {
    const std::string triton = EnsureTriton(candidate, &edits);
    if (triton.empty()) return {};
    text = fmt::format("@{}.jit", triton);
  }
  edits.push_back(Insert(candidate.source.LineStart(def_line), indent + text + "\n"));
  return edits;
}

}  // namespace

FixEdits FixDecorators(const FixRequest& request) {
  const PyNode* node = request.node;
  const Candidate& candidate = request.candidate;
  if (node == nullptr) return {};
  for (const PyNode* decorator : candidate.python->kernels->misdecorated())
    if (decorator->start == node->start && decorator->end == node->end && decorator->parent != nullptr &&
        decorator->parent->Is(PyKind::kFunction))
      return PutJitLast(candidate, decorator->parent);
  if (!node->Is(PyKind::kKeyword)) return {};
  // One letter more or less than an existing argument.
  for (std::string_view known : {"num_warps", "num_stages", "num_ctas", "configs", "key"}) {
    const std::string_view name = node->name;
    const bool plural = name.size() + 1 == known.size() && StartsWith(known, name);
    const bool singular = known.size() + 1 == name.size() && StartsWith(name, known) && name.back() == 's';
    if (!plural && !singular) continue;
    if (node->parent == nullptr || node->parent->Keyword(known) != nullptr) return {};
    return {{node->start, node->start + static_cast<uint32_t>(name.size()), std::string(known)}};
  }
  return {};
}

}  // namespace hone

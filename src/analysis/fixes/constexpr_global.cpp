// Fixes an ordinary global that a kernel reads: Triton lets a kernel read only globals that are tl.constexpr.
// If the host reads it too, the host keeps its number and the kernel gets a separate constexpr.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

// Finds the uses of the global inside and outside of kernels.
void CollectUses(const Candidate& candidate, std::string_view name, std::vector<const PyNode*>* in_kernels,
                 bool* on_host) {
  const Scopes& scopes = *candidate.python->scopes;
  WalkPython(candidate.python->tree.module, [&](const PyNode* node) {
    if (!node->IsName(name)) return true;
    const PyNode* scope = nullptr;
    if (scopes.Find(name, node, &scope) == nullptr || scope != scopes.module()) return true;
    const PyNode* parent = node->parent;
    const bool target = parent != nullptr &&
                        (parent->Is(PyKind::kAssign) || parent->Is(PyKind::kAnnAssign)) &&
                        parent->value != node && parent->annotation != node;
    const Kernel* kernel = KernelAround(candidate, node);
    // The host evaluates defaults and decorators of a kernel.
    bool in_body = false;
    if (kernel != nullptr)
      for (const PyNode* statement : kernel->function->body) in_body = in_body || IsInside(node, statement);
    if (in_body)
      in_kernels->push_back(node);
    else if (!target)
      *on_host = true;
    return true;
  });
}

}  // namespace

FixEdits FixConstexprGlobal(const FixRequest& request) {
  const PyNode* name = request.node;
  const Candidate& candidate = request.candidate;
  if (name == nullptr || request.problem == nullptr || !name->Is(PyKind::kName)) return {};
  const Scopes& scopes = *candidate.python->scopes;
  const PyNode* scope = nullptr;
  const std::vector<Binding>* bindings = scopes.Find(name->name, name, &scope);
  if (bindings == nullptr || bindings->size() != 1 || scope != scopes.module()) return {};
  const PyNode* statement = bindings->front().node;
  const PyNode* value = bindings->front().value;
  if (value == nullptr || statement->parent != scopes.module()) return {};
  // Triton does not support a constexpr dictionary or list.
  for (PyKind kind : {PyKind::kDict, PyKind::kList, PyKind::kSet, PyKind::kTuple, PyKind::kComprehension})
    if (value->Is(kind)) return {};
  const bool plain =
      statement->Is(PyKind::kAssign) && statement->args.size() == 1 && statement->args[0]->IsName(name->name);
  const bool annotated = statement->Is(PyKind::kAnnAssign) && statement->value == value;
  if (!plain && !annotated) return {};
  FixEdits edits;
  const std::string language = EnsureLanguage(candidate, &edits);
  if (language.empty()) return {};
  for (const PyNode* import : scopes.module()->body)
    if ((import->Is(PyKind::kImport) || import->Is(PyKind::kImportFrom)) && import->start > statement->start)
      return {};
  std::vector<const PyNode*> uses;
  bool on_host = false;
  CollectUses(candidate, name->name, &uses, &on_host);
  if (!on_host) {
    edits.push_back(Insert(value->start, language + ".constexpr("));
    edits.push_back(Insert(value->end, ")"));
    return edits;
  }
  const std::string own = std::string(name->name) + "_CONSTEXPR";
  std::string indent;
  if (scopes.NamesIn(scopes.module()).count(own) != 0 || !IndentOf(candidate, statement->start, &indent))
    return {};
  const uint32_t line = candidate.source.PositionAt(statement->end).line;
  const std::string_view rest =
      candidate.source.text().substr(statement->end, candidate.source.LineStart(line + 1) - statement->end);
  if (!Trim(rest).empty() && Trim(rest).front() != '#') return {};
  if (line >= candidate.source.line_count()) return {};
  edits.push_back(Insert(candidate.source.LineStart(line + 1),
                         fmt::format("{} = {}.constexpr({})\n", own, language, name->name)));
  for (const PyNode* use : uses) edits.push_back({use->start, use->end, own});
  return edits;
}

}  // namespace hone

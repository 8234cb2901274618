// Adds @triton.jit to a helper of kernels: a top-level function that only kernels use.
#include <fmt/format.h>

#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

bool OnlyKernelsUse(const Candidate& candidate, const PyNode* function) {
  const Scopes& scopes = *candidate.python->scopes;
  bool only = true;
  WalkPython(scopes.module(), [&](const PyNode* node) {
    if (!node->IsName(function->name) || IsInside(node, function)) return only;
    const PyNode* scope = nullptr;
    if (scopes.Find(node->name, node, &scope) != nullptr && scope == scopes.module())
      only = only && KernelAround(candidate, node) != nullptr;
    return only;
  });
  return only;
}

}  // namespace

FixEdits FixPlainHelper(const FixRequest& request) {
  const Candidate& candidate = request.candidate;
  const PyNode* call = request.node;
  if (call == nullptr || request.problem == nullptr || !call->Is(PyKind::kCall) || call->value == nullptr ||
      !call->value->Is(PyKind::kName))
    return {};
  const Scopes& scopes = *candidate.python->scopes;
  const std::vector<Binding>* bindings = scopes.Find(call->value->name, call);
  if (bindings == nullptr || bindings->size() != 1) return {};
  const PyNode* function = bindings->front().node;
  if (!function->Is(PyKind::kFunction) || function->parent != scopes.module() ||
      !function->decorators.empty())
    return {};
  if (!OnlyKernelsUse(candidate, function)) {
    // A helper that the host also uses stays unchanged. The language has this function.
    if (function->name != "cdiv" || call->args.size() != 2) return {};
    FixEdits edits;
    const std::string language = EnsureLanguage(candidate, &edits);
    if (language.empty()) return {};
    edits.push_back({call->value->start, call->value->end, language + ".cdiv"});
    return edits;
  }
  // If it uses PyTorch, a decorator would not help.
  bool host = false;
  WalkPython(function, [&](const PyNode* node) {
    const std::string dotted = node->Is(PyKind::kAttribute) ? scopes.Resolve(node) : "";
    host = host || StartsWith(dotted, "torch.") || StartsWith(dotted, "numpy.");
    return !host;
  });
  FixEdits edits;
  const std::string triton = host ? "" : EnsureTriton(candidate, &edits);
  if (triton.empty()) return {};
  const uint32_t line = candidate.source.PositionAt(function->start).line;
  edits.push_back(Insert(candidate.source.LineStart(line), fmt::format("@{}.jit\n", triton)));
  return edits;
}

}  // namespace hone

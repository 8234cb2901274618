// Fixes host calls of functions that work only in kernels: tl.cdiv(n, 4) becomes triton.cdiv, tl.where(...)
// becomes torch.where, and kernel(x, y, grid=g) becomes kernel[g](x, y).
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"

namespace hone {

namespace {

constexpr std::string_view kOfTorch[] = {"where",   "exp",   "exp2",  "log",  "log2",
                                         "sqrt",    "rsqrt", "sin",   "cos",  "sigmoid",
                                         "maximum", "abs",   "floor", "ceil", "minimum"};

// True if grid = ... precedes the call and is never read.
bool HasUnusedGrid(const Candidate& candidate, const PyNode* call) {
  const Scopes& scopes = *candidate.python->scopes;
  const PyNode* scope = nullptr;
  const std::vector<Binding>* bindings = scopes.Find("grid", call, &scope);
  if (bindings == nullptr || bindings->size() != 1 || scope != EnclosingFunction(call)) return false;
  const Binding& grid = bindings->front();
  const bool ready = grid.value != nullptr ? grid.value->Is(PyKind::kTuple) || grid.value->Is(PyKind::kLambda)
                                           : grid.node->Is(PyKind::kFunction);
  if (!ready || grid.node->start > call->start) return false;
  int uses = 0;
  WalkPython(scope, [&](const PyNode* node) {
    if (node->IsName("grid")) ++uses;
    return true;
  });
  return uses == (grid.value != nullptr ? 1 : 0);
}

}  // namespace

FixEdits FixHostCall(const FixRequest& request) {
  const PyNode* call = request.node;
  const Candidate& candidate = request.candidate;
  if (call == nullptr || !call->Is(PyKind::kCall) || call->value == nullptr) return {};
  const Scopes& scopes = *candidate.python->scopes;
  FixEdits edits;
  if (const Kernel* kernel = candidate.python->kernels->Resolve(call->value)) {
    const PyNode* grid = call->Keyword("grid");
    if (grid == nullptr && HasUnusedGrid(candidate, call)) return {Insert(call->value->end, "[grid]")};
    if (grid == nullptr || kernel->Param("grid") != nullptr) return {};
    for (const PyNode* keyword : call->keywords)
      if (keyword->name == "grid") edits.push_back(RemoveArgument(candidate, keyword));
    const bool tuple = grid->Is(PyKind::kTuple) || grid->Is(PyKind::kName) || grid->Is(PyKind::kLambda) ||
                       grid->Is(PyKind::kAttribute);
    if (!tuple) return {};
    edits.push_back(Insert(call->value->end, fmt::format("[{}]", Code(candidate, grid))));
    return edits;
  }
  const std::string dotted = scopes.Resolve(call->value);
  constexpr std::string_view kPrefix = "triton.language.";
  if (dotted.compare(0, kPrefix.size(), kPrefix) != 0) return {};
  const std::string name = dotted.substr(kPrefix.size());
  std::string module;
  if (name == "cdiv")
    module = EnsureTriton(candidate, &edits);
  else if (std::find(std::begin(kOfTorch), std::end(kOfTorch), name) != std::end(kOfTorch) &&
           call->keywords.empty())
    module = EnsureImported(candidate, "torch", "torch", "import torch", &edits);
  if (module.empty()) return {};
  edits.push_back({call->value->start, call->value->end, module + "." + name});
  return edits;
}

}  // namespace hone

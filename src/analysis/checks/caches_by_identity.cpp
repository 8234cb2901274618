// caches-by-identity: results are stored by address or object identity, so that a repeated call does no work.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/input_flow.h"
#include "base/text.h"

namespace hone {

namespace {

bool MentionsIdentity(const PyNode* expression) {
  bool found = false;
  WalkPython(expression, [&](const PyNode* node) {
    if (node->Is(PyKind::kCall) && node->value != nullptr)
      found = found || node->value->IsName("id") ||
              (node->value->Is(PyKind::kAttribute) &&
               (node->value->name == "data_ptr" || node->value->name == "_version"));
    if (node->Is(PyKind::kAttribute)) found = found || node->name == "_version";
    return !found;
  });
  return found;
}

}  // namespace

void CheckCachesByIdentity(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const Scopes& scopes = *candidate.python->scopes;
  // Recognising weights by their address and version is allowed; recognising inputs is not.
  const InputFlow inputs(scopes, candidate.python->flow.host_functions);
  for (const PyNode* function : candidate.python->flow.host_functions) {
    if (function->name == "__init__") continue;
    std::set<std::string_view> identity_names;
    bool said = false;
    WalkPython(function, [&](const PyNode* node) {
      if (node->Is(PyKind::kAssign) && node->args.size() == 1 && node->args[0]->Is(PyKind::kName) &&
          node->value != nullptr && MentionsIdentity(node->value))
        identity_names.insert(node->args[0]->name);
      const PyNode* key = nullptr;
      if (node->Is(PyKind::kSubscript)) key = node->target;
      if (node->Is(PyKind::kCompare)) key = node;
      if (node->Is(PyKind::kCall) && node->value != nullptr && node->value->Is(PyKind::kAttribute) &&
          node->value->name == "get" && !node->args.empty())
        key = node->args[0];
      if (key == nullptr || said) return true;
      bool by_identity = MentionsIdentity(key);
      WalkPython(key, [&](const PyNode* part) {
        by_identity = by_identity || (part->Is(PyKind::kName) && identity_names.count(part->name) != 0);
        return true;
      });
      if (!by_identity || !inputs.Mentions(function, key)) return true;
      said = true;
      sink->Add(node, Severity::kWarning,
                fmt::format("{} looks something up by the address or identity of a tensor: a new tensor at "
                            "the old address gets the old answer",
                            function->name),
                "Compute the result in every call; keep only what depends on the weights, in __init__ or in "
                "load_reference.");
      return true;
    });
    for (const PyNode* decorator : function->decorators) {
      const std::string dotted = scopes.Resolve(decorator->Is(PyKind::kCall) ? decorator->value : decorator);
      if ((dotted == "functools.lru_cache" || dotted == "functools.cache") && function->name == "forward")
        sink->Add(decorator, Severity::kWarning,
                  "forward is cached, so a repeated call returns the old result", "Remove the cache.");
    }
  }
}

}  // namespace hone

// time-loop-on-host: one launch (or library call) per time step.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/inheritance.h"
#include "base/text.h"

namespace hone {

namespace {

// A loop whose counter selects a slice of a tensor: x[:, t], x[t], out[t] = ..., x.select(0, t).
bool WalksOverTensor(const PyNode* loop) {
  std::set<std::string_view> counters;
  WalkPython(loop->Is(PyKind::kFor) ? loop->target : loop->test, [&](const PyNode* node) {
    if (node->Is(PyKind::kName)) counters.insert(node->name);
    return true;
  });
  bool found = false;
  for (const PyNode* statement : loop->body) {
    WalkPython(statement, [&](const PyNode* node) {
      const bool index =
          node->Is(PyKind::kSubscript) ||
          (node->Is(PyKind::kCall) && node->value != nullptr && node->value->Is(PyKind::kAttribute) &&
           (node->value->name == "select" || node->value->name == "narrow"));
      if (index)
        WalkPython(node->Is(PyKind::kSubscript) ? node->target : node, [&](const PyNode* part) {
          found = found || (part->Is(PyKind::kName) && counters.count(part->name) != 0);
          return true;
        });
      return !found;
    });
  }
  return found;
}

std::string Over(const Candidate& candidate, const PyNode* loop) {
  const PyNode* over = loop->Is(PyKind::kFor) ? loop->value : loop->test;
  return over != nullptr ? std::string(TextOf(candidate, over)) : "";
}

}  // namespace

void CheckTimeLoopOnHost(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  std::set<const PyNode*> said;
  // The loop of the task's own Model is the code that the candidate replaces.
  const std::set<const PyNode*> reference = ReferenceCode(*candidate.python->scopes);
  for (const auto& launch : candidate.python->kernels->launches()) {
    for (const PyNode* loop : launch->host_loops) {
      bool passes_counter = false;
      if (loop->Is(PyKind::kFor) && loop->target != nullptr && loop->target->Is(PyKind::kName))
        for (const LaunchArgument& argument : launch->arguments)
          passes_counter =
              passes_counter || (argument.value != nullptr && argument.value->IsName(loop->target->name));
      if (!launch->runs || !(WalksOverTensor(loop) || passes_counter) || !said.insert(loop).second) continue;
      sink->Add(launch->call, Severity::kWarning,
                fmt::format("{} is launched once per iteration of `for ... in {}` (line {})",
                            launch->kernel->name, Over(candidate, loop), LineOf(candidate, loop)),
                "Move the loop into the kernel, or do the work of all steps that do not depend on each other "
                "in one launch.");
    }
  }
  for (const LibraryCall& call : candidate.python->flow.library_calls) {
    if (!call.in_loop || !call.heavy || IsIn(reference, call.node)) continue;
    const PyNode* loop = call.node->parent;
    while (loop != nullptr && !loop->Is(PyKind::kFor) && !loop->Is(PyKind::kWhile)) loop = loop->parent;
    if (loop == nullptr || !WalksOverTensor(loop) || !said.insert(loop).second) continue;
    sink->Add(call.node, Severity::kWarning,
              fmt::format("{} runs once per iteration of `for ... in {}` (line {})", call.name,
                          Over(candidate, loop), LineOf(candidate, loop)),
              "Batch the steps that do not depend on each other into one call.");
  }
}

}  // namespace hone

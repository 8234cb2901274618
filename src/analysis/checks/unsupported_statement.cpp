// unsupported-statement: Python that Triton's front end refuses inside a kernel.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

namespace {

// if c: continue; rest  ->  if not (c): rest, where the rest is the remainder of the loop body and the
// branch does nothing else. Only then is the meaning certainly the same.
void RewriteContinue(const Candidate& candidate, const PyNode* node, Finding* finding) {
  const PyNode* branch = node->parent;
  if (branch == nullptr || !branch->Is(PyKind::kIf) || branch->body.size() != 1 || !branch->orelse.empty())
    return;
  const PyNode* loop = branch->parent;
  if (loop == nullptr || !(loop->Is(PyKind::kFor) || loop->Is(PyKind::kWhile)) || branch->test == nullptr)
    return;
  size_t index = 0;
  while (index < loop->body.size() && loop->body[index] != branch) ++index;
  if (index + 1 >= loop->body.size()) return;
  const PyNode* first = loop->body[index + 1];
  const PyNode* last = loop->body.back();
  // A second continue in the rest would need the same treatment first.
  bool nested = false;
  for (size_t i = index + 1; i < loop->body.size(); ++i)
    WalkPython(loop->body[i], [&](const PyNode* part) {
      nested =
          nested || part->Is(PyKind::kContinue) || part->Is(PyKind::kString) || part->Is(PyKind::kFString);
      return true;
    });
  if (nested) return;
  finding->edits.push_back(
      {branch->start, branch->end, fmt::format("if not ({}):", TextOf(candidate, branch->test))});
  const uint32_t first_line = LineOf(candidate, first);
  const uint32_t last_line = candidate.source.PositionAt(last->end).line;
  for (uint32_t line = first_line; line <= last_line; ++line) {
    if (Trim(candidate.source.Line(line)).empty()) continue;
    const uint32_t start = candidate.source.LineStart(line);
    finding->edits.push_back({start, start, "    "});
  }
}

}  // namespace

void CheckUnsupportedStatement(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces) {
    for (const KernelProblem& problem : trace.problems) {
      if (problem.kind != ProblemKind::kUnsupported) continue;
      Finding* finding = sink->AddProblem(
          problem,
          fmt::format("Triton does not support {} in a kernel ({})", problem.subject, trace.kernel->name),
          problem.fix);
      if (finding != nullptr && problem.node->Is(PyKind::kContinue))
        RewriteContinue(candidate, problem.node, finding);
    }
  }
}

}  // namespace hone

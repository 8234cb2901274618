#include "analysis/check.h"

#include <fmt/format.h>

namespace hone {

Finding& FindingSink::AddAt(uint32_t start, uint32_t end, Severity severity, std::string message,
                            std::string fix) {
  Finding& finding = out_->emplace_back();
  finding.rule = std::string(check_.rule);
  finding.severity = severity;
  finding.start = start;
  finding.end = end;
  const Position position = candidate_.source.PositionAt(start);
  finding.line = position.line;
  finding.column = position.column;
  finding.message = std::move(message);
  finding.fix = std::move(fix);
  return finding;
}

Finding& FindingSink::Add(const PyNode* node, Severity severity, std::string message, std::string fix) {
  return AddAt(node->start, node->end, severity, std::move(message), std::move(fix));
}

Finding* FindingSink::AddProblem(const KernelProblem& problem, std::string message, std::string fix) {
  const uint32_t wanted = candidate_.options.triton_versions;
  const uint32_t refused = (problem.refused_by == 0 ? kAllTriton : problem.refused_by) & wanted;
  if (refused == 0) return nullptr;
  Severity severity = Severity::kError;
  if (refused != wanted) {
    severity = Severity::kWarning;
    message += fmt::format(" (Triton {} refuses this)", DescribeVersions(refused));
  }
  if (!problem.runs) severity = Severity::kWarning;
  return &Add(problem.node, severity, std::move(message), std::move(fix));
}

void ReportProblems(const Candidate& candidate, ProblemKind kind, FindingSink* sink,
                    const std::function<std::string(const KernelTrace&, const KernelProblem&)>& message) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces)
    for (const KernelProblem& problem : trace.problems)
      if (problem.kind == kind) sink->AddProblem(problem, message(trace, problem), problem.fix);
}

std::string Circumstances(const Candidate& candidate, const KernelProblem& problem) {
  if (problem.config != nullptr)
    return fmt::format(" with the autotune config at line {}", LineOf(candidate, problem.config->node));
  if (problem.launch != nullptr)
    return fmt::format(" in the launch at line {}", LineOf(candidate, problem.launch->call));
  return "";
}

uint32_t LineOf(const Candidate& candidate, const PyNode* node) {
  return candidate.source.PositionAt(node->start).line;
}

std::string_view TextOf(const Candidate& candidate, const PyNode* node) {
  return candidate.source.text().substr(node->start, node->end - node->start);
}

}  // namespace hone

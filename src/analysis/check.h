// How a check is made: one function that looks at a candidate and reports what it finds. The name, the
// severity and the one-line summary live in the registry (registry.cpp); the long explanation is the page
// checks/<name>.md; the test is tests/golden/lint/<name>.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/candidate.h"
#include "analysis/finding.h"

namespace hone {

class FindingSink;
using CheckFunction = void (*)(const Candidate&, FindingSink*);

// What an error-level finding does to a run. Lint predicts; the judge decides.
enum class Force {
  kReport,   // is reported with the verdict. The rule has reported files that ran
  kPredict,  // the pipeline may leave out the run of a proposal; `hone bench` runs it
  kRefuse,   // never run: certain, and a run that happens to pass would show nothing
};

struct CheckInfo {
  std::string_view rule;
  Severity severity;  // the most it reports
  std::string_view summary;
  CheckFunction run;
  Force force = Force::kPredict;
};

std::span<const CheckInfo> AllChecks();
const CheckInfo* FindCheck(std::string_view rule);
// The first error-level finding whose rule has at least this force; null when there is none.
const Finding* FirstWithForce(const std::vector<Finding>& findings, Force least);
// The page that `hone lint --explain` prints; empty when there is no such rule.
std::string_view ExplainCheck(std::string_view rule);

class FindingSink {
 public:
  FindingSink(const Candidate& candidate, const CheckInfo& check, std::vector<Finding>* out)
      : candidate_(candidate), check_(check), out_(out) {}

  Finding& Add(const PyNode* node, Severity severity, std::string message, std::string fix);
  Finding& AddAt(uint32_t start, uint32_t end, Severity severity, std::string message, std::string fix);
  // A problem of the interpreter, at the severity that versions and reachability leave of an error; null
  // when the releases in question accept it.
  Finding* AddProblem(const KernelProblem& problem, std::string message, std::string fix);

 private:
  const Candidate& candidate_;
  const CheckInfo& check_;
  std::vector<Finding>* out_;
};

// Every problem of one kind that the interpreter met, each worded by `message`; the fix is the problem's own.
void ReportProblems(const Candidate& candidate, ProblemKind kind, FindingSink* sink,
                    const std::function<std::string(const KernelTrace&, const KernelProblem&)>& message);

// "in the launch at line 40" or "with the autotune config at line 12", for messages; "" when neither.
std::string Circumstances(const Candidate& candidate, const KernelProblem& problem);
uint32_t LineOf(const Candidate& candidate, const PyNode* node);
std::string_view TextOf(const Candidate& candidate, const PyNode* node);

}  // namespace hone

// Declares checks. A check is one function that examines a candidate and reports findings. Name, severity and
// one-line summary are in the registry (registry.cpp), the long explanation is checks/<name>.md, and the test
// is tests/golden/lint/<name>.
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

// The effect of an error-level finding on a run. Lint only predicts; the judge decides.
enum class Force {
  kReport,   // reported with the verdict; the rule has reported files that ran
  kPredict,  // the pipeline may skip running a proposal; `hone bench` runs it
  kRefuse,   // never run: the error is certain, and a run that happens to pass would prove nothing
};

struct CheckInfo {
  std::string_view rule;
  Severity severity;  // the highest severity that it reports
  std::string_view summary;
  CheckFunction run;
  Force force = Force::kPredict;
};

std::span<const CheckInfo> AllChecks();
const CheckInfo* FindCheck(std::string_view rule);
// The first error-level finding whose rule has at least this force, or null.
const Finding* FirstWithForce(const std::vector<Finding>& findings, Force least);
// The page that `hone lint --explain` prints. Empty for an unknown rule.
std::string_view ExplainCheck(std::string_view rule);

class FindingSink {
 public:
  FindingSink(const Candidate& candidate, const CheckInfo& check, std::vector<Finding>* out)
      : candidate_(candidate), check_(check), out_(out) {}

  Finding& Add(const PyNode* node, Severity severity, std::string message, std::string fix);
  Finding& AddAt(uint32_t start, uint32_t end, Severity severity, std::string message, std::string fix);
  // Adds a problem of the interpreter. Releases and reachability can reduce its severity. Returns null if the
  // requested releases accept the code.
  Finding* AddProblem(const KernelProblem& problem, std::string message, std::string fix);

 private:
  const Candidate& candidate_;
  const CheckInfo& check_;
  std::vector<Finding>* out_;
};

// Reports every problem of one kind that the interpreter found. `message` words each one; the fix is the
// problem's own.
void ReportProblems(const Candidate& candidate, ProblemKind kind, FindingSink* sink,
                    const std::function<std::string(const KernelTrace&, const KernelProblem&)>& message);

// "in the launch at line 40" or "with the autotune config at line 12", for messages; "" if neither applies.
std::string Circumstances(const Candidate& candidate, const KernelProblem& problem);
uint32_t LineOf(const Candidate& candidate, const PyNode* node);
std::string_view TextOf(const Candidate& candidate, const PyNode* node);

}  // namespace hone

// Turns a Measurement into a Verdict with pure functions: no clock, no process, no file. The reasons are
// stable ids. The first gate that fails determines the reason.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "evaluation/measurement.h"
#include "verdict/interval.h"
#include "verdict/reasons.h"

namespace hone {

// Facts about the task and the device that a verdict needs besides the measurement.
struct JudgeContext {
  double limit = 0;            // the widest relative limit that applies
  double reference_error = 0;  // PyTorch's own error against float64
  double floor_us = 0;
  double impossible_below_us = 0;
  int64_t reference_launches = -1;
  double process_spread = 0.02;
  double host_bound_spread =
      0;  // used instead if launching kernels dominates a call; 0 if that cannot happen
  std::vector<MutantResult> mutants;
  std::vector<Doubt> doubts;  // why the task cannot tell right from wrong
  bool allow_blind = false;   // --allow-blind: a blind input, parameter or output is only noted
  std::vector<std::string> remarks;
  bool alike_draws = false;  // see truth.h
  std::string fixed_inputs;  // inputs that are the same in all timed calls (truth.h)
  std::string degenerate;    // one sentence if the task's output does not depend on its inputs
  std::string degenerate_rule;
};
JudgeContext ContextOf(const ReferenceSession& session);

struct Verdict {
  std::string verdict;  // the name of a Decision
  std::string reason;   // the name of a Reason
  std::string detail;   // one or a few sentences about what to look at
  std::string kind;     // "kernel", "library", "mixed"; empty if unknown
  Interval vs_best;
  Interval vs_eager;
  std::string best_baseline;
  bool only_in_a_row = false;  // a single call is no faster than the baseline's
  double candidate_us = 0;
  double added_us = 0;  // the part of candidate_us that is not the slope of its blocks: fixed costs
  double best_us = 0;
  double eager_us = 0;
  double error = 0;  // the candidate's largest relative error
  double error_limit = 0;
  double reference_error = 0;
  int64_t reference_launches = -1;
  int64_t candidate_launches = -1;
  std::vector<std::pair<std::string, std::string>> gates;  // in order; "pass", "fail", "skipped"
  std::vector<std::string> blind_spots;  // mutants that the task cannot tell from the original
  int mutants_total = 0;
  bool blind = false;                   // the task detects no mutant
  std::string degenerate;               // one sentence if the output does not depend on the inputs
  std::string degenerate_rule;          // the rewrite that showed it
  std::vector<Finding> findings;        // static analysis findings, in addition to the verdict
  std::vector<ContractEntry> contract;  // restrictions for later use; a broken entry does not reject
  std::vector<std::string> notes;

  // Sets decision, reason and detail.
  void Decide(Reason why, std::string sentence);
  bool accepted() const { return verdict == NameOf(Decision::kAccepted); }
  bool rejected() const { return verdict == NameOf(Decision::kRejected); }
};

Verdict Judge(const Measurement& measurement, const JudgeContext& context);

// The JSON of `bench --json` without provenance.
OrderedJson ToJson(const Verdict& verdict);

}  // namespace hone

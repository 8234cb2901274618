// Many tasks in one table: how many have a correct candidate, how many got faster and by how much, and what
// they cost. A task without an accepted candidate counts as 1x, so that a geometric mean cannot be raised by
// giving up. Tasks that failed, or where nothing could be tried, are counted beside the means and not in
// them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/terminal.h"
#include "store/run_store.h"

namespace hone {

struct SuiteRow {
  RunRecord run;
  bool right = false;  // a candidate, not PyTorch itself, computes the same thing
  int candidates = 0;
  double ci_low = 0;  // of the best candidate's speed-up; 0: nothing is accepted
  double ci_high = 0;
  UsageTotals usage;
};

struct SuiteSummary {
  SuiteRecord suite;
  std::vector<SuiteRow> rows;  // by task name
  int counted = 0;             // in the geometric means (store/run_result.h)
  int failed = 0;
  int nothing_tried = 0;
  int unfinished = 0;
  double correct = 0;  // shares of all tasks
  double fast_1 = 0;   // accepted, and above 1x the best of PyTorch
  double fast_2 = 0;
  double fast_1_eager = 0;  // the same against eager
  double fast_2_eager = 0;
  double geomean_vs_best = 1;
  double geomean_vs_eager = 1;
  int64_t tokens = 0;
  double cost_usd = 0;
  bool price_known = true;
};

Result<SuiteSummary> Summarise(RunStore& store, const SuiteRecord& suite);
std::string SuiteText(const SuiteSummary& summary, const Style& style);
std::string SuiteCsv(const SuiteSummary& summary);
OrderedJson SuiteToJson(const SuiteSummary& summary);

}  // namespace hone

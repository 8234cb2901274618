// Many tasks in one table: how many have a correct candidate, how many got faster and by how much, and their
// cost. A task without an accepted candidate counts as 1x, so that giving up cannot raise a geometric mean.
// Tasks that failed, where nothing could be tried, or that cannot tell right from wrong are counted
// separately from the means. A degenerate task (graph/degenerate.h) is included, and a second pair of means
// leaves it out. A mean over no tasks does not exist; it is not 1x.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/terminal.h"
#include "report/mending_story.h"
#include "store/run_store.h"
#include "store/suite_parts.h"

namespace hone {

struct SuiteRow {
  RunRecord run;
  bool right = false;  // a candidate other than PyTorch itself computes the same
  int candidates = 0;
  double ci_low = 0;  // for the best candidate's speed-up; 0: nothing is accepted
  double ci_high = 0;
  UsageTotals usage;
  MendingUse mending;
};

struct SuiteSummary {
  SuiteRecord suite;
  std::vector<SuiteRow> rows;  // by task name
  int counted = 0;             // tasks in the geometric means (store/run_result.h)
  int failed = 0;
  int nothing_tried = 0;
  int cannot_judge = 0;
  int unfinished = 0;
  double correct = 0;  // shares of all tasks
  double fast_1 = 0;   // accepted, and faster than the best PyTorch baseline
  double fast_2 = 0;
  double fast_1_eager = 0;  // the same relative to eager
  double fast_2_eager = 0;
  std::optional<double> geomean_vs_best;  // no value: no task counts
  std::optional<double> geomean_vs_eager;
  int degenerate = 0;  // of the counted tasks: the output does not depend on the inputs
  std::optional<double> geomean_vs_best_without_degenerate;  // no value: all counted tasks are degenerate
  std::optional<double> geomean_vs_eager_without_degenerate;
  int64_t tokens = 0;
  double cost_usd = 0;
  bool price_known = true;
  MendingUse mending;    // of all tasks
  int shards = 0;        // 0: the suite is not divided
  MissingParts missing;  // tasks without a run here
};

Result<SuiteSummary> Summarise(RunStore& store, const SuiteRecord& suite);
// The words for a row's result: "accepted", "accepted, degenerate".
std::string RowWords(const RunRecord& run);
// Why tasks are not in the means: "1 failed, 2 with nothing to try"; empty if all are.
std::string NotCountedWords(const SuiteSummary& summary);
// "2 degenerate tasks; without them 1.30x the best PyTorch baseline, 1.50x eager", or that no other task
// counts; empty if there are none.
std::string DegenerateWords(const SuiteSummary& summary);
// "shards 2 and 5 of 16 are missing (31 tasks)" or "2 tasks have no result yet: a, b"; empty if none is
// missing.
std::string MissingWords(const SuiteSummary& summary);
std::string SuiteText(const SuiteSummary& summary, const Style& style);
std::string SuiteCsv(const SuiteSummary& summary);
// A number, or null if there is no mean.
OrderedJson MeanJson(const std::optional<double>& mean);
OrderedJson SuiteToJson(const SuiteSummary& summary);

}  // namespace hone

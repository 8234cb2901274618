// Compares two search policies over runs of the same tasks: which one found more with the same number of
// model calls, with the same dollars, and at the end. A side is any number of runs. Runs of one task are
// paired by their search seed if every run of the smaller side has a partner with its seed. Otherwise all
// runs of the task are compared with all of the other side. These are pure functions of stored records.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/best_so_far.h"
#include "report/comparison.h"
#include "report/document.h"
#include "report/messages.h"
#include "report/paired_ratio.h"

namespace hone {

struct PolicyRun {
  RunRecord run;
  CostCurve curve;
  UsageTotals usage;
};
struct PolicySide {
  std::string name;
  std::vector<PolicyRun> runs;
};

struct PolicyTotals {
  std::string name;
  int runs = 0;
  std::map<std::string, int> results;  // by the words of store/run_result.h; "": not finished
  UsageTotals usage;
  double seconds = 0;
  double median_calls = 0;  // per run
  double median_usd = 0;
};

// A cost, and each side's best speed-up at that cost: the geometric mean over tasks. A run that ended by
// itself keeps its last value. A run that a budget or failure stopped earlier is left out at that cost.
struct PolicyPoint {
  enum class Cost { kCalls, kDollars, kAll };
  Cost cost = Cost::kAll;
  double at = 0;
  std::array<double, 2> best = {1, 1};
  std::array<int, 2> spent = {0, 0};  // runs that spent this much; the others had ended by themselves
  size_t pairs = 0;
  PairedRatio ratio;
  // The cost that three quarters of the runs of both sides spent, or the end. The answer is about these
  // points.
  bool headline = false;
};

struct LeftOutRun {
  std::string run;  // "R7"
  std::string why;  // a result that no mean includes, "" (not finished), "other_side", "no_partner"
};

struct PolicyComparison {
  std::array<PolicyTotals, 2> sides;
  std::vector<ComparedField>
      settings;  // those that differ, and always the proposer, the model and the search
  size_t tasks = 0;
  size_t pairs = 0;
  size_t by_seed = 0;               // number of tasks whose runs are paired by seed
  std::vector<PolicyPoint> points;  // calls, dollars, the end; empty without a pair
  bool priced = false;              // dollars can be compared
  std::vector<LeftOutRun> left_out;
  bool same_device = true;
};
PolicyComparison ComparePolicies(const PolicySide& a, const PolicySide& b);

Document ComparisonDocument(const PolicyComparison& compared, ReportLanguage language);
OrderedJson ToJson(const PolicyComparison& compared, ReportLanguage language);

}  // namespace hone

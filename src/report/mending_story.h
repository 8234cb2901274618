// The mechanical repair in a run, from its record: how many candidates it made, how many of them are right,
// which fixes, and how many model calls it saved. Suites sum it up.
#pragma once

#include <map>
#include <string>

#include "base/json_fwd.h"
#include "report/run_report.h"

namespace hone {

struct MendingUse {
  int mended = 0;  // candidates that were repaired and judged
  int right = 0;   // right ones among them
  // Repairs that a model would have been asked for next: the repaired candidate is right, its branch had a
  // repair left, and of several replies to a call only one is repaired.
  int calls_saved = 0;
  std::map<std::string, int> fixes;  // by rule

  bool any() const { return mended > 0; }
  MendingUse& operator+=(const MendingUse& other);
};

MendingUse MendingOf(const RunRecord& run, const std::vector<CandidateRecord>& candidates,
                     const std::vector<DecisionRecord>& decisions);
// "unknown-triton-op 2, name-not-defined 1", most frequent first.
std::string FixCounts(const MendingUse& use);
// "3 candidates mended, 2 of them right, 1 model call saved; fixes: …".
std::string MendingWords(const MendingUse& use);
// Null if nothing was repaired.
OrderedJson ToJson(const MendingUse& use);

}  // namespace hone

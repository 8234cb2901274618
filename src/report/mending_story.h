// What mechanical repair did in a run, from its record: how many candidates it made, how many of them are
// right, which fixes, and how many calls of a model were not needed for that. Suites add it up.
#pragma once

#include <map>
#include <string>

#include "base/json_fwd.h"
#include "report/run_report.h"

namespace hone {

struct MendingUse {
  int mended = 0;  // candidates that were judged
  int right = 0;   // of those
  // Repairs that a model would have been asked for next: the mended candidate is right, its branch still had
  // a repair, and of several replies to a call one is repaired.
  int calls_saved = 0;
  std::map<std::string, int> fixes;  // by rule

  bool any() const { return mended > 0; }
  MendingUse& operator+=(const MendingUse& other);
};

MendingUse MendingOf(const RunRecord& run, const std::vector<CandidateRecord>& candidates,
                     const std::vector<DecisionRecord>& decisions);
// "unknown-triton-op 2, name-not-defined 1", the most frequent first.
std::string FixCounts(const MendingUse& use);
// "3 candidates mended, 2 of them right, 1 call of a model not needed; fixes: …".
std::string MendingWords(const MendingUse& use);
// null if nothing was mended.
OrderedJson ToJson(const MendingUse& use);

}  // namespace hone

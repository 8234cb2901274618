// Finds stored verdicts that can be reused. A verdict carries a hash of everything it depends on
// (provenance.conditions). The same hash means the same question, so the stored verdict answers it.
//
// Only settled verdicts are reused. A timeout, a crash or a lack of memory may be due to the machine, and the
// next attempt may end differently.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "store/store.h"

namespace hone {

// True for accepted, for a precisely measured no_difference, and for rejections that another attempt would
// repeat. `record` is the whole verdict as JSON.
bool IsSettled(const Json& record);

struct KnownVerdict {
  std::string where;  // "R3 seed0" or "V12"
  std::string created;
  Json record;
};

// Whether to reuse a run's verdict that rests on static analysis alone. A run does not start files that lint
// predicts to fail, but `hone bench` does.
enum class LintOnly { kCounts, kDoesNot };

// Returns the newest settled verdict on the candidate under these conditions, from any run, else from `hone
// bench`.
Result<std::optional<KnownVerdict>> FindKnownAnywhere(Store& store, const std::string& task,
                                                      const std::string& candidate_sha256,
                                                      const std::string& conditions,
                                                      LintOnly lint_only = LintOnly::kCounts);

}  // namespace hone

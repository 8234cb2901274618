// Verdicts that need not be reached twice. A verdict carries a hash of everything it depends on
// (provenance.conditions); the same hash again means the same question, and the stored answer can be given.
//
// Only settled verdicts are reused. A time-out, a crash or a lack of memory may be due to the machine, and
// the next attempt may end differently.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "store/store.h"

namespace hone {

// True for accepted, for no_difference that was measured precisely, and for rejections that another attempt
// would repeat. `record` is the whole verdict as JSON.
bool IsSettled(const Json& record);

struct KnownVerdict {
  std::string where;  // "R3 seed0" or "V12"
  std::string created;
  Json record;
};

// Whether a run's verdict that static analysis alone reached is an answer. A run does not start files that
// lint predicts to fail; `hone bench` does.
enum class LintOnly { kCounts, kDoesNot };

// The newest settled verdict on the candidate under these conditions: of any run, or else of `hone bench`.
Result<std::optional<KnownVerdict>> FindKnownAnywhere(Store& store, const std::string& task,
                                                      const std::string& candidate_sha256,
                                                      const std::string& conditions,
                                                      LintOnly lint_only = LintOnly::kCounts);

}  // namespace hone

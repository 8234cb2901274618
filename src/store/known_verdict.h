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

// The newest settled verdict on `task` under these conditions; nothing when there is none.
Result<std::optional<VerdictRecord>> FindKnownVerdict(Store& store, const std::string& task,
                                                      const std::string& conditions);

// The newest settled verdict under these conditions, of a candidate of any run or else of `hone bench`.
struct KnownVerdict {
  std::string where;  // "R3 seed0" or "V12"
  std::string created;
  Json record;
};
Result<std::optional<KnownVerdict>> FindKnownAnywhere(Store& store, const std::string& task,
                                                      const std::string& candidate_sha256,
                                                      const std::string& conditions);

}  // namespace hone

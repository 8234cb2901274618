// Verdicts that need not be reached twice. A verdict of `hone bench` carries a hash of everything it depends
// on (provenance.conditions); the same hash again means the same question, and the stored answer can be
// given.
//
// Only settled answers are given again. A time-out, a crash or a lack of memory may be the machine's doing,
// and the next attempt may end differently.
#pragma once

#include <optional>
#include <string>

#include "store/store.h"

namespace hone {

// True for accepted, for no_difference that was measured precisely, and for rejections that another attempt
// would repeat. `record` is the whole verdict as JSON.
bool IsSettled(const Json& record);

// The newest settled verdict on `task` under these conditions; nothing when there is none.
Result<std::optional<VerdictRecord>> FindKnownVerdict(Store& store, const std::string& task,
                                                      const std::string& conditions);

}  // namespace hone

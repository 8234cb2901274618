// A run written into a folder so that it can be played back (model/replay.h): the replies, and the steps of
// its population search (search.json). And the options under which a playback asks what the run asked.
//
// A playback judges anew, and times differ. Its steps are therefore those of the recording and not chosen by
// the new times; a step that its verdicts do not allow is left out (population_stage.cpp).
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "pipeline/run_options.h"
#include "store/run_store.h"

namespace hone {

// Gives the number of replies. An Error if the run asked no model, or the folder is not empty.
Result<size_t> WriteRecording(RunStore& store, const RunRecord& run, const fs::path& folder);

// None where the folder has no search.json.
Result<std::vector<RecordedStep>> ReadRecordedSteps(const fs::path& folder);

// The run's own options with the recording as the model, and without the settings of a server. A playback
// costs nothing and takes its own time: what money, minutes or a user stopped ends with the recorded steps,
// or with the recorded number of calls if there are none.
RunOptions ReplayOptions(const RunOptions& options, const RunRecord& run, size_t calls,
                         const std::string& folder);

// The folder that a proposer plays back; empty for any other.
std::string ReplayFolder(const RunOptions& options);

}  // namespace hone

// Walks a run again over its own record: the real spine, with a model and a judge that return the recorded
// answers, or report that the record lacks one.
//
// A recorded answer is valid only for the same question. The run is therefore first walked with its own
// options, which shows the prompt of every call and the file of every screening run as this Hone makes them.
// On another walk, an answer is returned only if the question is identical.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/run_options.h"
#include "report/run_report.h"

namespace hone {

struct Walked {
  std::set<std::string> candidates;  // judged candidates that this walk certainly reaches
  std::set<std::string> calls;
  std::vector<std::pair<std::string, std::string>>
      unknown;  // keys that it needs and the record lacks, with reasons
};

// The questions of the run's own walk.
struct Questions {
  std::map<std::string, std::string> prompts;  // by the call's key
  std::map<std::string, std::string> looks;    // hashes of screened files, by their names
};

// Walks with the run's own options and fills `asked`.
Walked WalkOwnWay(const RunStory& story, const RunOptions& options, Questions* asked);
// Walks with other options, with the answers of the run's own walk.
Walked WalkOtherWay(const RunStory& story, const RunOptions& options, const Questions& asked);

}  // namespace hone

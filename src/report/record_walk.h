// A run walked again over its own record: the real spine, with a model and a judge that answer what they
// answered then, or say that the record does not hold it.
//
// A recorded answer holds only for the same question. So the run is first walked with its own options, which
// shows the prompt of every call and the file of every screening run as this Hone makes them; on another walk
// an answer is given where the question is the same, word for word.
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
  std::set<std::string> candidates;  // judged ones that this way certainly leads to
  std::set<std::string> calls;
  std::vector<std::pair<std::string, std::string>> unknown;  // keys it needs and the record lacks; why
};

// What the run asked on its own way.
struct Questions {
  std::map<std::string, std::string> prompts;  // by the call's key
  std::map<std::string, std::string> looks;    // hashes of files, by their names
};

// The run's own way; fills `asked`.
Walked WalkOwnWay(const RunStory& story, const RunOptions& options, Questions* asked);
// Another way, over what the run asked on its own.
Walked WalkOtherWay(const RunStory& story, const RunOptions& options, const Questions& asked);

}  // namespace hone

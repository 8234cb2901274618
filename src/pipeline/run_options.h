// All options that determine a run, except secrets. They are stored when the run starts, so that resuming
// needs only the run's name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace hone {

// 0: no limit. A run stops at the first limit that it reaches, with its best so far.
struct Budget {
  int64_t tokens = 0;
  double usd = 0;
  double minutes = 0;
  int evaluations = 0;
  int calls = 0;
};

// A step of a population search as another run took it.
struct RecordedStep {
  int number = 0;
  std::string op;  // "improve", ...
  std::vector<std::string> parents;
};

struct RunOptions {
  std::string proposer = "expert";  // "expert", "llm", "replay:DIR", "exec:CMD", "agent:CMD", "import", or
                                    // "expert+" and one of the three models
  int seeds = 2;
  int repairs = 3;
  bool mend = true;         // mechanical repair before a model is asked
  bool analysis = true;     // algorithm analysis of seeds that failed or lost
  bool class_check = true;  // an algorithm candidate must match the analysis
  bool tuning = true;
  int tune_trials = 24;            // configurations that a search may screen per stage
  bool again = false;              // ignore stored verdicts
  int judge_at_most = 4;           // limit for the expert's proposals, after a screening run of all of them
  std::string search = "classic";  // or "population": the run continues after its seeds
  int patience = 24;               // the search ends after this many steps without a gain
  int breadth = 1;                 // number of steps that are chosen together and run in parallel
  int replies = 1;                 // per prompt that requests a new or better file
  std::vector<std::string> seed_from;  // names of runs whose best candidates are seeds here
  double agent_minutes = 30;           // time limit of an agent over all sessions
  std::vector<std::string> files;      // for the proposer "import": files to judge unchanged
  uint64_t search_seed = 0;
  std::vector<RecordedStep> follow;  // of a recording that is played back: taken instead of choosing
  Budget budget;
  Json model = Json::object();  // settings of a language model from the command line; never a key
  Json judge = Json::object();  // settings of the judge from the command line
};

// Whether the expert proposes candidates, alone or together with a model.
bool AsksExpert(const RunOptions& options);
bool ExpertBesideModel(const RunOptions& options);
// "llm", "replay:DIR" or "exec:CMD"; empty without a model.
std::string ModelPartOf(const RunOptions& options);

Json ToJson(const RecordedStep& step);
RecordedStep RecordedStepFrom(const Json& json);
Json ToJson(const RunOptions& options);
RunOptions RunOptionsFromJson(const Json& json);

}  // namespace hone

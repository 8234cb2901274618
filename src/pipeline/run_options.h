// Everything that decides how a run goes, apart from secrets: written into the store when the run starts, so
// that resuming needs nothing but the run's name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace hone {

// 0: no limit. A run stops at the first that is spent, with its best so far.
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
  bool mend = true;         // mechanical repair before a model is asked for one
  bool analysis = true;     // algorithm analysis of seeds that failed or lost
  bool class_check = true;  // an algorithm candidate must be what the analysis asked for
  bool tuning = true;
  int tune_trials = 24;                // configurations a search may look at, per stage
  bool again = false;                  // ignore stored verdicts
  int judge_at_most = 4;               // of the expert's proposals, after a screening run of all of them
  std::string search = "classic";      // or "population": the run goes on after its seeds
  int patience = 24;                   // steps of the search without a gain, after which it ends
  int breadth = 1;                     // steps that are chosen at once, and made side by side
  int replies = 1;                     // to a prompt that asks for a new or a better file
  std::vector<std::string> seed_from;  // names of runs whose best candidates are seeds here
  double agent_minutes = 30;           // what an agent may take, over all sittings
  std::vector<std::string> files;      // of the proposer "import": judged as they are
  uint64_t search_seed = 0;
  std::vector<RecordedStep> follow;  // of a recording that is played back: taken instead of choosing
  Budget budget;
  Json model = Json::object();  // settings of a language model, as the cli read them; never a key
  Json judge = Json::object();  // settings of the judge, likewise
};

// The expert's candidates are part of the run, alone or beside a model's.
bool AsksExpert(const RunOptions& options);
bool ExpertBesideModel(const RunOptions& options);
// "llm", "replay:DIR" or "exec:CMD"; empty where no model is asked.
std::string ModelPartOf(const RunOptions& options);

Json ToJson(const RecordedStep& step);
RecordedStep RecordedStepFrom(const Json& json);
Json ToJson(const RunOptions& options);
RunOptions RunOptionsFromJson(const Json& json);

}  // namespace hone

// What optimize, resume and suite share: from options to a run in the store, and from there to its end.
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "cli/common.h"
#include "model/http_model.h"
#include "pipeline/run_options.h"
#include "store/run_store.h"

namespace hone {

struct ModelFlags {
  std::string model;
  std::string model_repair;  // for calls that repair; empty: `model`
  std::string api_base;
  std::string api_base_repair;  // empty: `api_base`
  std::string api_style = "auto";
  std::string api_key_env;
  std::string api_key_file;
  std::string prices;
  std::string extra;  // JSON merged into every request
  int64_t max_output_tokens = 0;
  double idle_timeout_s = 300;
  double temperature = -1;  // below 0: the server's own
  std::string reasoning_effort;
};
void AddModelFlags(Command& command, ModelFlags* flags);

void AddBudgetFlags(Command& command, Budget* budget);

struct OptimizeFlags : JudgeFlags {
  std::string task;
  std::string out;
  std::string suite;  // the suite this run is a member of
  ModelFlags model;
  RunOptions run;
  std::string search = "auto";  // classic or population; auto: see OptionsOf
  int breadth = 0;              // 0: see OptionsOf
  int64_t search_seed = 0;      // 0: drawn for each run
  bool no_analysis = false;
  bool no_class_check = false;
  bool no_tuning = false;
  bool json = false;
  bool quiet = false;
};
// All but the task; the budgets included.
void AddRunFlags(Command& command, OptimizeFlags* flags);

Json ToJson(const JudgeFlags& flags);
JudgeFlags JudgeFlagsFromJson(const Json& json);
Json ToJson(const ModelFlags& flags);
ModelFlags ModelFlagsFromJson(const Json& json);

// The flags as a run keeps them, with absolute paths, and back.
RunOptions OptionsOf(const OptimizeFlags& flags);
void SetOptions(const RunOptions& options, OptimizeFlags* flags);
// The flags that give these options, as words: "--seeds", "3", "--no-tuning". What is the default is left
// out.
std::vector<std::string> FlagsFor(const RunOptions& options);
// An Error if the source of candidates cannot be used.
Status CheckProposerOf(const RunOptions& options);

// Puts a new run into the store and makes its folder. `lock` gets the run's lock before anybody can see the
// run and take it for an abandoned one; without it the run waits for a process that will work on it.
Result<RunRecord> CreateRun(RunStore& store, const OptimizeFlags& flags, UniqueFd* lock = nullptr);
// True when nothing is left to do: the run is done and its folder holds the final run.json.
bool IsFinished(const RunRecord& run);
// Prints what ExecuteRun printed at the end, from the store, and changes nothing. Returns the exit code.
Result<int> ShowFinished(RunStore& store, const RunRecord& run, bool json);
// Runs it, or what is left of it, to its end; prints the view on the way and the result at the end. Takes the
// run's lock if it is not given. Returns the exit code.
Result<int> ExecuteRun(RunStore& store, RunRecord run, bool json, bool quiet, UniqueFd lock = {});

}  // namespace hone

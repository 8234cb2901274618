// Shared by optimize, resume and suite: creates a run in the store from options, and executes it to its end.
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "cli/common.h"
#include "cli/model_flags.h"
#include "pipeline/run_options.h"
#include "store/run_store.h"

namespace hone {

void AddBudgetFlags(Command& command, Budget* budget);

struct OptimizeFlags : JudgeFlags {
  std::string task;
  std::string out;
  std::string suite;  // the suite that contains this run
  ModelFlags model;
  RunOptions run;
  std::string search = "auto";  // classic, population, or auto: see SearchOf in run_launcher.cpp
  int patience = 0;             // 0: see DefaultPatience in run_launcher.cpp
  int breadth = 0;              // 0: see OptionsOf
  int64_t search_seed = 0;      // 0: drawn anew for each run
  bool no_analysis = false;
  bool no_class_check = false;
  bool no_tuning = false;
  bool json = false;
  bool quiet = false;
};
// Adds all flags but the task, including the budgets.
void AddRunFlags(Command& command, OptimizeFlags* flags);

Json ToJson(const JudgeFlags& flags);
JudgeFlags JudgeFlagsFromJson(const Json& json);

// Convert the flags to the options of a run, with absolute paths, and back.
RunOptions OptionsOf(const OptimizeFlags& flags);
void SetOptions(const RunOptions& options, OptimizeFlags* flags);
// The flags that give these options, as words: "--seeds", "3", "--no-tuning". Leaves out default values.
std::vector<std::string> FlagsFor(const RunOptions& options);
// Returns an Error if the source of candidates cannot be used.
Status CheckProposerOf(const RunOptions& options);

// Adds a new run to the store and creates its folder. `lock` gets the run's lock before other processes can
// see the run, because they would take it for abandoned. Without `lock` the run waits for a process that will
// execute it.
Result<RunRecord> CreateRun(RunStore& store, const OptimizeFlags& flags, UniqueFd* lock = nullptr);
// True if nothing is left to do: the run is done, or its files were imported without judging them.
bool IsFinished(const RunRecord& run);
// Prints from the store what ExecuteRun printed at the end, and changes nothing. Returns the exit code.
Result<int> ShowFinished(RunStore& store, const RunRecord& run, bool json);
// Executes the run, or the rest of it, to its end, with progress and the result at the end. Takes the run's
// lock unless it is given. Returns the exit code.
Result<int> ExecuteRun(RunStore& store, RunRecord run, bool json, bool quiet, UniqueFd lock = {});

}  // namespace hone

#include "cli/run_launcher.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/shell_word.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/run_view.h"
#include "pipeline/agent_program.h"
#include "pipeline/recorded_run.h"
#include "pipeline/run_files.h"
#include "pipeline/run_lock.h"
#include "pipeline/spine.h"
#include "store/run_rows.h"

namespace hone {

void AddBudgetFlags(Command& command, Budget* budget) {
  const char* group = "Budget (the run stops when the first limit is reached and keeps its best so far)";
  command.Add("--max-tokens", &budget->tokens, "Most tokens to use, prompts and replies together")
      .Group(group)
      .AtLeast(0);
  command
      .Add("--max-usd", &budget->usd,
           "Most money to spend on models; the price of each must be known (--prices)")
      .Group(group)
      .AtLeast(0)
      .Placeholder("USD");
  command.Add("--max-calls", &budget->calls, "Most calls of a model").Group(group).AtLeast(0);
  command.Add("--max-minutes", &budget->minutes, "Longest time the run may take")
      .Group(group)
      .AtLeast(0)
      .Placeholder("MINUTES");
  command
      .Add("--max-evaluations", &budget->evaluations,
           "Most candidates to judge; confirming the winner is not counted")
      .Group(group)
      .AtLeast(0);
}

namespace {

bool IsModel(const std::string& text) {
  return text == "llm" || (StartsWith(text, "replay:") && text.size() > 7) ||
         (StartsWith(text, "exec:") && text.size() > 5);
}

std::string CheckProposer(const std::string& text) {
  const bool known = text == "expert" || IsModel(text) ||
                     (StartsWith(text, "expert+") && IsModel(text.substr(7))) ||
                     (StartsWith(text, "agent:") && text.size() > 6);
  return known ? ""
               : "'" + text +
                     "' is not expert, llm, replay:DIR, exec:CMD, expert+ with one of these three, or "
                     "agent:CMD";
}

}  // namespace

void AddRunFlags(Command& command, OptimizeFlags* flags) {
  command
      .Add("--proposer", &flags->run.proposer,
           "Where candidates come from. expert: Hone's own recipes, no network. llm: a language model. "
           "exec:CMD: a program. replay:DIR: recorded replies. agent:CMD: a coding agent. expert+llm: "
           "both sources; also expert+exec:CMD and expert+replay:DIR")
      .CheckedBy(CheckProposer)
      .Placeholder("SOURCE");
  command
      .Add("--agent-minutes", &flags->run.agent_minutes,
           "Time limit of the agent; --max-minutes may end it earlier")
      .Positive()
      .Placeholder("MINUTES");
  command.Add("--seeds", &flags->run.seeds, "Number of initial candidates").Between(0, 64);
  command
      .Add("--replies", &flags->run.replies,
           "Number of replies per prompt that asks for a new or a better file. Each becomes a candidate")
      .Between(1, 16);
  command.Add("--repairs", &flags->run.repairs, "Most attempts to repair a candidate that fails")
      .Between(0, 20);
  command.Add("--no-analysis", &flags->no_analysis,
              "Skip the algorithm analysis of seeds that fail or are slower");
  command.Add("--no-class-check", &flags->no_class_check,
              "Accept algorithm candidates of any kernel class, and tune persistent kernels too");
  command.Add("--no-tuning", &flags->no_tuning, "Skip the tuning stages");
  command.Add("--tune-trials", &flags->run.tune_trials, "Configurations to try in each tuning stage")
      .Between(1, 1000);
  command
      .Add(
          "--search", &flags->search,
          "Search strategy after the initial candidates of a model. classic: the best one is tuned, then the "
          "run ends. population: candidates are improved, combined and tuned until a budget is spent or "
          "nothing improves (--patience). auto: population for every model; a replay does what its recording "
          "did")
      .OneOf({"auto", "classic", "population"});
  command
      .Add("--patience", &flags->patience,
           "The population search ends after this many steps in a row without a gain of 1% (default: 24; 8 "
           "without --max-calls, --max-usd, --max-tokens and --max-minutes)")
      .Between(1, 100'000);
  command
      .Add("--breadth", &flags->breadth,
           "Steps of the population search that run side by side (default: 4; 1 with a budget of calls, "
           "tokens or money)")
      .Between(0, 64);
  command.Add("--search-seed", &flags->search_seed,
              "Random seed of the search and of tuning. Runs of two policies with one seed are compared "
              "in pairs (0: drawn for each run)");
  command
      .Add("--seed-from", &flags->run.seed_from,
           "Earlier run whose best candidates are seeds of this one; may be repeated")
      .Placeholder("RUN");
  command
      .Add(
          "--judge-at-most", &flags->run.judge_at_most,
          "Maximum number of built-in candidates to judge fully; the fastest in the screening run are chosen")
      .Between(1, 100);
  command.Add("--again", &flags->run.again,
              "Judge anew, even if the store has a verdict on the same bytes under the same conditions");
  AddBudgetFlags(command, &flags->run.budget);
  command.Add("--json", &flags->json, "Print the run as one JSON object on standard output");
  command.Add("-q,--quiet", &flags->quiet, "Print no progress");
  AddModelFlags(command, &flags->model);
  AddJudgeFlags(command, flags);
}

namespace {

bool IsAgent(const RunOptions& options) {
  return StartsWith(options.proposer, "agent:");
}

// Rejects combinations of options that a run does not support.
Status CheckSearch(const RunOptions& options) {
  HONE_RETURN_IF_ERROR(CheckModelRoles(options));
  const bool asks = !ModelPartOf(options).empty();
  const auto refuse = [](const std::string& text) {
    return Error{ErrorKind::kUsage, text + "; see `hone optimize --help`"};
  };
  if (options.search == "population" && !asks)
    return refuse("--search population needs a model: --proposer llm, exec:CMD, replay:DIR or expert+llm");
  if (!options.seed_from.empty() && !asks && !AsksExpert(options))
    return refuse("--seed-from is not for agents");
  if (options.seeds == 0 && !ExpertBesideModel(options) && options.seed_from.empty())
    return refuse("--seeds 0 needs other candidates to start from: --proposer expert+llm or --seed-from RUN");
  return Ok();
}

std::string ProposerWord(const std::string& proposer) {
  std::string word = proposer.substr(0, proposer.find(':'));
  for (char& c : word)
    if (c == '+') c = '-';
  return word;
}

// `hone runs` holds the lock for an instant to test whether another process holds it.
constexpr double kLockPatience_s = 0.5;

}  // namespace

namespace {

// What `auto` means. A run with a model goes on after its opening. A recording that was made without a search
// has no replies for one.
std::string SearchOf(const OptimizeFlags& flags, const RunOptions& options) {
  if (flags.search != "auto") return flags.search;
  if (ModelPartOf(options).empty()) return "classic";
  const std::string folder = ReplayFolder(options);
  if (folder.empty() || AsksExpert(options) || !options.seed_from.empty()) return "population";
  const Result<std::vector<RecordedStep>> steps = ReadRecordedSteps(folder);
  return steps.ok() && !steps->empty() ? "population" : "classic";
}

// Without a budget, patience alone limits what a search costs, and each gain begins the count again.
// --max-evaluations is no such budget, because replies that are not judged cost money as well.
constexpr int kPatienceWithoutBudget = 8;

int DefaultPatience(const RunOptions& options) {
  const Budget& budget = options.budget;
  const bool bounded = budget.calls > 0 || budget.usd > 0 || budget.tokens > 0 || budget.minutes > 0;
  const bool pays = options.search == "population" && ReplayFolder(options).empty();
  return pays && !bounded ? kPatienceWithoutBudget : RunOptions().patience;
}

}  // namespace

RunOptions OptionsOf(const OptimizeFlags& flags) {
  RunOptions options = flags.run;
  options.analysis = !flags.no_analysis;
  options.class_check = !flags.no_class_check;
  options.tuning = !flags.no_tuning;
  options.judge = ToJson(static_cast<const JudgeFlags&>(flags));
  ModelFlags model = flags.model;
  std::error_code ignored;
  for (std::string* path : {&model.api_key_file, &model.api_key_file_repair, &model.prices})
    if (!path->empty()) *path = fs::absolute(*path, ignored).string();
  const size_t folder = options.proposer.find("replay:");
  if (folder == 0 || StartsWith(options.proposer, "expert+replay:"))
    options.proposer = options.proposer.substr(0, folder + 7) +
                       fs::absolute(options.proposer.substr(folder + 7), ignored).string();
  options.search = SearchOf(flags, options);
  options.patience = flags.patience > 0 ? flags.patience : DefaultPatience(options);
  // If calls are limited, each choice should know the previous result.
  const Budget& budget = options.budget;
  const bool counted = budget.calls > 0 || budget.tokens > 0 || budget.usd > 0;
  options.breadth = flags.breadth > 0 ? flags.breadth : counted ? 1 : 4;
  options.search_seed = static_cast<uint64_t>(flags.search_seed);
  options.model = ToJson(model);
  return options;
}

void SetOptions(const RunOptions& options, OptimizeFlags* flags) {
  static_cast<JudgeFlags&>(*flags) = JudgeFlagsFromJson(options.judge);
  flags->model = ModelFlagsFromJson(options.model);
  flags->run = options;
  flags->search = options.search;
  flags->patience = options.patience == DefaultPatience(options) ? 0 : options.patience;
  flags->breadth = options.breadth;
  flags->search_seed = static_cast<int64_t>(options.search_seed);
  flags->no_analysis = !options.analysis;
  flags->no_class_check = !options.class_check;
  flags->no_tuning = !options.tuning;
}

Status CheckProposerOf(const RunOptions& options) {
  HONE_RETURN_IF_ERROR(CheckSearch(options));
  if (IsAgent(options)) HONE_RETURN_IF_ERROR(AgentCommand(options.proposer));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, ModelOf(options));
  return Ok();
}

Result<RunRecord> CreateRun(RunStore& store, const OptimizeFlags& flags, UniqueFd* lock) {
  HONE_ASSIGN_OR_RETURN(const TaskFile task, LoadTaskFile(flags.task));
  HONE_ASSIGN_OR_RETURN(const SessionOptions session, ResolveJudge(flags));
  RunOptions options = OptionsOf(flags);
  if (IsAgent(options)) {
    // The agent works in its own folder, and `resume` may be called in any folder.
    HONE_ASSIGN_OR_RETURN(std::vector<std::string> words, AgentCommand(options.proposer));
    for (std::string& word : words) word = ShellWord(word);
    options.proposer = "agent:" + Join(words, " ");
  }
  if (options.search_seed == 0) options.search_seed = RandomU64() >> 1;  // what a flag can hold
  if (const std::string folder = ReplayFolder(options); !folder.empty() && options.search == "population") {
    HONE_ASSIGN_OR_RETURN(options.follow, ReadRecordedSteps(folder));
  }
  options.judge["target"] = session.target;  // keeps the target that `auto` selected
  // Reports an unusable proposer or earlier run now, before anything is written.
  HONE_RETURN_IF_ERROR(CheckSearch(options));
  for (std::string& name : options.seed_from) {
    HONE_ASSIGN_OR_RETURN(const RunRecord earlier, store.FindRun(name).WithContext("--seed-from"));
    name = earlier.name;
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, ModelOf(options));
  RunRecord run;
  run.created = UtcTimestamp();
  std::string stamp;
  for (const char c : run.created)
    if (c != '-' && c != ':' && c != 'Z') stamp += c == 'T' ? '-' : c;
  run.status = "running";
  run.task = task.name;
  run.task_path = task.path.string();
  run.task_sha256 = task.sha256;
  run.task_source = task.source;
  run.target = session.target;
  run.proposer = options.proposer;
  run.model = model == nullptr ? "" : model->name();
  run.options = DumpJson(ToJson(options));
  if (!flags.suite.empty()) {
    HONE_ASSIGN_OR_RETURN(const SuiteRecord suite, store.FindSuite(flags.suite));
    run.suite_id = suite.id;
  }
  const std::string base = fmt::format("{}_{}_{}", stamp, task.name, ProposerWord(options.proposer));
  for (int attempt = 1; attempt <= 100; ++attempt) {
    run.name = attempt == 1 ? base : fmt::format("{}-{}", base, attempt);
    const fs::path folder = flags.out.empty() ? fs::path("runs") / run.name : fs::path(flags.out);
    std::error_code ignored;
    run.folder = fs::absolute(folder, ignored).lexically_normal().string();
    if (run.folder.size() > 1 && run.folder.back() == '/') run.folder.pop_back();
    if (flags.out.empty() && fs::exists(fs::symlink_status(run.folder, ignored))) continue;
    HONE_RETURN_IF_ERROR(CheckFolderIsFree(store, run.folder));
    // The folder comes first. If it cannot be created, no run is left behind.
    HONE_RETURN_IF_ERROR(MakeFolders(run.folder).WithContext("the run's folder (choose another with --out)"));
    Result<int64_t> id = store.AddRun(run, [&](int64_t given) -> Status {
      if (lock == nullptr) return Ok();
      HONE_ASSIGN_OR_RETURN(*lock, LockRun(given, kLockPatience_s));
      return Ok();
    });
    if (id.ok()) {
      run.id = *id;
      return run;
    }
    if (!Contains(id.error().message, "UNIQUE")) return id.error();
  }
  return Error{ErrorKind::kIo, "cannot find a free name for the run"};
}

namespace {

// Prints the result and returns the exit code.
Result<int> PrintEnd(Recorder& recorder, const RunEnd& end, bool json) {
  if (json) {
    HONE_ASSIGN_OR_RETURN(const std::string text, recorder.SummaryText());
    fmt::print("{}", text);
  } else {
    fmt::print("{}", EndText(recorder.run(), end, Style(stdout)));
  }
  if (end.status == "stopped" && Contains(end.outcome, "interrupted")) return kExitInterrupted;
  if (end.status == "failed") return kExitCannot;
  return end.best ? kExitAccepted : kExitRejected;
}

}  // namespace

bool IsFinished(const RunRecord& run) {
  return run.status == "done" || !OwnsItsFolder(run);
}

Result<int> ShowFinished(RunStore& store, const RunRecord& run, bool json) {
  RunEnd end;
  end.status = run.status;
  end.result = run.result;
  end.outcome = run.outcome;
  if (!run.best_key.empty()) {
    HONE_ASSIGN_OR_RETURN(end.best, store.Candidate(run.id, run.best_key));
  }
  fmt::print(stderr, "hone: R{} is finished; nothing was changed\n", run.id);
  Recorder recorder(store, run, {});
  return PrintEnd(recorder, end, json);
}

Result<int> ExecuteRun(RunStore& store, RunRecord run, bool json, bool quiet, UniqueFd lock) {
  if (!lock.valid()) {
    HONE_ASSIGN_OR_RETURN(lock, LockRun(run.id, kLockPatience_s));
  }
  HONE_RETURN_IF_ERROR(
      store.FindRun(fmt::format("R{}", run.id)));  // `hone gc` may have deleted the run first
  HONE_ASSIGN_OR_RETURN(const Json stored, ParseJson(run.options));
  if (IsFromArchive(stored))
    return Error{
        ErrorKind::kUsage,
        "this run came from an archive; it can be read but not continued, because its commands and servers "
        "were chosen on another machine; start a new run with: hone optimize TASK"};
  const RunOptions options = RunOptionsFromJson(stored);
  HONE_ASSIGN_OR_RETURN(SessionOptions session, ResolveJudge(JudgeFlagsFromJson(options.judge)));
  // A proposer can fix what lint predicts to fail without running it.
  session.lint_predicts = true;
  if (IsAgent(options)) HONE_RETURN_IF_ERROR(AgentCommand(options.proposer));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, ModelOf(options));
  // The model is told how many launches its candidate made, even if that was slow.
  session.profile_all = model != nullptr || IsAgent(options);
  // Uses the recorded source, even if the file has changed since.
  const TaskFile task{run.task_path, run.task, run.task_source, run.task_sha256};
  run.status = "running";
  run.finished.clear();
  RunView view(run, options, quiet || json ? RunView::Mode::kSilent : RunView::Choose());
  Recorder recorder(store, run, view.Watcher());
  HONE_RETURN_IF_ERROR(recorder.SaveRun());
  // Recipes read the graph. Exporting a module takes seconds.
  session.capture_graph = AsksExpert(options);
  const bool several = model == nullptr || options.seeds > 1 || options.repairs > 0 || options.analysis ||
                       options.tuning || AsksExpert(options) || options.search == "population" ||
                       !options.seed_from.empty();
  SessionJudge judge(task, session, several);
  if (!several) judge.SetNext(NextCandidate::kIfRight);
  if (!options.again) judge.ReuseFrom(&store);
  Spine spine(recorder, judge, model.get(), task, options);
  Result<RunEnd> end = spine.Run();
  view.Close();
  if (!end.ok()) return end.error();
  return PrintEnd(recorder, *end, json);
}

}  // namespace hone

#include "cli/suite_command.h"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/live_line.h"
#include "cli/run_launcher.h"
#include "cli/suite_command.h"
#include "cli/task_folder.h"
#include "process/child.h"
#include "report/run_report.h"
#include "report/suite_report.h"

namespace hone {

namespace {

struct SuiteFlags : OptimizeFlags {
  std::vector<std::string> where;
  std::string range;
  std::string name;
  std::string csv;
  int jobs = 1;
};

// Runs members that are not done, `jobs` at a time, each in a child; a child that dies is a row like others.
Result<int> RunMembers(RunStore& store, const SuiteRecord& suite, int jobs, bool json, bool quiet,
                       const std::string& csv) {
  HONE_ASSIGN_OR_RETURN(std::vector<RunRecord> members, store.Runs(1'000'000, suite.id));
  std::reverse(members.begin(), members.end());
  std::erase_if(members, [](const RunRecord& run) { return run.status == "done"; });
  struct Job {
    RunRecord run;
    std::unique_ptr<Child> child;
  };
  std::vector<Job> running;
  // Lines for a log; on a terminal also one that is redrawn in place.
  LiveLine line(quiet || !IsTerminal(stderr) ? LiveLine::Mode::kSilent : LiveLine::Mode::kTerminal);
  const auto say = [&](const std::string& text) {
    line.Clear();
    if (!quiet) fmt::print(stderr, "hone: {}\n", text);
  };
  size_t next = 0;
  const size_t total = members.size();
  const Result<Json> options = ParseJson(suite.options);
  const fs::path folder =
      options.ok() ? GetString(*options, "folder", "runs/" + suite.name) : "runs/" + suite.name;
  std::error_code ignored;
  const bool finished = members.empty() && fs::exists(folder / "summary.json", ignored);
  if (finished) fmt::print(stderr, "hone: {} is finished; nothing was changed\n", suite.name);
  while (!Interrupted() && (next < members.size() || !running.empty())) {
    while (next < members.size() && running.size() < static_cast<size_t>(jobs)) {
      const RunRecord& run = members[next++];
      say(fmt::format("{} ({} of {})", run.task, next, total));
      ChildSpec spec;
      spec.argv = {OwnExecutable().string(), "resume", run.name, "--quiet"};
      spec.env = CurrentEnvironment();
      HONE_ASSIGN_OR_RETURN(std::unique_ptr<Child> child, Child::Spawn(spec));
      running.push_back(Job{run, std::move(child)});
    }
    for (auto job = running.begin(); job != running.end();) {
      if (job->child->running()) {
        ++job;
        continue;
      }
      HONE_ASSIGN_OR_RETURN(RunRecord run, store.FindRun(job->run.name));
      if (run.status == "running") {
        const ExitReport report = job->child->report();
        run.status = "failed";
        run.outcome = report.signal != 0 ? fmt::format("its process was ended by signal {}", report.signal)
                                         : std::string(Trim(Tail(report.err, 300)));
        run.finished = UtcTimestamp();
        HONE_RETURN_IF_ERROR(store.UpdateRun(run));
      }
      say(fmt::format("{}: {}", run.task, SafeForTerminal(run.outcome)));
      job = running.erase(job);
    }
    if (!running.empty()) {
      std::vector<std::string> names;
      for (const Job& job : running) names.push_back(job.run.task);
      line.AsProgress(Join(names, ", "))("runs", static_cast<int>(next) - 1, static_cast<int>(total));
    }
    if (!SleepUnlessInterrupted(0.05)) break;
  }
  if (Interrupted()) {
    // Members have process groups of their own, so Ctrl-C is passed on; they end as a run of their own would.
    for (Job& job : running) kill(job.child->pid(), SIGINT);
    const Deadline deadline = Deadline::After(10);
    for (Job& job : running)
      while (job.child->running() && !deadline.passed())
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    running.clear();
    fmt::print(stderr, "hone: interrupted; to continue: hone resume {}\n", suite.name);
    return 130;
  }
  line.Clear();
  HONE_ASSIGN_OR_RETURN(const SuiteSummary summary, Summarise(store, suite));
  if (!finished && MakeFolders(folder).ok()) {
    (void)WriteFileAtomic(folder / "summary.txt", SuiteText(summary, Style(false))).ok();
    (void)WriteFileAtomic(folder / "summary.csv", SuiteCsv(summary)).ok();
    (void)WriteFileAtomic(folder / "summary.json", DumpJson(SuiteToJson(summary), 2) + "\n").ok();
  }
  if (!csv.empty()) HONE_RETURN_IF_ERROR(WriteFileAtomic(csv, SuiteCsv(summary)));
  if (json)
    fmt::print("{}\n", DumpJson(SuiteToJson(summary), 2));
  else
    fmt::print("{}", SuiteText(summary, Style(stdout)));
  const bool failed = std::any_of(summary.rows.begin(), summary.rows.end(),
                                  [](const SuiteRow& row) { return row.run.status == "failed"; });
  return failed ? kExitCannot : summary.fast_1 == 1 ? kExitAccepted : kExitRejected;
}

Result<int> StartSuite(SuiteFlags flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const FoundTasks found, FindTasks(flags.where, flags.range));
  for (const SkippedFile& one : found.skipped)
    fmt::print(stderr, "hone: skipped {}: {}\n", SafeForTerminal(one.path.string()), one.why);
  SuiteRecord suite;
  suite.created = UtcTimestamp();
  suite.name = flags.name;
  if (suite.name.empty()) {
    suite.name = "suite-";
    for (const char c : suite.created)
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) suite.name += c == 'T' ? '-' : c;
    if (suite.name.back() == 'Z') suite.name.pop_back();
  }
  if (suite.name.find('/') != std::string::npos)
    return Error{ErrorKind::kUsage, "--name must be a plain name"};
  if (store->FindSuite(suite.name).ok())
    return Error{ErrorKind::kUsage, "a suite of that name exists; to continue it: hone resume " + suite.name};
  const std::string out = flags.out.empty() ? "runs/" + suite.name : flags.out;
  std::error_code ignored;
  suite.options = DumpJson(Json{{"jobs", flags.jobs}, {"folder", fs::absolute(out, ignored).string()}});
  HONE_ASSIGN_OR_RETURN(suite.id, store->AddSuite(suite));
  flags.suite = suite.name;
  for (const fs::path& task : found.tasks) {
    flags.task = task.string();
    flags.out = (fs::path(out) / task.stem()).string();
    HONE_RETURN_IF_ERROR(CreateRun(*store, flags));
  }
  return RunMembers(*store, suite, flags.jobs, flags.json, flags.quiet, flags.csv);
}

}  // namespace

Result<int> ResumeSuite(const std::string& name, int jobs, bool json, bool quiet) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const SuiteRecord suite, store->FindSuite(name));
  const Result<Json> options = ParseJson(suite.options);
  const int before = options.ok() ? static_cast<int>(GetInt(*options, "jobs", 1)) : 1;
  return RunMembers(*store, suite, jobs > 0 ? jobs : before, json, quiet, "");
}

void AddSuiteCommand(CommandTable& table) {
  Command& command = table.Add("suite", "Optimize many tasks and print one table; can be resumed");
  auto flags = std::make_shared<SuiteFlags>();
  command.Add("DIR", &flags->where, "Folders of task files, or task files").Required();
  command
      .Add("--range", &flags->range,
           "Only tasks whose names begin with a number in this range, such as 33-42")
      .Placeholder("FIRST-LAST");
  command.Add("--jobs", &flags->jobs, "Tasks to run at once; timing runs one at a time per device")
      .Between(1, 64);
  command.Add("--name", &flags->name, "Name of the suite (default: suite-<time>)").Placeholder("NAME");
  command.Add("--csv", &flags->csv, "Also write the table to this CSV file").Placeholder("FILE");
  command.Add("--out", &flags->out, "Folder for the runs (default: runs/<suite>)").Placeholder("DIR");
  AddRunFlags(command, flags.get());
  command.Note("The table is also written to summary.txt, .csv and .json in the folder of the runs.");
  command.Note(
      "Exit code: 0 every task got faster, 1 some did not, 2 wrong usage, 3 a task could not be run.");
  command.Example("hone suite tasks --range 33-42");
  command.Example(
      "hone suite KernelBench/level3 --proposer llm --model deepseek-chat --jobs 4 --csv table.csv");
  command.Example("hone resume suite-20260131-235959");
  command.Runs([flags] { return StartSuite(*flags); });
}

}  // namespace hone

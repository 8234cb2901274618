#include "cli/suite_command.h"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/run_launcher.h"
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

Result<std::pair<int, int>> ParseRange(const std::string& text) {
  int low = 0;
  int high = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%d-%d%c", &low, &high, &rest) == 2 && low <= high)
    return std::pair(low, high);
  if (std::sscanf(text.c_str(), "%d%c", &low, &rest) == 1) return std::pair(low, low);
  return Error{ErrorKind::kUsage, "--range '" + text + "' is not a number or FIRST-LAST, such as 33-42"};
}

Result<std::vector<fs::path>> FindTasks(const SuiteFlags& flags) {
  std::vector<fs::path> tasks;
  for (const std::string& where : flags.where) {
    std::error_code code;
    if (fs::is_regular_file(where, code)) {
      tasks.emplace_back(where);
      continue;
    }
    fs::directory_iterator entries(where, code);
    if (code) return Error{ErrorKind::kNotFound, "cannot read the folder " + where + ": " + code.message()};
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : entries)
      if (entry.path().extension() == ".py" && !StartsWith(entry.path().filename().string(), "_"))
        found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    tasks.insert(tasks.end(), found.begin(), found.end());
  }
  if (!flags.range.empty()) {
    HONE_ASSIGN_OR_RETURN(const auto range, ParseRange(flags.range));
    std::erase_if(tasks, [&](const fs::path& path) {
      const std::string name = path.filename().string();
      if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) == 0) return true;
      const int number = std::atoi(name.c_str());
      return number < range.first || number > range.second;
    });
  }
  if (tasks.empty())
    return Error{ErrorKind::kNotFound,
                 "no task files there" + (flags.range.empty() ? "" : " in the range " + flags.range)};
  return tasks;
}

// Runs members that are not done, `jobs` at a time, each in a child; a child that dies is a row like others.
Result<int> RunMembers(RunStore& store, const SuiteRecord& suite, int jobs, bool json,
                       const std::string& csv) {
  HONE_ASSIGN_OR_RETURN(std::vector<RunRecord> members, store.Runs(1'000'000, suite.id));
  std::reverse(members.begin(), members.end());
  std::erase_if(members, [](const RunRecord& run) { return run.status == "done"; });
  struct Job {
    RunRecord run;
    std::unique_ptr<Child> child;
  };
  std::vector<Job> running;
  size_t next = 0;
  const size_t total = members.size();
  while (!Interrupted() && (next < members.size() || !running.empty())) {
    while (next < members.size() && running.size() < static_cast<size_t>(jobs)) {
      const RunRecord& run = members[next++];
      fmt::print(stderr, "hone: {} ({} of {})\n", run.task, next, total);
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
      fmt::print(stderr, "hone: {}: {}\n", run.task, SafeForTerminal(run.outcome));
      job = running.erase(job);
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
    fmt::print(stderr, "hone: interrupted; `hone resume {}` goes on\n", suite.name);
    return 130;
  }
  HONE_ASSIGN_OR_RETURN(const SuiteSummary summary, Summarise(store, suite));
  const Result<Json> options = ParseJson(suite.options);
  const fs::path folder =
      options.ok() ? GetString(*options, "folder", "runs/" + suite.name) : "runs/" + suite.name;
  if (MakeFolders(folder).ok()) {
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
  HONE_ASSIGN_OR_RETURN(const std::vector<fs::path> tasks, FindTasks(flags));
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
    return Error{ErrorKind::kUsage,
                 "there is a suite of that name already; go on with it: hone resume " + suite.name};
  const std::string out = flags.out.empty() ? "runs/" + suite.name : flags.out;
  std::error_code ignored;
  suite.options = DumpJson(Json{{"jobs", flags.jobs}, {"folder", fs::absolute(out, ignored).string()}});
  HONE_ASSIGN_OR_RETURN(suite.id, store->AddSuite(suite));
  flags.suite = suite.name;
  for (const fs::path& task : tasks) {
    flags.task = task.string();
    flags.out = (fs::path(out) / task.stem()).string();
    HONE_RETURN_IF_ERROR(CreateRun(*store, flags));
  }
  return RunMembers(*store, suite, flags.jobs, flags.json, flags.csv);
}

}  // namespace

Result<int> ResumeSuite(const std::string& name, int jobs, bool json) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const SuiteRecord suite, store->FindSuite(name));
  const Result<Json> options = ParseJson(suite.options);
  const int before = options.ok() ? static_cast<int>(GetInt(*options, "jobs", 1)) : 1;
  return RunMembers(*store, suite, jobs > 0 ? jobs : before, json, "");
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

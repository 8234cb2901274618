#include "cli/suite_command.h"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/ids.h"
#include "base/interrupt.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/live_line.h"
#include "cli/run_launcher.h"
#include "cli/suite_on_ray.h"
#include "cli/suite_schedule.h"
#include "cli/task_folder.h"
#include "process/child.h"
#include "report/run_report.h"
#include "report/suite_report.h"
#include "store/run_rows.h"
#include "store/suite_parts.h"

namespace hone {

namespace {

struct SuiteFlags : OptimizeFlags {
  std::vector<std::string> where;
  std::string range;
  std::string name;
  std::string csv;
  std::string shard;
  std::string on;
  std::vector<std::string> devices;
  int jobs = 1;
  int cores = 0;
  int attempts = 3;
  bool allow_mixed = false;
};

// A member in a separate process.
class MemberProcess : public RunningMember {
 public:
  explicit MemberProcess(std::unique_ptr<Child> child) : child_(std::move(child)) {}
  bool running() override { return child_->running(); }
  // Members have their own process groups, so Ctrl-C is passed on. They end like a single run.
  void Interrupt() override { kill(child_->pid(), SIGINT); }
  const Child& child() const { return *child_; }

 private:
  std::unique_ptr<Child> child_;
};

Result<std::unique_ptr<RunningMember>> StartMember(const RunRecord& run, const SuiteSlot& slot) {
  ChildSpec spec;
  spec.argv = {OwnExecutable().string(), "resume", run.name, "--quiet"};
  spec.env = CurrentEnvironment();
  if (!slot.visible.empty()) SetVariable(spec.env, "CUDA_VISIBLE_DEVICES", slot.visible);
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Child> child, Child::Spawn(spec));
  return std::unique_ptr<RunningMember>(new MemberProcess(std::move(child)));
}

// A member whose process died gets a row like the others.
Result<RunRecord> EndOfMember(RunStore& store, const RunRecord& started, RunningMember* member,
                              const Error* why) {
  HONE_ASSIGN_OR_RETURN(RunRecord run, store.FindRun(fmt::format("R{}", started.id)));
  if (run.status != "running") return run;
  run.status = "failed";
  run.finished = UtcTimestamp();
  if (why != nullptr) {
    run.outcome = why->message;
  } else {
    const ExitReport report = static_cast<MemberProcess*>(member)->child().report();
    run.outcome = report.signal != 0 ? fmt::format("its process was ended by signal {}", report.signal)
                                     : std::string(Trim(Tail(report.err, 300)));
  }
  HONE_RETURN_IF_ERROR(store.UpdateRun(run));
  return run;
}

// The members to run here: not done, and not from an archive. `only` is empty or holds names of tasks.
Result<std::vector<RunRecord>> UnfinishedMembers(RunStore& store, const SuiteRecord& suite,
                                                 const std::set<std::string>& only) {
  HONE_ASSIGN_OR_RETURN(std::vector<RunRecord> members, store.Runs(1'000'000, suite.id));
  std::reverse(members.begin(), members.end());
  std::vector<RunRecord> left;
  int elsewhere = 0;
  for (RunRecord& member : members) {
    if (member.status == "done" || (!only.empty() && only.count(member.task) == 0)) continue;
    HONE_ASSIGN_OR_RETURN(const RunRecord whole, store.FindRun(fmt::format("R{}", member.id)));
    const Result<Json> options = ParseJson(whole.options);
    if (options.ok() && IsFromArchive(*options))
      ++elsewhere;
    else
      left.push_back(std::move(member));
  }
  if (elsewhere > 0)
    fmt::print(stderr,
               "hone: {} unfinished runs came from archives; continue them where they were started, then "
               "import them again\n",
               elsewhere);
  return left;
}

// Runs unfinished members, one per slot, each in a child process.
Result<int> RunMembers(RunStore& store, const SuiteRecord& suite, const std::set<std::string>& only,
                       const std::vector<SuiteSlot>& slots, bool json, bool quiet, const std::string& csv) {
  HONE_ASSIGN_OR_RETURN(const std::vector<RunRecord> members, UnfinishedMembers(store, suite, only));
  // Prints lines for a log. On a terminal it also redraws one line in place.
  LiveLine line(quiet || !IsTerminal(stderr) ? LiveLine::Mode::kSilent : LiveLine::Mode::kTerminal);
  const auto say = [&](const std::string& text) {
    line.Clear();
    if (!quiet) fmt::print(stderr, "hone: {}\n", text);
  };
  std::error_code ignored;
  const bool finished = members.empty() && fs::exists(FolderOfSuite(suite) / "summary.json", ignored);
  if (finished) fmt::print(stderr, "hone: {} is finished; nothing was changed\n", suite.name);
  ScheduleHooks hooks;
  size_t begun = 0;
  hooks.start = [&](const RunRecord& run, const SuiteSlot& slot) {
    say(fmt::format("{} ({} of {}){}", run.task, ++begun, members.size(),
                    slot.name.empty() ? "" : " on " + slot.name));
    return StartMember(run, slot);
  };
  hooks.ended = [&](const RunRecord& started, RunningMember* member, const Error* why) -> Status {
    HONE_ASSIGN_OR_RETURN(const RunRecord run, EndOfMember(store, started, member, why));
    say(fmt::format("{}: {}", run.task, SafeForTerminal(run.outcome)));
    return Ok();
  };
  hooks.wait = [&](const std::vector<const RunRecord*>& running, size_t started) {
    std::vector<std::string> names;
    for (const RunRecord* run : running) names.push_back(run->task);
    line.AsProgress(Join(names, ", "))("runs", static_cast<int>(started) - 1,
                                       static_cast<int>(members.size()));
    return SleepUnlessInterrupted(0.05);
  };
  HONE_ASSIGN_OR_RETURN(const bool all, RunOnSlots(members, slots, hooks));
  line.Clear();
  if (!all) {
    fmt::print(stderr, "hone: interrupted; to continue: hone resume {}\n", suite.name);
    return kExitInterrupted;
  }
  return PrintSuite(store, suite, !finished, json, csv);
}

// If `asked` is empty, returns `jobs` slots that share all devices.
Result<std::vector<SuiteSlot>> SlotsFor(const std::vector<std::string>& asked, int jobs, bool quiet) {
  if (asked.empty()) return SharedSlots(jobs);
  const char* allowed = std::getenv("CUDA_VISIBLE_DEVICES");
  const Result<std::vector<VisibleGpu>> gpus = ListVisibleGpus(allowed == nullptr ? "" : allowed);
  if (!gpus.ok() && StartsWith(asked[0], "cpu")) return DeviceSlots(asked, {});
  if (!gpus.ok())
    return Error{
        ErrorKind::kUnavailable,
        fmt::format("--devices: no NVIDIA GPU can be used here ({}); leave --devices out to judge on "
                    "the processor",
                    gpus.error().message)};
  HONE_ASSIGN_OR_RETURN(std::vector<SuiteSlot> slots, DeviceSlots(asked, *gpus));
  const unsigned cores = std::thread::hardware_concurrency();
  if (!quiet && cores < 2 * slots.size())
    fmt::print(
        stderr,
        "hone: {} cores for {} GPUs: a judge needs two, so timings may wait for a processor and end as "
        "inconclusive\n",
        cores, slots.size());
  return slots;
}

Result<std::string> NameOfSuite(const SuiteFlags& flags, const std::string& created) {
  std::string name = flags.name;
  if (name.empty()) {
    name = "suite-";
    for (const char c : created)
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c == 'T' ? '-' : c;
    if (name.back() == 'Z') name.pop_back();
  }
  if (name.find('/') != std::string::npos || name[0] == '.')
    return Error{ErrorKind::kUsage, "--name must be a plain name"};
  return name;
}

// The tasks as parts of a suite whose runs come from several machines.
Result<SuiteParts> PartsFor(const std::vector<fs::path>& tasks, int shards) {
  SuiteParts parts;
  parts.shards = shards;
  std::set<std::string> names;
  std::string all;
  for (const fs::path& task : tasks) {
    const std::string name = task.stem().string();
    if (!names.insert(name).second)
      return Error{ErrorKind::kUsage, fmt::format("two tasks are called {}; rename one, or run them as two "
                                                  "suites",
                                                  SafeForTerminal(name))};
    const Result<std::string> text = ReadFile(task);
    all += name + " " + Sha256(text.ok() ? *text : "") + "\n";
    parts.tasks.push_back(name);
  }
  parts.sha256 = Sha256(all);
  return parts;
}

// Adds members that the store lacks: all at the first start, some after a kill.
Status CreateMembers(RunStore& store, const SuiteRecord& suite, const std::vector<fs::path>& tasks,
                     SuiteFlags flags) {
  HONE_ASSIGN_OR_RETURN(const std::vector<RunRecord> runs, store.Runs(1'000'000, suite.id));
  std::set<std::string> there;
  if (!flags.shard.empty())
    for (const RunRecord& run : runs) there.insert(run.task);
  const fs::path folder = FolderOfSuite(suite);
  flags.suite = suite.name;
  for (const fs::path& task : tasks) {
    if (there.count(task.stem().string()) != 0) continue;
    flags.task = task.string();
    flags.out = (folder / task.stem()).string();
    HONE_RETURN_IF_ERROR(CreateRun(store, flags));
  }
  return Ok();
}

// A shard joins the suite with its name if the store has other shards of it. It resumes if it is there
// already.
Result<SuiteRecord> JoinSuite(RunStore& store, const SuiteRecord& suite, const SuiteParts& parts) {
  Result<SuiteRecord> there = store.FindSuite(suite.name);
  if (!there.ok()) {
    if (store.AddSuite(suite).ok()) return store.FindSuite(suite.name);
    there = store.FindSuite(suite.name);  // another shard created it first
  }
  if (!there.ok()) return there.error();
  const SuiteParts theirs = PartsOf(*there);
  if (theirs.sha256 != parts.sha256 || theirs.shards != parts.shards)
    return Error{ErrorKind::kUsage,
                 fmt::format("the suite {} in this store has other tasks or another number of shards; choose "
                             "another --name",
                             suite.name)};
  return there;
}

Result<int> StartSuite(SuiteFlags flags) {
  if (!flags.devices.empty() && flags.target == "cpu")
    return Error{ErrorKind::kUsage, "--devices is for GPUs; leave it out with --target cpu"};
  if (!flags.on.empty()) {
    HONE_RETURN_IF_ERROR(CheckRayAddress(flags.on));
    if (!flags.devices.empty() || !flags.shard.empty() || flags.jobs != 1)
      return Error{ErrorKind::kUsage,
                   "--on ray chooses devices and places itself; leave out --devices, --jobs "
                   "and --shard"};
    if (StartsWith(flags.run.proposer, "agent:"))
      return Error{ErrorKind::kUsage,
                   "--on ray starts no agents; run `hone suite --shard K/N` with the agent on each machine "
                   "and merge with `hone import`"};
  }
  ShardChoice shard;
  if (!flags.shard.empty()) {
    HONE_ASSIGN_OR_RETURN(shard, ParseShard(flags.shard));
    if (flags.name.empty())
      return Error{ErrorKind::kUsage,
                   "--shard needs --name NAME: `hone import` merges the shards that have one name"};
  }
  // Before the suite is in the store, because its runs could not be created.
  HONE_RETURN_IF_ERROR(CheckProposerOf(OptionsOf(flags)));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const FoundTasks found, FindTasks(flags.where, flags.range));
  for (const SkippedFile& one : found.skipped)
    fmt::print(stderr, "hone: skipped {}: {}\n", SafeForTerminal(one.path.string()), one.why);
  SuiteRecord suite;
  suite.created = UtcTimestamp();
  HONE_ASSIGN_OR_RETURN(suite.name, NameOfSuite(flags, suite.created));
  // A generated name contains the second. A second suite in the same second gets a number.
  const std::string base = suite.name;
  for (int number = 2; flags.name.empty() && store->FindSuite(suite.name).ok(); ++number)
    suite.name = fmt::format("{}-{}", base, number);
  if (flags.shard.empty() && store->FindSuite(suite.name).ok())
    return Error{ErrorKind::kUsage, "a suite of that name exists; to continue it: hone resume " + suite.name};
  HONE_ASSIGN_OR_RETURN(const std::vector<SuiteSlot> slots, SlotsFor(flags.devices, flags.jobs, flags.quiet));
  std::error_code ignored;
  const fs::path folder = fs::absolute(flags.out.empty() ? "runs/" + suite.name : flags.out, ignored);
  Json options = {{"jobs", flags.jobs}, {"folder", folder.string()}};
  if (!flags.devices.empty()) options["devices"] = flags.devices;
  if (!flags.on.empty()) {
    HONE_ASSIGN_OR_RETURN(const SuiteParts parts, PartsFor(found.tasks, 0));
    AddParts(parts, &options);
    const RayChoices choices{flags.on, flags.cores, flags.attempts, flags.allow_mixed};
    return StartOnRay(*store, suite, options, found.tasks, OptionsOf(flags), choices,
                      {flags.json, flags.quiet});
  }
  std::vector<fs::path> mine = found.tasks;
  std::set<std::string> only;
  if (shard.shards > 0) {
    HONE_ASSIGN_OR_RETURN(const SuiteParts parts, PartsFor(found.tasks, shard.shards));
    AddParts(parts, &options);
    mine.clear();
    for (size_t i = 0; i < found.tasks.size(); ++i)
      if (ShardOf(i, shard.shards) == shard.shard) mine.push_back(found.tasks[i]);
    for (const fs::path& task : mine) only.insert(task.stem().string());
    suite.options = DumpJson(options);
    HONE_ASSIGN_OR_RETURN(suite, JoinSuite(*store, suite, parts));
    if (mine.empty()) {
      fmt::print(stderr, "hone: shard {} has none of the {} tasks\n", flags.shard, found.tasks.size());
      return PrintSuite(*store, suite, true, flags.json, flags.csv);
    }
  } else {
    suite.options = DumpJson(options);
    HONE_ASSIGN_OR_RETURN(suite.id, store->AddSuite(suite));
  }
  HONE_RETURN_IF_ERROR(CreateMembers(*store, suite, mine, flags));
  return RunMembers(*store, suite, only, slots, flags.json, flags.quiet, flags.csv);
}

}  // namespace

fs::path FolderOfSuite(const SuiteRecord& suite) {
  const Result<Json> options = ParseJson(suite.options);
  const std::string usual = "runs/" + suite.name;
  return options.ok() ? GetString(*options, "folder", usual) : usual;
}

Result<int> PrintSuite(RunStore& store, const SuiteRecord& suite, bool keep_files, bool json,
                       const std::string& csv) {
  HONE_ASSIGN_OR_RETURN(const SuiteSummary summary, Summarise(store, suite));
  const fs::path folder = FolderOfSuite(suite);
  if (keep_files && MakeFolders(folder).ok()) {
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
  const bool lost = summary.shards == 0 && summary.missing.any();
  return failed || lost ? kExitCannot : summary.fast_1 == 1 ? kExitAccepted : kExitRejected;
}

Result<int> ResumeSuite(const std::string& name, const SuiteResumption& how, bool json, bool quiet) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const SuiteRecord suite, store->FindSuite(name));
  if (how.table_only) return PrintSuite(*store, suite, true, json, "");
  const Result<Json> parsed = ParseJson(suite.options);
  const Json options = parsed.ok() ? *parsed : Json::object();
  if (!GetString(options, "on").empty()) return ResumeOnRay(*store, suite, how, {json, quiet});
  if (!how.on.empty())
    return Error{ErrorKind::kUsage, "--on is for suites that were started with it; this one runs here"};
  std::vector<std::string> devices;
  const Json& listed = GetMember(options, "devices");
  if (listed.is_array())
    for (const Json& device : listed)
      if (device.is_string()) devices.push_back(device.str());
  HONE_ASSIGN_OR_RETURN(const std::vector<SuiteSlot> slots,
                        SlotsFor(devices, static_cast<int>(GetInt(options, "jobs", 1)), quiet));
  return RunMembers(*store, suite, {}, slots, json, quiet, "");
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
  command
      .Add("--devices", &flags->devices,
           "GPUs to use, one task on each: numbers as in cuda:0, separated by commas, or all")
      .SplitAt(',')
      .Placeholder("0,1")
      .Excludes("--jobs");
  command
      .Add("--shard", &flags->shard,
           "Run part K of N of the tasks, for array jobs; needs --name. `hone archive NAME` and `hone "
           "import` merge the parts")
      .Placeholder("K/N");
  const char* ray = "More than one machine (docs/SCALE.md)";
  command
      .Add("--on", &flags->on,
           "Run the tasks on a Ray cluster: ray (that of this machine) or ray:HOST:PORT. Needs `pip install "
           "ray`")
      .Group(ray)
      .Placeholder("ray[:ADDRESS]");
  command
      .Add("--cores", &flags->cores,
           "Cores that Ray reserves for a task (default: all of a node; with a GPU 2)")
      .Group(ray)
      .AtLeast(0);
  command
      .Add("--attempts", &flags->attempts,
           "How often a task is tried if nodes or workers die; a verdict is never tried again")
      .Group(ray)
      .Between(1, 20);
  command
      .Add("--allow-mixed", &flags->allow_mixed,
           "Run even if PyTorch, the driver or the hardware differ between nodes; times are not comparable")
      .Group(ray);
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
  command.Example("hone suite tasks --devices 0,1,2,3");
  command.Example("hone suite tasks --name big --shard $SLURM_ARRAY_TASK_ID/16");
  command.Example("hone suite tasks --on ray:10.0.0.1:6379 --target cuda");
  command.Example("hone resume suite-20260131-235959");
  command.Runs([flags] { return StartSuite(*flags); });
}

}  // namespace hone

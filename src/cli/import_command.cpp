#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/ids.h"
#include "base/plural.h"
#include "base/text.h"
#include "candidate/candidate_file.h"
#include "cli/commands.h"
#include "cli/run_launcher.h"
#include "pipeline/recorder.h"
#include "pipeline/run_archive.h"
#include "pipeline/suite_archive.h"
#include "report/suite_report.h"

namespace hone {

namespace {

struct ImportFlags : OptimizeFlags {
  std::vector<std::string> where;
  std::string tasks;
  bool judge = false;
};

// One task's files, with KernelBench's result for each.
struct Batch {
  fs::path task;      // empty if unknown
  std::string label;  // "level_3_problem_39" or the task's name
  std::vector<std::string> files;
  std::map<std::string, std::string> said;  // KernelBench's results, by file
};

// Parses KernelBench's names of model-written files, such as "level_3_problem_39_sample_0_kernel.py".
struct KernelBenchName {
  int level = 0;
  int problem = 0;
  int sample = 0;
};
std::optional<KernelBenchName> ParseName(const std::string& file) {
  KernelBenchName name;
  int end = 0;
  if (std::sscanf(file.c_str(), "level_%d_problem_%d_sample_%d_kernel.py%n", &name.level, &name.problem,
                  &name.sample, &end) == 3 &&
      end == static_cast<int>(file.size()))
    return name;
  return std::nullopt;
}

// Reads eval_results.json: for each problem one result or a list of them, with correctness and runtime.
std::string WhatKernelBenchSaid(const Json& results, const KernelBenchName& name) {
  const Json* of = &GetMember(results, std::to_string(name.problem).c_str());
  if (of->is_array()) {
    const Json* found = nullptr;
    for (const Json& one : *of)
      if (GetInt(one, "sample_id") == name.sample) found = &one;
    if (found == nullptr) return "";
    of = found;
  }
  if (!of->is_object()) return "";
  return fmt::format(
      "KernelBench said: {}, {}, runtime {}", GetBool(*of, "compiled") ? "compiled" : "not compiled",
      GetBool(*of, "correctness") ? "correct" : "not correct", HumanNumber(GetNumber(*of, "runtime")));
}

// Returns tasks/39_GRU.py for problem 39.
fs::path TaskOfProblem(const fs::path& folder, int problem) {
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (StartsWith(name, std::to_string(problem) + "_") && EndsWith(name, ".py")) return entry.path();
  }
  return {};
}

Result<std::vector<Batch>> FindBatches(const ImportFlags& flags) {
  std::error_code code;
  std::vector<fs::path> files;
  const std::string& where = flags.where[0];
  fs::recursive_directory_iterator entries(where, code);
  if (code)
    return Error{ErrorKind::kNotFound, "cannot read " + where + ": " + code.message() +
                                           "; give files that `hone archive` wrote, or a folder of kernels"};
  for (const fs::directory_entry& entry : entries)
    if (entry.is_regular_file(code) && entry.path().extension() == ".py" &&
        entry.path().filename() != "__init__.py")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Json results;
  const Result<std::string> text = ReadFile(fs::path(where) / "eval_results.json", 256u << 20);
  if (text.ok()) {
    Result<Json> parsed = ParseJson(*text);
    if (parsed.ok()) results = std::move(*parsed);
  }
  std::map<std::pair<int, int>, Batch> by_problem;
  Batch others;
  for (const fs::path& file : files) {
    const std::string path = fs::absolute(file, code).lexically_normal().string();
    if (const auto name = ParseName(file.filename().string())) {
      Batch& batch = by_problem[{name->level, name->problem}];
      batch.label = fmt::format("level_{}_problem_{}", name->level, name->problem);
      if (!flags.task.empty())
        batch.task = flags.task;
      else if (!flags.tasks.empty())
        batch.task = TaskOfProblem(flags.tasks, name->problem);
      batch.files.push_back(path);
      batch.said[path] = WhatKernelBenchSaid(results, *name);
    } else {
      others.files.push_back(path);
    }
  }
  std::vector<Batch> batches;
  for (auto& [key, batch] : by_problem) batches.push_back(std::move(batch));
  if (!others.files.empty()) {
    others.task = flags.task;
    others.label =
        flags.task.empty() ? fs::path(where).filename().string() : fs::path(flags.task).stem().string();
    batches.push_back(std::move(others));
  }
  if (batches.empty()) return Error{ErrorKind::kNotFound, "there are no Python files in " + where};
  return batches;
}

// Stores the files and their findings without judging them.
Result<RunRecord> Keep(RunStore& store, const Batch& batch) {
  RunRecord run;
  run.created = UtcTimestamp();
  run.finished = run.created;
  run.status = "done";
  run.proposer = "import";
  run.task = batch.label;
  run.target = "none";
  run.options = "{}";
  std::string task_text;
  if (!batch.task.empty()) {
    HONE_ASSIGN_OR_RETURN(const TaskFile task, LoadTaskFile(batch.task));
    run.task = task.name;
    run.task_path = task.path.string();
    run.task_sha256 = task.sha256;
    run.task_source = task_text = task.source;
  }
  run.name = fmt::format("import-{}_{}", RandomHex(4), run.task);
  int unreadable = 0;
  run.outcome = CountAndNoun(static_cast<int64_t>(batch.files.size()), "file") + ", not judged";
  HONE_ASSIGN_OR_RETURN(run.id, store.AddRun(run));
  for (const std::string& path : batch.files) {
    const Result<CandidateFile> file = LoadCandidateFile(path);
    if (!file.ok()) {
      ++unreadable;
      fmt::print(stderr, "hone: {}\n", SafeForTerminal(file.error().message));
      continue;
    }
    CandidateRecord candidate = RecordOf(file->name, "imported", file->source, task_text);
    candidate.run_id = run.id;
    candidate.proposer = "import";
    candidate.title = path;
    const auto said = batch.said.find(path);
    if (said != batch.said.end()) candidate.detail = said->second;
    HONE_RETURN_IF_ERROR(store.SaveCandidate(candidate));
  }
  if (unreadable > 0) {
    run.outcome += fmt::format(", {} unreadable", unreadable);
    HONE_RETURN_IF_ERROR(store.UpdateRun(run));
  }
  return run;
}

// Imports a file that `hone archive` wrote, here or elsewhere.
Result<OrderedJson> ImportRunFile(RunStore& store, const fs::path& file, const ImportFlags& flags) {
  HONE_ASSIGN_OR_RETURN(RunArchive archive, ReadRunArchive(store, file));
  if (!flags.suite.empty()) HONE_RETURN_IF_ERROR(PutIntoSuite(store, flags.suite, &archive.rows));
  HONE_ASSIGN_OR_RETURN(const ImportedRun imported,
                        ImportRun(store, archive, flags.out.empty() ? "runs" : flags.out));
  if (!flags.json && !flags.quiet)
    fmt::print(
        "R{}  {}  {}\n", imported.run.id, SafeForTerminal(imported.run.name),
        imported.known ? "already in the store; nothing was changed" : SafeForTerminal(imported.run.outcome));
  return OrderedJson{{"id", fmt::format("R{}", imported.run.id)},
                     {"run", imported.run.name},
                     {"folder", imported.run.folder},
                     {"known", imported.known}};
}

Result<OrderedJson> ImportSuiteFile(RunStore& store, const fs::path& file, const ImportFlags& flags) {
  if (!flags.suite.empty())
    return Error{ErrorKind::kUsage, "this is an archive of a suite; --suite is for archives of runs"};
  HONE_ASSIGN_OR_RETURN(const ImportedSuite imported,
                        ImportSuite(store, file, flags.out.empty() ? "runs" : flags.out));
  HONE_ASSIGN_OR_RETURN(const SuiteSummary summary, Summarise(store, imported.suite));
  const std::string missing = MissingWords(summary);
  if (!flags.json && !flags.quiet)
    fmt::print("{}  {} added, {} already in the store{}\n", SafeForTerminal(imported.suite.name),
               CountAndNoun(imported.added, "run"), imported.known,
               missing.empty() ? "" : "; " + SafeForTerminal(missing));
  return OrderedJson{{"suite", imported.suite.name},
                     {"added", imported.added},
                     {"known", imported.known},
                     {"missing", summary.missing.tasks},
                     {"missing_shards", summary.missing.shards}};
}

// Imports each file separately, so that a broken one does not prevent the others.
Result<int> ImportArchives(RunStore& store, const ImportFlags& flags) {
  std::optional<Error> last;
  for (const std::string& file : flags.where) {
    Result<OrderedJson> line =
        IsSuiteArchive(file) ? ImportSuiteFile(store, file, flags) : ImportRunFile(store, file, flags);
    if (!line.ok()) {
      last = Error{line.error().kind, file + ": " + line.error().message};
      if (flags.where.size() == 1) return *last;
      if (!flags.json) fmt::print(stderr, "hone: {}\n", SafeForTerminal(last->message));
    }
    if (!flags.json) continue;
    OrderedJson with_file =
        line.ok() ? *line
                  : OrderedJson{{"error",
                                 {{"kind", KindName(line.error().kind)}, {"message", line.error().message}}}};
    if (flags.where.size() > 1) with_file["file"] = file;
    fmt::print("{}\n", DumpJson(with_file));
  }
  return last ? kExitCannot : kExitAccepted;
}

Result<int> Import(ImportFlags flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  std::error_code ignored;
  const size_t archives =
      static_cast<size_t>(std::count_if(flags.where.begin(), flags.where.end(), [&](const std::string& one) {
        return fs::is_regular_file(one, ignored);
      }));
  if (archives == flags.where.size()) return ImportArchives(*store, flags);
  if (flags.where.size() > 1)
    return Error{ErrorKind::kUsage, "several paths are taken if all are archives; import folders one by one"};
  if (!flags.suite.empty()) return Error{ErrorKind::kUsage, "--suite is for archives of runs"};
  HONE_ASSIGN_OR_RETURN(const std::vector<Batch> batches, FindBatches(flags));
  int worst = kExitAccepted;
  for (const Batch& batch : batches) {
    if (!flags.judge) {
      HONE_ASSIGN_OR_RETURN(const RunRecord run, Keep(*store, batch));
      fmt::print("R{}  {}  {}\n", run.id, run.name, run.outcome);
      continue;
    }
    if (batch.task.empty()) {
      fmt::print(stderr,
                 "hone: {}: its task is unknown; use --task FILE, or --tasks DIR with files named by problem "
                 "number\n",
                 batch.label);
      worst = std::max(worst, static_cast<int>(kExitUsage));
      continue;
    }
    flags.task = batch.task.string();
    flags.run.proposer = "import";
    flags.run.files = batch.files;
    UniqueFd lock;
    HONE_ASSIGN_OR_RETURN(RunRecord run, CreateRun(*store, flags, &lock));
    HONE_ASSIGN_OR_RETURN(const int code,
                          ExecuteRun(*store, std::move(run), flags.json, flags.quiet, std::move(lock)));
    worst = std::max(worst, code);
  }
  return worst;
}

}  // namespace

void AddImportCommand(CommandTable& table) {
  Command& command = table.Add(
      "import",
      "Add archived runs and suites, a KernelBench runs folder or a folder of kernels to the store");
  auto flags = std::make_shared<ImportFlags>();
  command.Add("WHERE", &flags->where, "Files written by `hone archive`, or a folder").Required();
  command
      .Add("--suite", &flags->suite, "Make archived runs members of this suite, which must be in the store")
      .Placeholder("NAME");
  command.Add("--out", &flags->out, "Folder for the files of an archived run (default: runs)")
      .Placeholder("DIR");
  command.Add("--task", &flags->task, "Task that the kernels implement").Placeholder("FILE");
  command
      .Add("--tasks", &flags->tasks, "Folder of tasks whose names begin with the problem number (39_GRU.py)")
      .Placeholder("DIR");
  command.Add("--judge", &flags->judge, "Also check and time every kernel");
  command.Add("--again", &flags->run.again,
              "Judge anew, even if the store has a verdict on the same bytes under the same conditions");
  command.Add("--json", &flags->json, "Print judged runs as JSON");
  command.Add("-q,--quiet", &flags->quiet, "Print no progress");
  AddJudgeFlags(command, flags.get());
  command.Example("hone import 20260131-235959_39_GRU_expert.hone.tar.gz");
  command.Example("hone import shards/*.hone.tar.gz");
  command.Example("hone import KernelBench/runs/my_run --tasks KernelBench/level3 --judge");
  command.Example("hone import kernels/ --task tasks/39_GRU.py --judge");
  command.Runs([flags] { return Import(*flags); });
}

}  // namespace hone

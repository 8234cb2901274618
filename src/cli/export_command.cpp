#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "report/export.h"

namespace hone {

namespace {

constexpr int kMostConsoleLines = 1'000'000;

struct ExportFlags {
  std::string what;
  std::string format;
  std::string out;
  int level = 0;
  int problem = 0;
};

Status Put(const std::string& out, const std::string& content) {
  if (out.empty() || out == "-") {
    fmt::print("{}", content);
    return Ok();
  }
  return WriteFileAtomic(out, content);
}

Status KernelBench(const ExportFlags& flags, const RunStory& story) {
  KernelBenchProblem problem = ProblemOf(story.run);
  if (flags.level > 0) problem.level = flags.level;
  if (flags.problem > 0) problem.problem = flags.problem;
  if (problem.level == 0 || problem.problem == 0)
    return Error{
        ErrorKind::kUsage,
        fmt::format("KernelBench names a task by level and number, and '{}' does not say its {}: give {}",
                    story.run.task, problem.level == 0 ? "level" : "number",
                    problem.level == 0 ? "--level N" : "--problem N")};
  if (flags.out.empty())
    return Error{ErrorKind::kUsage, "--format kernelbench writes a folder: give --out DIR"};
  HONE_RETURN_IF_ERROR(MakeFolders(flags.out));
  for (const ExportFile& file : KernelBenchFiles(story, problem))
    HONE_RETURN_IF_ERROR(WriteFileAtomic(fs::path(flags.out) / file.name, file.content));
  fmt::print(stderr, "{}: level {}, problem {}\n", SafeForTerminal(flags.out), problem.level,
             problem.problem);
  return Ok();
}

Result<int> Export(const ExportFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const RunData data, ReadRunData(*store, flags.what));
  if (flags.format == "kernelbench") {
    HONE_RETURN_IF_ERROR(KernelBench(flags, data.story));
  } else if (flags.format == "csv") {
    HONE_RETURN_IF_ERROR(Put(flags.out, RunCsv(data.story)));
  } else {
    HONE_ASSIGN_OR_RETURN(const auto lines, store->Console(data.story.run.id, 0, kMostConsoleLines));
    std::vector<std::string> console;
    for (const auto& [id, line] : lines) console.push_back(line);
    HONE_RETURN_IF_ERROR(Put(flags.out, DumpJson(RunExport(data, console), 1) + "\n"));
  }
  return 0;
}

}  // namespace

void AddExportCommand(CommandTable& table) {
  Command& command = table.Add("export", "Write a run in a format that other tools read");
  auto flags = std::make_shared<ExportFlags>();
  command.Add("RUN", &flags->what, kRunHelp).Required();
  command
      .Add("--format", &flags->format,
           "kernelbench: a runs folder with eval_results.json; json: the whole run; csv: one row per "
           "candidate")
      .Required()
      .OneOf({"kernelbench", "json", "csv"});
  command.Add("-o,--out", &flags->out, "File to write, or folder for kernelbench (default: standard output)")
      .Placeholder("PATH");
  command.Add("--level", &flags->level, "KernelBench level, if the task's folder does not name it")
      .Positive();
  command
      .Add("--problem", &flags->problem,
           "KernelBench problem number, if the task's name does not begin with it")
      .Positive();
  command.Example("hone export last --format json --out run.json");
  command.Example("hone export R12 --format kernelbench --level 3 --out KernelBench/runs/hone");
  command.Runs([flags] { return Export(*flags); });
}

}  // namespace hone

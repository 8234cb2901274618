#include "cli/export_command.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
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

void AddExportCommand(CLI::App& app, int* exit_code) {
  CLI::App* command = app.add_subcommand("export", "Hand a run to other tools");
  auto flags = std::make_shared<ExportFlags>();
  command->add_option("RUN", flags->what, "A run: name, folder, R<number>, last")->required();
  command
      ->add_option(
          "--format", flags->format,
          "kernelbench: a runs folder with eval_results.json; json: everything; csv: a row per candidate")
      ->required()
      ->check(CLI::IsMember({"kernelbench", "json", "csv"}));
  command->add_option("-o,--out", flags->out, "File, or folder for kernelbench (default: standard output)");
  command->add_option("--level", flags->level, "KernelBench's level, where the task's folder does not say it")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--problem", flags->problem,
                   "KernelBench's number, where the task's name does not begin with it")
      ->check(CLI::PositiveNumber);
  command->footer(
      "Examples:\n  hone export last --format json --out run.json\n"
      "  hone export R12 --format kernelbench --level 3 --out KernelBench/runs/hone");
  command->callback([flags, exit_code] {
    const Result<int> code = Export(*flags);
    *exit_code = code.ok() ? *code : Report(code.error());
  });
}

}  // namespace hone

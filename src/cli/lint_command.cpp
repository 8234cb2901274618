#include "cli/lint_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/check.h"
#include "analysis/lint.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

struct LintArguments {
  std::vector<std::string> paths;
  std::string task;
  std::string triton;
  std::string device;
  std::string explain;
  bool json = false;
  bool sarif = false;
  bool fix = false;
  bool rules = false;
  int jobs = 0;
};

struct FileResult {
  std::string text;
  std::optional<LintReport> report;
  std::string error;
  int fixed = 0;
};

bool IsSource(const fs::path& path) {
  for (const char* suffix : {".py", ".cu", ".cuh", ".cpp", ".cc"})
    if (path.extension() == suffix) return true;
  return false;
}

// Folders are searched for source files, in a stable order; files are taken as they are.
std::vector<std::string> CollectFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::error_code code;
    if (!fs::is_directory(path, code)) {
      out.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (auto it =
             fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, code);
         it != fs::recursive_directory_iterator(); it.increment(code)) {
      if (code) break;
      if (it->is_regular_file(code) && IsSource(it->path())) inside.push_back(it->path().string());
    }
    std::sort(inside.begin(), inside.end());
    out.insert(out.end(), inside.begin(), inside.end());
  }
  return out;
}

FileResult LintFile(const std::string& path, const LintArguments& arguments, const LintOptions& options) {
  FileResult result;
  Result<std::string> text = ReadFile(path, 8u << 20);
  if (!text.ok()) {
    result.error = text.error().message;
    return result;
  }
  result.text = std::move(*text);
  result.report = LintSource(path, result.text, options);
  // A fix can uncover another (an import makes the next line readable), so a few rounds are allowed.
  for (int round = 0; arguments.fix && round < 4; ++round) {
    int applied = 0;
    const std::string fixed = ApplyEdits(result.text, result.report->findings, &applied);
    if (applied == 0 || fixed == result.text) break;
    if (Status written = WriteFileAtomic(path, fixed); !written.ok()) {
      result.error = written.error().message;
      break;
    }
    result.fixed += applied;
    result.text = fixed;
    result.report = LintSource(path, result.text, options);
  }
  return result;
}

std::vector<FileResult> LintFiles(const std::vector<std::string>& files, const LintArguments& arguments,
                                  const LintOptions& options) {
  std::vector<FileResult> results(files.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < files.size(); i = next++) results[i] = LintFile(files[i], arguments, options);
  };
  const unsigned wanted =
      arguments.jobs > 0 ? static_cast<unsigned>(arguments.jobs) : std::thread::hardware_concurrency();
  const size_t count = std::clamp<size_t>(wanted, 1, std::max<size_t>(1, files.size()));
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return results;
}

int UsageError(const std::string& message) {
  fmt::print(stderr, "hone lint: {}\n", message);
  return 2;
}

std::string Count(size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

int ShowRules() {
  for (const CheckInfo& check : AllChecks())
    fmt::print("{:28} {:8} {}\n", check.rule, SeverityName(check.severity), check.summary);
  return 0;
}

int Explain(const std::string& rule) {
  if (FindCheck(rule) != nullptr) {
    fmt::print("{}\n", Trim(ExplainCheck(rule)));
    return 0;
  }
  std::vector<std::string> known;
  for (const CheckInfo& check : AllChecks()) known.emplace_back(check.rule);
  const std::string close = ClosestWord(rule, known);
  return UsageError(fmt::format("no rule is called {}{}", rule,
                                close.empty() ? "; see --rules" : "; did you mean " + close + "?"));
}

int Print(const std::vector<std::string>& files, std::vector<FileResult> results,
          const LintArguments& arguments) {
  bool errors = false;
  bool failed = false;
  std::vector<LintReport> reports;
  OrderedJson array = OrderedJson::array();
  size_t counts[3] = {0, 0, 0};
  for (size_t i = 0; i < results.size(); ++i) {
    FileResult& result = results[i];
    if (!result.error.empty()) {
      failed = true;
      fmt::print(stderr, "hone lint: {}\n", SafeForTerminal(result.error));
    }
    if (!result.report) continue;
    errors = errors || result.report->has_errors();
    for (const Finding& finding : result.report->findings) ++counts[static_cast<int>(finding.severity)];
    if (arguments.json)
      array.push_back(ToJson(*result.report));
    else if (arguments.sarif)
      reports.push_back(std::move(*result.report));
    else {
      fmt::print("{}", ToText(*result.report, result.text, isatty(STDOUT_FILENO) != 0));
      if (result.fixed > 0) fmt::print("{}: {} fixed\n", files[i], result.fixed);
    }
  }
  if (arguments.json)
    fmt::print("{}\n", DumpJson(OrderedJson{{"files", array}}, 1));
  else if (arguments.sarif)
    fmt::print("{}\n", DumpJson(ToSarif(reports), 1));
  else
    fmt::print("{}, {}, {}, {}\n", Count(results.size(), "file"), Count(counts[0], "error"),
               Count(counts[1], "warning"), Count(counts[2], "note"));
  return failed ? 3 : errors ? 1 : 0;
}

int RunLint(const LintArguments& arguments) {
  if (arguments.rules) return ShowRules();
  if (!arguments.explain.empty()) return Explain(arguments.explain);
  if (arguments.paths.empty()) return UsageError("name at least one file or folder");
  if (arguments.json && arguments.sarif) return UsageError("--json and --sarif exclude each other");
  LintOptions options;
  if (!arguments.triton.empty()) {
    options.triton_versions = TritonVersionMask(arguments.triton);
    if (options.triton_versions == 0)
      return UsageError(fmt::format("{} is not a Triton version that is known", arguments.triton));
  }
  if (!arguments.device.empty()) {
    options.device = FindDevice(arguments.device);
    if (options.device == nullptr)
      return UsageError(fmt::format("the device {} is not known", arguments.device));
  }
  if (!arguments.task.empty()) {
    Result<std::string> task = ReadFile(arguments.task, 8u << 20);
    if (!task.ok()) {
      fmt::print(stderr, "hone lint: {}\n", task.error().message);
      return 3;
    }
    options.task_text = std::move(*task);
  }
  const std::vector<std::string> files = CollectFiles(arguments.paths);
  return Print(files, LintFiles(files, arguments, options), arguments);
}

}  // namespace

void AddLintCommand(CLI::App& app, int* exit_code) {
  CLI::App* command =
      app.add_subcommand("lint", "Read candidates and say what is wrong with them, without running anything");
  auto arguments = std::make_shared<LintArguments>();
  command->add_option("paths", arguments->paths,
                      "files, or folders to search for .py, .cu, .cuh, .cpp and .cc");
  command->add_flag("--json", arguments->json, "facts, class and findings as JSON");
  command->add_flag("--sarif", arguments->sarif, "findings as SARIF 2.1.0");
  command->add_flag("--fix", arguments->fix, "apply the fixes that are mechanical and safe, in place");
  command->add_flag("--rules", arguments->rules, "list every rule");
  command->add_option("--explain", arguments->explain, "explain one rule")->type_name("RULE");
  command->add_option("--task", arguments->task, "the task the candidates are for: gives sizes and weights")
      ->type_name("FILE");
  command
      ->add_option("--triton", arguments->triton, "the Triton release that will run them (default: any 3.x)")
      ->type_name("VERSION");
  command
      ->add_option("--device", arguments->device, "the GPU that will run them (default: the largest limits)")
      ->type_name("NAME");
  command->add_option("-j,--jobs", arguments->jobs, "how many files to read at once")->type_name("N");
  command->callback([arguments, exit_code] { *exit_code = RunLint(*arguments); });
}

}  // namespace hone

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/check.h"
#include "analysis/lint.h"
#include "analysis/mend.h"
#include "base/diff.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/live_line.h"

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
  bool diff = false;
  bool rules = false;
  int jobs = 0;
};

struct FileResult {
  std::string text;
  std::optional<LintReport> report;
  std::string error;
  std::vector<AppliedFix> fixes;
  std::string diff;
};

// Diffs are for users; candidates have fewer lines than this.
constexpr int kMostDiffLines = 100000;

bool IsSource(const fs::path& path) {
  for (const char* suffix : {".py", ".cu", ".cuh", ".cpp", ".cc"})
    if (path.extension() == suffix) return true;
  return false;
}

// Searches folders for source files in a stable order. Files are taken as they are.
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

// Keeps the target file's permissions. A link stays a link.
Status Overwrite(const std::string& path, const std::string& text) {
  std::error_code code;
  const fs::path target = fs::canonical(path, code);
  struct stat info {};
  if (code || stat(target.c_str(), &info) != 0)
    return Error{ErrorKind::kNotFound, fmt::format("{} is gone; nothing was written", path)};
  if ((info.st_mode & 0222) == 0 || access(target.c_str(), W_OK) != 0)
    return Error{ErrorKind::kIo, fmt::format("{} is read-only; nothing was written", path)};
  HONE_RETURN_IF_ERROR(WriteFileAtomic(target, text, info.st_mode & 07777));
  // The umask changes the mode of a new file.
  if (chmod(target.c_str(), info.st_mode & 07777) != 0)
    return Error{ErrorKind::kIo, fmt::format("cannot keep the permissions of {}", path)};
  return Ok();
}

FileResult LintFile(const std::string& path, const LintArguments& arguments, const LintOptions& options) {
  FileResult result;
  Result<std::string> text = ReadFile(path, 8u << 20);
  if (!text.ok()) {
    result.error = text.error().message;
    return result;
  }
  result.text = std::move(*text);
  if (!arguments.fix) {
    result.report = LintSource(path, result.text, options);
    return result;
  }
  MendedSource mended = MendSource(path, result.text, options);
  if (mended.changed()) {
    if (arguments.diff)
      result.diff = MakeUnifiedDiff(result.text, mended.text, path, path, kMostDiffLines).text;
    else if (Status written = Overwrite(path, mended.text); !written.ok())
      result.error = written.error().message;
  }
  // If the file could not be written, reports the original.
  if (!result.error.empty()) {
    result.report = LintSource(path, result.text, options);
    return result;
  }
  result.text = std::move(mended.text);
  result.report = std::move(mended.report);
  result.fixes = std::move(mended.fixes);
  return result;
}

std::vector<FileResult> LintFiles(const std::vector<std::string>& files, const LintArguments& arguments,
                                  const LintOptions& options) {
  std::vector<FileResult> results(files.size());
  std::atomic<size_t> next{0};
  const auto work = [&](const Progress& progress) {
    for (size_t i = next++; i < files.size(); i = next++) {
      if (progress) progress("checking", static_cast<int>(i), static_cast<int>(files.size()));
      results[i] = LintFile(files[i], arguments, options);
    }
  };
  const unsigned wanted =
      arguments.jobs > 0 ? static_cast<unsigned>(arguments.jobs) : std::thread::hardware_concurrency();
  const size_t count = std::clamp<size_t>(wanted, 1, std::max<size_t>(1, files.size()));
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i) threads.emplace_back(work, Progress());
  LiveLine line(LiveLine::Choose(true));
  work(line.AsProgress("lint:"));
  for (std::thread& thread : threads) thread.join();
  return results;
}

Error LintUsage(const std::string& message) {
  return Error{ErrorKind::kUsage, message + "\nsee `hone lint --help`"};
}

std::string Count(size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

int ShowRules() {
  TextTable table;
  table.columns = {{"rule", 0, 0, false}, {"severity", 0, 0, false}, {"what it finds", 0, 24, false}};
  for (const CheckInfo& check : AllChecks())
    table.rows.push_back(
        {std::string(check.rule), std::string(SeverityName(check.severity)), std::string(check.summary)});
  fmt::print("{}", PrintTable(table, Style(stdout)));
  return 0;
}

Result<int> ExplainRule(const std::string& rule) {
  if (FindCheck(rule) != nullptr) {
    fmt::print("{}\n", Trim(ExplainCheck(rule)));
    return 0;
  }
  std::vector<std::string> known;
  for (const CheckInfo& check : AllChecks()) known.emplace_back(check.rule);
  const std::string close = ClosestWord(rule, known);
  return LintUsage(fmt::format("no rule is called {}{}", rule,
                               close.empty() ? "; see --rules" : "; did you mean " + close + "?"));
}

// Prints what was fixed, then what remains.
void PrintFile(const std::string& path, const FileResult& result) {
  for (const AppliedFix& fix : result.fixes) {
    fmt::print("{}:{}: fixed [{}]\n", path, fix.line, fix.rule);
    for (const std::string& line : Lines(fix.before)) fmt::print("  - {}\n", SafeForTerminal(line));
    for (const std::string& line : Lines(fix.after)) fmt::print("  + {}\n", SafeForTerminal(line));
  }
  fmt::print("{}", ToText(*result.report, result.text, isatty(STDOUT_FILENO) != 0));
}

int Print(const std::vector<std::string>& files, std::vector<FileResult> results,
          const LintArguments& arguments) {
  bool errors = false;
  size_t unreadable = 0;
  OrderedJson failures = OrderedJson::array();
  std::vector<LintReport> reports;
  OrderedJson array = OrderedJson::array();
  size_t counts[3] = {0, 0, 0};
  size_t fixed = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    FileResult& result = results[i];
    if (!result.error.empty()) {
      ++unreadable;
      fmt::print(stderr, "hone: {}\n", SafeForTerminal(result.error));
      failures.push_back({{"path", files[i]}, {"message", result.error}});
    }
    if (!result.report) continue;
    errors = errors || result.report->has_errors();
    for (const Finding& finding : result.report->findings) ++counts[static_cast<int>(finding.severity)];
    fixed += result.fixes.size();
    if (arguments.json) {
      OrderedJson file = ToJson(*result.report);
      if (arguments.fix) file["fixes"] = ToJson(result.fixes);
      if (arguments.diff) file["diff"] = result.diff;
      array.push_back(std::move(file));
    } else if (arguments.sarif)
      reports.push_back(std::move(*result.report));
    else if (arguments.diff)
      fmt::print("{}", SafeForTerminal(result.diff));
    else
      PrintFile(files[i], result);
  }
  OrderedJson json = {{"files", array}};
  if (unreadable > 0) json["unreadable"] = failures;
  if (arguments.json)
    fmt::print("{}\n", DumpJson(json, 1));
  else if (arguments.sarif)
    fmt::print("{}\n", DumpJson(ToSarif(reports), 1));
  else if (!arguments.diff)
    fmt::print("{}, {}, {}, {}{}{}\n", Count(results.size() - unreadable, "file"), Count(counts[0], "error"),
               Count(counts[1], "warning"), Count(counts[2], "note"),
               arguments.fix ? fmt::format(", {} fixed", fixed) : "",
               unreadable == 0 ? "" : fmt::format("; {} could not be read", Count(unreadable, "file")));
  return unreadable > 0 ? kExitCannot : errors ? kExitRejected : kExitAccepted;
}

Result<int> RunLint(const LintArguments& arguments) {
  if (arguments.rules) return ShowRules();
  if (!arguments.explain.empty()) return ExplainRule(arguments.explain);
  if (arguments.paths.empty()) return LintUsage("name at least one file or folder");
  if (arguments.diff && !arguments.fix) return LintUsage("--diff shows what --fix would do; give both");
  LintOptions options;
  if (!arguments.triton.empty()) {
    options.triton_versions = TritonVersionMask(arguments.triton);
    if (options.triton_versions == 0)
      return LintUsage(fmt::format("unknown Triton version {}", arguments.triton));
  }
  if (!arguments.device.empty()) {
    options.device = FindDevice(arguments.device);
    if (options.device == nullptr) return LintUsage(fmt::format("unknown device {}", arguments.device));
  }
  if (!arguments.task.empty()) {
    HONE_ASSIGN_OR_RETURN(options.task_text, ReadFile(arguments.task, 8u << 20).WithContext("--task"));
  }
  const std::vector<std::string> files = CollectFiles(arguments.paths);
  if (files.empty())
    return Error{ErrorKind::kNotFound,
                 fmt::format("no .py, .cu, .cuh, .cpp or .cc file in {}", Join(arguments.paths, ", "))};
  return Print(files, LintFiles(files, arguments, options), arguments);
}

}  // namespace

void AddLintCommand(CommandTable& table) {
  Command& command = table.Add("lint", "Find bugs in candidates by static analysis, without running them");
  auto arguments = std::make_shared<LintArguments>();
  command.Add("PATH", &arguments->paths, "Files, or folders to search for .py, .cu, .cuh, .cpp and .cc");
  command.Add("--json", &arguments->json, "Print facts, kernel class and findings as JSON");
  command.Add("--sarif", &arguments->sarif, "Print the findings as SARIF 2.1.0").Excludes("--json");
  command.Add("--fix", &arguments->fix,
              "Repair errors that have exactly one correct repair, in the files themselves");
  command.Add("--diff", &arguments->diff,
              "With --fix: print the changes as a unified diff and write nothing");
  command.Add("--rules", &arguments->rules, "List all rules");
  command.Add("--explain", &arguments->explain, "Explain one rule").Placeholder("RULE");
  command.Add("--task", &arguments->task, "Task of the candidates; gives shapes and weights to the checks")
      .Placeholder("FILE");
  command.Add("--triton", &arguments->triton, "Triton version to check for (default: any 3.x)")
      .Placeholder("VERSION");
  command.Add("--device", &arguments->device, "GPU to check for (default: the GPU with the largest limits)")
      .Placeholder("NAME");
  command.Add("-j,--jobs", &arguments->jobs, "Files to check at once (default: one per core)");
  command.Note("Exit code: 0 no errors, 1 an error was found, 2 wrong usage, 3 a file could not be read.");
  command.Example("hone lint my_gru.py --task tasks/39_GRU.py");
  command.Example("hone lint kernels/ --json | jq '.files[].findings[]'");
  command.Example("hone lint my_gru.py --fix --diff");
  command.Example("hone lint --explain missing-sync");
  command.Runs([arguments] { return RunLint(*arguments); });
}

}  // namespace hone

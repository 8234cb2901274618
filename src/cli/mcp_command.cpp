// `hone mcp` becomes `python -m hone.mcp`, the server for coding agents (python/hone/mcp). It chooses a
// Python that has the package `hone` and the SDK `mcp`.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "process/child.h"
#include "process/python.h"

namespace hone {

namespace {

struct McpFlags {
  std::string python;
  std::vector<std::string> roots;
};

constexpr double kMcpProbeSeconds = 20;

std::string EnvironmentValue(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The package of the source folder that holds the binary (build/release/hone). Elsewhere it is installed.
fs::path PackageBesideBinary() {
  const fs::path folder = OwnExecutable().parent_path().parent_path().parent_path() / "python";
  std::error_code ignored;
  return fs::exists(folder / "hone" / "mcp" / "__main__.py", ignored) ? folder : fs::path();
}

std::vector<std::string> McpEnvironment() {
  std::vector<std::string> env = CurrentEnvironment();
  SetVariable(env, "HONE_BINARY", OwnExecutable().string());
  const fs::path package = PackageBesideBinary();
  const std::string before = EnvironmentValue("PYTHONPATH");
  if (!package.empty())
    SetVariable(env, "PYTHONPATH", package.string() + (before.empty() ? "" : ":" + before));
  return env;
}

// Returns what this interpreter lacks to run the server, or "".
std::string WhatIsMissing(const std::string& python, const std::vector<std::string>& env) {
  ChildSpec spec;
  spec.argv = {python, "-c",
               "import importlib.util as u\n"
               "print(' '.join(n for n in ('hone', 'mcp') if u.find_spec(n) is None) or "
               "('' if u.find_spec('hone.mcp') else 'hone.mcp'))"};
  spec.env = env;
  spec.folder = "/";
  const Result<ExitReport> run = RunProgram(spec, Deadline::After(kMcpProbeSeconds));
  if (!run.ok()) return run.error().message;
  if (run->code != 0) return "it does not answer";
  const std::string lacks(Trim(run->out));
  return lacks.empty() ? "" : "no package " + ReplaceAll(lacks, " ", " and ");
}

Result<int> BecomeServer(const McpFlags& flags) {
  const std::vector<std::string> env = McpEnvironment();
  std::vector<std::string> pythons;
  if (!flags.python.empty()) {
    pythons = {flags.python};
  } else {
    for (const char* variable : {"HONE_PYTHON", "VIRTUAL_ENV"})
      if (const std::string value = EnvironmentValue(variable); !value.empty())
        pythons.push_back(std::string(variable) == "VIRTUAL_ENV" ? value + "/bin/python3" : value);
    pythons.emplace_back("python3");
    // Created by `scripts/setup.sh package`.
    pythons.push_back((DataFolder() / "package-python" / "bin" / "python3").string());
    pythons.push_back(OwnPython().string());
  }
  std::vector<std::string> looked_at;
  for (const std::string& python : pythons) {
    const fs::path found = FindProgram(python);
    if (found.empty()) continue;
    std::error_code ignored;
    const fs::path program = fs::absolute(found, ignored);
    const std::string missing = WhatIsMissing(program.string(), env);
    if (!missing.empty()) {
      looked_at.push_back(fmt::format("{} ({})", program.string(), SafeForTerminal(missing)));
      continue;
    }
    std::vector<std::string> words = {program.string(), "-m", "hone.mcp"};
    const std::vector<std::string> roots = flags.roots.empty() ? std::vector<std::string>{"."} : flags.roots;
    for (const std::string& root : roots)
      words.insert(words.end(), {"--root", fs::absolute(root, ignored).string()});
    std::vector<char*> argv, environment;
    for (std::string& word : words) argv.push_back(word.data());
    std::vector<std::string> lines = env;
    for (std::string& line : lines) environment.push_back(line.data());
    argv.push_back(nullptr);
    environment.push_back(nullptr);
    // Python imports modules from the working folder first, and the client may be able to write there.
    if (chdir("/") != 0) return ErrnoError("cannot leave the working folder");
    execve(argv[0], argv.data(), environment.data());
    return ErrnoError("cannot start " + program.string());
  }
  return Error{
      ErrorKind::kUnavailable,
      fmt::format("no Python with the packages hone and mcp was found (looked at: {}); install both with: "
                  "python3 -m pip install '.[mcp]' in Hone's source folder, or name an interpreter that has "
                  "them with --python",
                  looked_at.empty() ? "none" : Join(looked_at, ", "))};
}

}  // namespace

void AddMcpCommand(CommandTable& table) {
  Command& command =
      table.Add("mcp", "Serve Hone's tools to coding agents over MCP (standard input and output)");
  auto flags = std::make_shared<McpFlags>();
  command
      .Add("--root", &flags->roots,
           "Folder that the tools may read and write; may be repeated (default: the working folder)")
      .Placeholder("DIR");
  command.Add("--python", &flags->python, "Python that has the packages hone and mcp").Placeholder("PROGRAM");
  command.Note(
      "A client starts this command and speaks the Model Context Protocol with it; see docs/AGENTS.md.");
  command.Example("hone mcp --root ~/models");
  command.Runs([flags] { return BecomeServer(*flags); });
}

}  // namespace hone

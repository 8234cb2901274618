#include "cli/module_task.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/embedded.h"
#include "base/json.h"
#include "base/text.h"
#include "process/child.h"
#include "process/python.h"

namespace hone {

std::span<const EmbeddedFile> EmbeddedFiles_hone_cli();

namespace {

constexpr double kCapturePatience_s = 1800;
constexpr size_t kLargestAnswer = 1u << 20;

// The embedded package comes first on the path, so that its version matches the binary's.
constexpr char kStart[] =
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from hone._module_file import main; "
    "sys.exit(main(sys.argv[1:]))";

bool IsDottedName(std::string_view text) {
  for (const std::string& part : Split(std::string(text), '.')) {
    if (part.empty() || std::isdigit(static_cast<unsigned char>(part[0])) != 0) return false;
    const bool plain = std::all_of(part.begin(), part.end(), [](unsigned char c) {
      return c == '_' || c >= 0x80 || std::isalnum(c) != 0;
    });
    if (!plain) return false;
  }
  return true;
}

Status WritePackage(const fs::path& folder) {
  for (const EmbeddedFile& file : EmbeddedFiles_hone_cli()) {
    const fs::path path = folder / file.name;
    HONE_RETURN_IF_ERROR(MakeFolders(path.parent_path()));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(path, file.content));
  }
  return Ok();
}

std::string LastLine(const std::string& text) {
  std::string last;
  for (const std::string& line : Lines(text))
    if (!Trim(line).empty()) last = std::string(Trim(line));
  return last;
}

}  // namespace

std::optional<ModuleReference> ParseModuleReference(const std::string& text) {
  std::error_code ignored;
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || fs::exists(text, ignored)) return {};
  const std::string file = text.substr(0, colon);
  const std::string name = text.substr(colon + 1);
  if (!EndsWith(file, ".py") || !IsDottedName(name)) return {};
  return ModuleReference{file, name};
}

void AddModuleFlags(Command& command, ModuleFlags* flags) {
  const char* group = "A module in any file (FILE.py:NAME)";
  command
      .Add(
          "--inputs", &flags->inputs,
          "Function of that file that returns example inputs: a tuple, a dict of keywords, or (args, kwargs)")
      .Group(group)
      .Placeholder("NAME");
  command
      .Add("--init", &flags->init,
           "Arguments of the constructor: a function of that file, or a literal such as '(64, 128)'")
      .Group(group)
      .Placeholder("NAME");
}

Result<fs::path> TaskFileFor(const std::string& task, const ModuleFlags& flags, const std::string& python) {
  const std::optional<ModuleReference> module = ParseModuleReference(task);
  if (!module) {
    if (flags.inputs.empty() && flags.init.empty()) return fs::path(task);
    return Error{ErrorKind::kUsage, "--inputs and --init are for a module in any file: write " +
                                        (EndsWith(task, ".py") ? task : std::string("FILE.py")) + ":NAME"};
  }
  HONE_ASSIGN_OR_RETURN(const PythonInfo interpreter, FindPython(python));
  HONE_ASSIGN_OR_RETURN(const TempFolder package, TempFolder::Make("hone-package-"));
  HONE_RETURN_IF_ERROR(WritePackage(package.path()));
  const fs::path answer = package.path() / "answer.json";
  ChildSpec spec;
  spec.argv = {interpreter.program.string(),
               "-c",
               kStart,
               package.path().string(),
               module->file.string(),
               module->name,
               flags.inputs,
               flags.init,
               (DataFolder() / "tasks").string(),
               answer.string()};
  spec.env = CurrentEnvironment();
  SetVariable(spec.env, "PYTHONDONTWRITEBYTECODE", "1");
  HONE_ASSIGN_OR_RETURN(const ExitReport ended, RunProgram(spec, Deadline::After(kCapturePatience_s)));
  const Result<std::string> text = ReadFile(answer, kLargestAnswer);
  const Result<Json> said = text.ok() ? ParseJson(*text) : Result<Json>(text.error());
  if (said.ok() && !GetString(*said, "task").empty()) return fs::path(GetString(*said, "task"));
  if (said.ok() && !GetString(*said, "error").empty())
    return Error{GetBool(*said, "usage") ? ErrorKind::kUsage : ErrorKind::kInvalid,
                 GetString(*said, "error")};
  const std::string last = LastLine(ended.err);
  return Error{ErrorKind::kInternal, "capturing " + task + " ended without an answer" +
                                         (last.empty() ? std::string() : " (" + last + ")")};
}

}  // namespace hone

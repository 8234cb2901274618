// Shared by several subcommands: the options for Python, target and sandbox, and the conversion of an Error
// into a message and an exit code.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "evaluation/reference_session.h"

namespace hone {

enum ExitCode {
  kExitAccepted = 0,
  kExitRejected = 1,
  kExitUsage = 2,
  kExitCannot = 3,
  kExitInterrupted = 130,
};

struct JudgeFlags {
  std::string python;
  std::string target = "auto";
  std::string precision;
  std::string sandbox = "auto";
  bool sandbox_task = false;
  std::string compile = "auto";
  std::vector<std::string> ladder;
  bool no_lint = false;
  int trials = 5;
  double error_factor = 2;
  double atol = 0;
  double rtol = 0;
  bool allow_blind = false;
  double timeout_s = 0;
  double build_timeout_s = 300;
  double candidate_memory_gib = 0;
};
void AddJudgeFlags(Command& command, JudgeFlags* flags);

// The help of arguments that many commands have.
inline constexpr const char* kTaskHelp = "Task file that defines Model, get_inputs and get_init_inputs";
inline constexpr const char* kRunHelp = "Run: its name, the beginning of it, its folder, R<number>, or last";
inline constexpr const char* kLanguageHelp = "Language of the text";

// Whether a folder of device files contains an NVIDIA GPU, or WSL's GPU device.
bool HasGpuIn(const fs::path& devices);

// Finds Python, the device and the sandbox. The Error says what is missing and how to get it.
Result<SessionOptions> ResolveJudge(const JudgeFlags& flags);

// The name of an Error's kind in JSON: "usage", "io", ...
const char* KindName(ErrorKind kind);

// Prints "hone: <message>" to stderr line by line and returns the exit code. With `json` it also prints an
// object to stdout for programs: {"status": "failed", "error": {"kind", "message"}, "exit_code"}.
int Report(const Error& error, bool json = false);

// Whether a command line requests JSON. Works without parsing it.
bool AskForJson(const std::vector<std::string>& words);

}  // namespace hone

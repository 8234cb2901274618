// What several subcommands share: the options that choose Python, target and sandbox, and how an Error
// becomes a sentence and an exit code.
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
};
void AddJudgeFlags(Command& command, JudgeFlags* flags);

// The help of arguments that many commands have.
inline constexpr const char* kTaskHelp = "Task file that defines Model, get_inputs and get_init_inputs";
inline constexpr const char* kRunHelp = "Run: its name, the beginning of it, its folder, R<number>, or last";
inline constexpr const char* kLanguageHelp = "Language of the text";

// Whether a folder of device files has an NVIDIA GPU in it, or the one of WSL.
bool HasGpuIn(const fs::path& devices);

// Finds Python, the device and the sandbox; the error says what is missing and how to get it.
Result<SessionOptions> ResolveJudge(const JudgeFlags& flags);

// "usage", "io", ...: the word for a kind of Error in JSON.
const char* KindName(ErrorKind kind);

// "hone: <message>" on stderr, line by line; returns the exit code. With `json` also an object on stdout, so
// that a program that reads JSON gets some: {"status": "failed", "error": {"kind", "message"}, "exit_code"}.
int Report(const Error& error, bool json = false);

// Whether the words of a command line ask for JSON, before or without a parser that understands them.
bool AskForJson(const std::vector<std::string>& words);

}  // namespace hone

// What several subcommands share: the options that choose Python, target and sandbox, and how an Error
// becomes a sentence and an exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"
#include "evaluation/reference_session.h"

namespace hone {

enum ExitCode { kExitAccepted = 0, kExitRejected = 1, kExitUsage = 2, kExitCannot = 3 };

struct JudgeFlags {
  std::string python;
  std::string target = "auto";
  std::string precision;
  std::string sandbox = "auto";
  std::string compile = "auto";
  std::vector<std::string> ladder;
  bool no_lint = false;
  int trials = 5;
  double timeout_s = 0;
  double build_timeout_s = 300;
};
void AddJudgeFlags(CLI::App* command, JudgeFlags* flags);

// Finds Python, the device and the sandbox; the error says what is missing and how to get it.
Result<SessionOptions> ResolveJudge(const JudgeFlags& flags);

// "hone: <message>" on stderr; returns the exit code.
int Report(const Error& error);

}  // namespace hone

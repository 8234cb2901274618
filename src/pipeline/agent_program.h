// The agent as a process: any program, started in the agent's folder, ended with everything that it started.
// It runs as the user's own program and not in the sandbox; its candidates are judged in the sandbox.
//
// Spine talks to AgentProgram, so that tests can put a function in place of a process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "process/child.h"

namespace hone {

struct AgentJob {
  std::vector<std::string> argv;
  fs::path folder;
  Deadline deadline = Deadline::Never();
  // Asked several times a second; false ends the agent.
  std::function<bool()> may_go_on;
};

enum class AgentEnd { kByItself, kOutOfTime, kStopped };

struct AgentReport {
  AgentEnd end = AgentEnd::kByItself;
  ExitReport exit;
};

class AgentProgram {
 public:
  virtual ~AgentProgram() = default;
  // An Error only if it could not be started.
  virtual Result<AgentReport> Run(const AgentJob& job) = 0;
};

class AgentProcess : public AgentProgram {
 public:
  // Of standard output and of standard error each, half of it from the beginning is kept and at least half of
  // it from the end.
  static constexpr size_t kOutputCap = 512 * 1024;

  Result<AgentReport> Run(const AgentJob& job) override;
};

// "agent:CMD" -> its words, with the program's path made absolute: the agent runs in a folder of its own.
Result<std::vector<std::string>> AgentCommand(const std::string& proposer);

}  // namespace hone

// Runs the agent as a process: any program, started in the agent's folder, and ended together with its
// descendants. It runs as the user's own program, not in the sandbox; its candidates are judged in the
// sandbox.
//
// Spine uses AgentProgram, so that tests can replace the process by a function.
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
  // Called several times a second; returning false ends the agent.
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
  // Returns an Error only if the agent could not be started.
  virtual Result<AgentReport> Run(const AgentJob& job) = 0;
};

class AgentProcess : public AgentProgram {
 public:
  // Limit for standard output and standard error each. Half of it holds the beginning, the rest the end.
  static constexpr size_t kOutputCap = 512 * 1024;

  Result<AgentReport> Run(const AgentJob& job) override;
};

// Parses "agent:CMD" into words and makes the program's path absolute, because the agent runs in its own
// folder.
Result<std::vector<std::string>> AgentCommand(const std::string& proposer);

}  // namespace hone

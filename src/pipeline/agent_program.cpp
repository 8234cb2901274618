#include "pipeline/agent_program.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/interrupt.h"
#include "base/text.h"
#include "model/exec_model.h"
#include "process/tree.h"

namespace hone {

namespace {

// A variable in the environment of the agent and its descendants. It identifies them, even after a process
// has left its parent, and in the next session of a run whose Hone was killed.
constexpr const char* kFolderMark = "HONE_AGENT_FOLDER";
// Time between the request to end and SIGKILL.
constexpr double kGrace_s = 2;

// ReadFile needs a size, which files in /proc do not have.
std::string EnvironmentOf(const std::string& pid) {
  std::string text;
  std::FILE* file = std::fopen(("/proc/" + pid + "/environ").c_str(), "re");
  if (file == nullptr) return text;
  char buffer[65536];
  for (size_t got = 0; text.size() < (4u << 20) && (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
    text.append(buffer, got);
  std::fclose(file);
  return text;
}

// Ends every process with this folder's mark. Repeats the search to catch forks.
void EndMarked(const fs::path& folder) {
  const std::string mark = fmt::format("{}={}", kFolderMark, folder.string()) + '\0';
  for (int pass = 0; pass < 20; ++pass) {
    bool found = false;
    std::error_code code;
    for (fs::directory_iterator it("/proc", code), end; !code && it != end; it.increment(code)) {
      const std::string name = it->path().filename().string();
      if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
        continue;
      const pid_t pid = static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10));
      if (pid <= 1 || pid == getpid() || !Contains(EnvironmentOf(name), mark)) continue;
      const std::vector<pid_t> below = ProcessTree(pid);
      // Not the process that this process works for.
      if (std::find(below.begin(), below.end(), getpid()) != below.end()) continue;
      found = true;
      KillTree(pid);
    }
    if (!found) return;
  }
}

}  // namespace

Result<std::vector<std::string>> AgentCommand(const std::string& proposer) {
  HONE_ASSIGN_OR_RETURN(std::vector<std::string> argv,
                        SplitProgram(proposer.substr(std::min(proposer.size(), size_t{6})), "agent"));
  std::error_code ignored;
  if (Contains(argv[0], "/")) argv[0] = fs::absolute(argv[0], ignored).lexically_normal().string();
  return argv;
}

Result<AgentReport> AgentProcess::Run(const AgentJob& job) {
  EndMarked(job.folder);
  ChildSpec spec;
  spec.argv = job.argv;
  spec.env = CurrentEnvironment();
  SetVariable(spec.env, kFolderMark, job.folder.string());
  SetVariable(spec.env, "PWD", job.folder.string());
  spec.folder = job.folder;
  spec.output_cap = kOutputCap;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Child> child, Child::Spawn(spec));
  constexpr double kLook_s = 0.2;
  AgentReport report;
  while (!child->WaitUntil(Deadline::After(std::clamp(job.deadline.seconds_left(), 0.0, kLook_s)))) {
    if (job.deadline.passed()) report.end = AgentEnd::kOutOfTime;
    if (Interrupted() || !job.may_go_on()) report.end = AgentEnd::kStopped;
    if (report.end != AgentEnd::kByItself) break;
  }
  if (child->running()) {
    kill(-child->pid(), SIGTERM);  // the process group, because the child leads its session
    child->WaitUntil(Deadline::After(kGrace_s));
    child->Kill();
  }
  EndMarked(job.folder);
  report.exit = child->report();
  report.exit.timed_out = report.end == AgentEnd::kOutOfTime;
  return report;
}

}  // namespace hone

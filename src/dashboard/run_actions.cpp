#include "dashboard/run_actions.h"

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "base/text.h"
#include "pipeline/run_lock.h"

namespace hone {

namespace {

constexpr size_t kMostChildren = 8;
// How long a started run is observed, so that mistakes in the form are reported at once.
constexpr double kFirstLook_s = 1.5;

Error Wrong(const std::string& sentence) {
  return Error{ErrorKind::kUsage, sentence};
}

}  // namespace

Result<std::vector<std::string>> StartArguments(
    const std::vector<std::pair<std::string, std::string>>& form) {
  const auto field = [&](std::string_view name) -> std::string {
    for (const auto& [key, value] : form)
      if (key == name) return std::string(Trim(value));
    return "";
  };
  const std::string task = field("task");
  std::error_code ignored;
  if (task.empty() || task[0] != '/' || !EndsWith(task, ".py") || !fs::is_regular_file(task, ignored))
    return Wrong("the task must be the whole path of a Python file on this machine");
  std::vector<std::string> arguments = {"optimize", task, "--quiet"};
  const std::string proposer = field("proposer");
  if (proposer == "llm") {
    const std::string model = field("model");
    if (model.empty() || model[0] == '-') return Wrong("the proposer llm needs the name of a model");
    arguments.insert(arguments.end(), {"--proposer", "llm", "--model", model});
  } else if (StartsWith(proposer, "replay:") && proposer.size() > 7) {
    if (!fs::is_directory(proposer.substr(7), ignored)) return Wrong("there is no such folder to replay");
    arguments.insert(arguments.end(), {"--proposer", proposer});
  } else if (!proposer.empty() && proposer != "expert") {
    return Wrong("the proposer must be expert, llm or replay:FOLDER");
  }
  const std::string target = field("target");
  if (target == "cuda" || target == "triton" || target == "cpu")
    arguments.insert(arguments.end(), {"--target", target});
  else if (!target.empty() && target != "auto")
    return Wrong("the target must be auto, cuda, triton or cpu");
  const std::string minutes = field("max_minutes");
  if (minutes.find_first_not_of("0123456789") != std::string::npos || minutes.size() > 6)
    return Wrong("the minutes must be a whole number");
  if (!minutes.empty() && minutes != "0") arguments.insert(arguments.end(), {"--max-minutes", minutes});
  return arguments;
}

RunActions::~RunActions() {
  (void)Shutdown();
}

Status RunActions::Spawn(std::vector<std::string> arguments) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(children_, [](const std::unique_ptr<Child>& child) { return !child->running(); });
  if (children_.size() >= kMostChildren)
    return Error{
        ErrorKind::kUnavailable,
        fmt::format("{} runs started from this page are still going; wait for one to end", kMostChildren)};
  ChildSpec spec;
  spec.argv = {OwnExecutable().string()};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.env = CurrentEnvironment();
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Child> child, Child::Spawn(spec));
  if (child->WaitUntil(Deadline::After(kFirstLook_s))) {
    const ExitReport report = child->report();
    if (report.code >= 2 || report.code < 0)
      return Wrong(std::string(Trim(SafeForTerminal(Tail(report.err, 400)))));
    return Ok();
  }
  children_.push_back(std::move(child));
  return Ok();
}

Status RunActions::Start(const std::vector<std::pair<std::string, std::string>>& form) {
  HONE_ASSIGN_OR_RETURN(std::vector<std::string> arguments, StartArguments(form));
  return Spawn(std::move(arguments));
}

Status RunActions::Resume(const RunRecord& run) {
  return Spawn({"resume", fmt::format("R{}", run.id), "--quiet"});
}

Status RunActions::StopRun(const RunRecord& run) {
  const pid_t worker = WorkerOf(run.id);
  if (worker <= 1)
    return Error{ErrorKind::kUnavailable, "nobody is working on this run that can be seen from here"};
  if (kill(worker, SIGINT) != 0) return ErrnoError("cannot stop the run's process");
  return Ok();
}

void RunActions::WithProcesses(const std::function<void(const std::vector<pid_t>&)>& use) {
  const std::scoped_lock lock(mutex_);
  std::vector<pid_t> pids;
  for (const std::unique_ptr<Child>& child : children_) pids.push_back(child->pid());
  use(pids);
}

size_t RunActions::Shutdown() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(children_, [](const std::unique_ptr<Child>& child) { return !child->running(); });
  const size_t count = children_.size();
  for (const std::unique_ptr<Child>& child : children_) kill(child->pid(), SIGINT);
  const Deadline deadline = Deadline::After(10);
  for (const std::unique_ptr<Child>& child : children_)
    while (child->running() && !deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  children_.clear();
  return count;
}

}  // namespace hone

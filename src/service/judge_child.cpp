#include "service/judge_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"

namespace hone {

namespace {

constexpr int kLook_ms = 100;                     // interval between calls of `stop`
constexpr size_t kMostAnswer = size_t{64} << 20;  // bytes of one line
constexpr double kLastWords_s = 5;                // between the last line and the end of the process
constexpr size_t kMostMessage = 400;

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// Errors that another attempt cannot fix.
bool IsAboutTheQuestion(const std::string& kind) {
  return kind == "usage" || kind == "invalid" || kind == "not_found";
}

JudgeOutcome OutcomeOf(const std::string& line) {
  JudgeOutcome outcome;
  Result<Json> record = ParseJson(line);
  if (!record.ok() || !record->is_object()) {
    outcome.error_kind = "infrastructure";
    outcome.error = "the worker answered with something that is no verdict";
    return outcome;
  }
  if (GetString(*record, "status") == "failed") {
    const Json& error = GetMember(*record, "error");
    outcome.error = GetString(error, "message", "the worker said no more");
    const std::string kind = GetString(error, "kind");
    outcome.kind = IsAboutTheQuestion(kind) ? JudgeOutcome::Kind::kRefused : JudgeOutcome::Kind::kLost;
    outcome.error_kind = IsAboutTheQuestion(kind) ? kind : "infrastructure";
    return outcome;
  }
  if (GetString(*record, "verdict").empty()) {
    outcome.error_kind = "infrastructure";
    outcome.error = "the worker's answer holds no verdict";
    return outcome;
  }
  outcome.kind = JudgeOutcome::Kind::kVerdict;
  outcome.record = std::move(*record);
  return outcome;
}

}  // namespace

JudgeChild::JudgeChild(std::unique_ptr<Child> child, UniqueFd to, UniqueFd from,
                       std::shared_ptr<ChildRegister> living)
    : living_(std::move(living)), child_(std::move(child)), to_(std::move(to)), from_(std::move(from)) {}

JudgeChild::~JudgeChild() {
  const pid_t pid = child_->pid();
  child_.reset();
  const std::scoped_lock lock(living_->mutex);
  living_->pids.erase(pid);
}

Result<std::unique_ptr<JudgeChild>> JudgeChild::Start(const std::vector<std::string>& argv,
                                                      const std::vector<std::string>& env,
                                                      std::shared_ptr<ChildRegister> living) {
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0) return ErrnoError("cannot make a pipe");
  UniqueFd in_read(in[0]), in_write(in[1]);
  if (pipe2(out, O_CLOEXEC) != 0) return ErrnoError("cannot make a pipe");
  UniqueFd out_read(out[0]), out_write(out[1]);
  ChildSpec spec;
  spec.argv = argv;
  spec.env = env;
  spec.descriptors = {{in_read.get(), STDIN_FILENO}, {out_write.get(), STDOUT_FILENO}};
  spec.output_cap = 16 * 1024;
  const std::scoped_lock lock(living->mutex);
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Child> child, Child::Spawn(spec));
  living->pids.insert(child->pid());
  return std::unique_ptr<JudgeChild>(
      new JudgeChild(std::move(child), std::move(in_write), std::move(out_read), living));
}

JudgeOutcome JudgeChild::Lost(const std::string& why) {
  child_->Kill();
  JudgeOutcome outcome;
  outcome.error_kind = "infrastructure";
  outcome.error = why;
  return outcome;
}

JudgeOutcome JudgeChild::Ended() {
  (void)child_->WaitUntil(Deadline::After(kLastWords_s));
  child_->Kill();
  const ExitReport report = child_->report();
  const std::string how = report.signal != 0 ? fmt::format("by signal {}", report.signal)
                                             : fmt::format("with exit code {}", report.code);
  const std::string words = SafeForTerminal(Trim(Tail(report.err, kMostMessage)));
  return Lost(fmt::format("the worker ended {}{}", how, words.empty() ? "" : ": " + words));
}

JudgeOutcome JudgeChild::Judge(const std::string& candidate_path, Deadline deadline,
                               const std::function<bool()>& stop) {
  received_.clear();
  if (!WriteAll(to_.get(), candidate_path + "\n")) return Ended();
  size_t searched = 0;
  while (true) {
    const size_t end = received_.find('\n', searched);
    if (end != std::string::npos) return OutcomeOf(received_.substr(0, end));
    searched = received_.size();
    if (received_.size() > kMostAnswer) return Lost("the worker's answer is too long");
    if (deadline.passed()) return Lost("the worker did not answer in time (--job-timeout)");
    if (stop()) {
      child_->Kill();
      JudgeOutcome outcome;
      outcome.kind = JudgeOutcome::Kind::kStopped;
      return outcome;
    }
    pollfd wait{from_.get(), POLLIN, 0};
    if (poll(&wait, 1, kLook_ms) <= 0) continue;
    char buffer[64 * 1024];
    const ssize_t count = read(from_.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Ended();
    received_.append(buffer, static_cast<size_t>(count));
  }
}

}  // namespace hone

// Warm judges, one for each combination of task and options. Preparing a task's reference takes seconds, so
// candidates of one task share it. The least recently used session is closed to make room. The device's lock
// (evaluation/device_lock.h), not this pool, decides which session may run a timing.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "service/judge_child.h"

namespace hone {

// One attempt at a job, with all that the judge needs.
struct Assignment {
  std::string id;
  std::string session;  // jobs with the same name can share a warm judge
  std::string task_name;
  std::string task_path;  // if empty, task_source is written to a file
  std::string task_sha256;
  std::string task_source;
  std::string candidate;
  std::vector<std::string> arguments;  // arguments of `hone bench`
};

// The interface between the desk and a judge. Tests have their own implementation.
class JobJudge {
 public:
  virtual ~JobJudge() = default;
  // Called from several threads. `stop` returns true when the answer is no longer wanted.
  virtual JudgeOutcome Judge(const Assignment& job, const std::function<bool()>& stop) = 0;
  // Whether an idle judge for this session exists.
  virtual bool IsWarm(const std::string& session) = 0;
  // Called regularly.
  virtual void Tidy() = 0;
};

// Calls the function with this program's child processes outside the pool. None starts or ends meanwhile.
using WithOtherChildren = std::function<void(const std::function<void(const std::vector<pid_t>&)>&)>;

struct SessionPoolOptions {
  std::vector<std::string> command;  // "hone", or the substitute in tests ($HONE_JUDGE_COMMAND)
  fs::path folder;                   // for files of tasks and candidates; emptied at the start
  size_t most_sessions = 2;
  double idle_s = 900;  // an unused session is closed after this time
  double job_timeout_s = 1800;
  WithOtherChildren with_others;  // empty if there are no other children
};

class SessionPool : public JobJudge {
 public:
  static Result<std::unique_ptr<SessionPool>> Make(SessionPoolOptions options);

  JudgeOutcome Judge(const Assignment& job, const std::function<bool()>& stop) override;
  bool IsWarm(const std::string& session) override;
  void Tidy() override;

  size_t warm();
  uint64_t started() const { return started_; }

 private:
  struct Session {
    std::string name;
    std::unique_ptr<JudgeChild> child;
    Stopwatch idle;
  };
  explicit SessionPool(SessionPoolOptions options) : options_(std::move(options)) {}
  Result<std::unique_ptr<JudgeChild>> Take(const Assignment& job);
  Result<std::unique_ptr<JudgeChild>> StartFor(const Assignment& job);
  void Keep(const std::string& session, std::unique_ptr<JudgeChild> child);
  // Ends workers of a killed session, which this process has adopted.
  void EndStrays();

  const SessionPoolOptions options_;
  const std::shared_ptr<ChildRegister> living_ = std::make_shared<ChildRegister>();
  std::mutex mutex_;
  std::list<Session> idle_;  // most recently used first
  size_t busy_ = 0;
  std::atomic<uint64_t> started_{0};
};

}  // namespace hone

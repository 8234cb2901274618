// Warm judges, one per task and options: the reference of a task takes seconds to prepare, and candidates of
// the same task share it. The least recently used session makes room for another. Which session may time
// something is decided by the device's lock (evaluation/device_lock.h), not here.
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

// One attempt at a job, with everything that the judge needs of it.
struct Assignment {
  std::string id;
  std::string session;  // jobs with the same one can share a warm judge
  std::string task_name;
  std::string task_path;  // empty: task_source is written to a file
  std::string task_sha256;
  std::string task_source;
  std::string candidate;
  std::vector<std::string> arguments;  // of `hone bench`
};

// The edge between the desk and whoever judges; tests have their own.
class JobJudge {
 public:
  virtual ~JobJudge() = default;
  // Called from several threads. `stop` turns true when the answer is not wanted any more.
  virtual JudgeOutcome Judge(const Assignment& job, const std::function<bool()>& stop) = 0;
  // Whether a judge for this session waits for work.
  virtual bool IsWarm(const std::string& session) = 0;
  // Called now and then.
  virtual void Tidy() = 0;
};

// Calls the function with processes of this program that are not the pool's; none starts or ends meanwhile.
using WithOtherChildren = std::function<void(const std::function<void(const std::vector<pid_t>&)>&)>;

struct SessionPoolOptions {
  std::vector<std::string> command;  // "hone", or the stand-in of tests ($HONE_JUDGE_COMMAND)
  fs::path folder;                   // for files of tasks and candidates; emptied at the start
  size_t most_sessions = 2;
  double idle_s = 900;  // a session that nobody needed for so long is closed
  double job_timeout_s = 1800;
  WithOtherChildren with_others;  // empty: there are none
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
  // Ends what a killed session left behind: its workers are adopted by this process.
  void EndStrays();

  const SessionPoolOptions options_;
  const std::shared_ptr<ChildRegister> living_ = std::make_shared<ChildRegister>();
  std::mutex mutex_;
  std::list<Session> idle_;  // the most recently used first
  size_t busy_ = 0;
  std::atomic<uint64_t> started_{0};
};

}  // namespace hone

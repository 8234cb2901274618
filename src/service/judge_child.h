// One warm judge: a child process `hone bench TASK --stdin --json --verbose` that reads a path and answers
// with one line. It is a process of its own, so that whatever happens to a session (a crash, a device that
// went away, memory that ran out) costs that session and never the server.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "process/child.h"

namespace hone {

// What came of one attempt to judge.
struct JudgeOutcome {
  enum class Kind {
    kVerdict,  // record holds it; never tried again
    kRefused,  // the question itself is wrong (a task that cannot be run); never tried again
    kLost,     // the worker ended, hung or could not do its job; tried again
    kStopped,  // the caller did not want to wait any longer
  };
  Kind kind = Kind::kLost;
  Json record;
  std::string error_kind;
  std::string error;
};

// The children that live. Nobody may look for strays (process/tree.h) between the start of one and its entry
// here, so both happen under the lock.
struct ChildRegister {
  std::mutex mutex;
  std::set<pid_t> pids;
};

class JudgeChild {
 public:
  static Result<std::unique_ptr<JudgeChild>> Start(const std::vector<std::string>& argv,
                                                   const std::vector<std::string>& env,
                                                   std::shared_ptr<ChildRegister> living);
  ~JudgeChild();

  // `stop` is asked several times a second. After anything but a verdict the child must not be used again,
  // unless it is still `alive`.
  JudgeOutcome Judge(const std::string& candidate_path, Deadline deadline, const std::function<bool()>& stop);
  bool alive() { return child_->running(); }
  pid_t pid() const { return child_->pid(); }

 private:
  JudgeChild(std::unique_ptr<Child> child, UniqueFd to, UniqueFd from, std::shared_ptr<ChildRegister> living);
  JudgeOutcome Lost(const std::string& why);
  // Nothing more to read: how it ended.
  JudgeOutcome Ended();

  std::shared_ptr<ChildRegister> living_;
  std::unique_ptr<Child> child_;
  UniqueFd to_;
  UniqueFd from_;
  std::string received_;
};

}  // namespace hone

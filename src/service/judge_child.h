// One warm judge: a child process `hone bench TASK --stdin --json --verbose` that reads a path and answers
// with one line. It is a separate process, so that a crash, a lost device or a lack of memory affects only
// this session and not the server.
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

// The result of one attempt to judge.
struct JudgeOutcome {
  enum class Kind {
    kVerdict,  // `record` holds it; never retried
    kRefused,  // the question is wrong (a task that cannot be run); never retried
    kLost,     // the worker ended, hung or failed; retried
    kStopped,  // the caller stopped waiting
  };
  Kind kind = Kind::kLost;
  Json record;
  std::string error_kind;
  std::string error;
};

// The live children. No thread may search for strays (process/tree.h) between the start of a child and its
// entry here, so both happen under the lock.
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

  // Calls `stop` several times a second. After any outcome but a verdict, the child must not be used again
  // unless it is still `alive`.
  JudgeOutcome Judge(const std::string& candidate_path, Deadline deadline, const std::function<bool()>& stop);
  bool alive() { return child_->running(); }
  pid_t pid() const { return child_->pid(); }

 private:
  JudgeChild(std::unique_ptr<Child> child, UniqueFd to, UniqueFd from, std::shared_ptr<ChildRegister> living);
  JudgeOutcome Lost(const std::string& why);
  // There is nothing more to read. Returns how the child ended.
  JudgeOutcome Ended();

  std::shared_ptr<ChildRegister> living_;
  std::unique_ptr<Child> child_;
  UniqueFd to_;
  UniqueFd from_;
  std::string received_;
};

}  // namespace hone

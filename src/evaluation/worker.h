// One Python worker, for the reference or a candidate, during its whole life. A call returns a reply or a
// WorkerFailure. A candidate's mistakes are always WorkerFailures, never Errors. Times in a reply come from
// the host's clock, read before and after the message.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/protocol.h"
#include "evaluation/zygote.h"

namespace hone {

enum class FailureKind {
  kException,
  kUnreadable,
  kExited,
  kSignalled,
  kTimeout,
  kMemory,
  kProcesses,
  kProtocol
};

struct WorkerFailure {
  FailureKind kind = FailureKind::kException;
  std::string type;     // type of the exception
  std::string message;  // one sentence or the exception's text
  std::string detail;   // traceback, or the end of stderr
  int signal = 0;       // signal that ended the worker
};

// When a message was sent and its reply received, and what failed.
struct Exchange {
  int64_t sent_ns = 0;
  int64_t received_ns = 0;
  std::optional<WorkerFailure> failure;

  bool ok() const { return !failure.has_value(); }
  double seconds() const { return static_cast<double>(received_ns - sent_ns) * 1e-9; }
};

// `body` is valid only if ok().
template <class Body>
struct WorkerReply : Exchange {
  Body body = {};
};

class WorkerProcess {
 public:
  // Starts a zygote and one worker of it. Returns at once; the import of torch continues in the background.
  static Result<std::unique_ptr<WorkerProcess>> Start(const WorkerOptions& options);
  // Starts one more worker of a zygote.
  static Result<std::unique_ptr<WorkerProcess>> Start(std::shared_ptr<Zygote> zygote);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Returns an Error only if Hone itself was interrupted, ran out of time or failed. A reply that violates
  // the protocol ends the worker as a failure of kind kProtocol.
  template <class Request>
  Result<WorkerReply<typename Request::Reply>> Call(const Request& request,
                                                    const std::vector<int>& descriptors, double seconds) {
    WorkerReply<typename Request::Reply> reply;
    HONE_RETURN_IF_ERROR(Ask(Request::kVerb, EncodeRequest(request), descriptors, seconds,
                             Request::Reply::Fields(), &reply.body, &reply));
    return reply;
  }
  template <class Request>
  Result<WorkerReply<typename Request::Reply>> Call(const Request& request, double seconds) {
    return Call(request, {}, seconds);
  }
  // For the reference worker: turns a failure into an Error.
  template <class Request>
  Result<typename Request::Reply> Require(const Request& request, const std::vector<int>& descriptors = {},
                                          double seconds = 600) {
    HONE_ASSIGN_OR_RETURN(WorkerReply<typename Request::Reply> reply, Call(request, descriptors, seconds));
    if (!reply.ok()) return ErrorOf(*reply.failure);
    return std::move(reply.body);
  }

  static Error ErrorOf(const WorkerFailure& failure);

  // Seconds in the model, imports and compilers, as the worker reports. Only for statistics.
  double compute_seconds() const { return compute_s_; }
  bool alive();
  void Kill();
  // Replaces this process by a fresh one from the same zygote.
  Status Restart();
  // Freezes all processes below the zygote: this worker, its siblings, and their children.
  void Freeze() { zygote_->freezer().Freeze(); }
  void Thaw() { zygote_->freezer().Thaw(); }
  Zygote& zygote() { return *zygote_; }
  const std::shared_ptr<Zygote>& shared_zygote() const { return zygote_; }
  pid_t pid() const { return pid_ != 0 ? pid_ : zygote_->pid(); }

 private:
  WorkerProcess() = default;
  Status Ask(Verb verb, const Json& message, const std::vector<int>& descriptors, double seconds,
             FieldList reply_fields, void* reply, Exchange* exchange);
  WorkerFailure Died();

  std::shared_ptr<Zygote> zygote_;
  Channel channel_;
  int number_ = 0;
  pid_t pid_ = 0;  // as the kernel reports it with the first message
  double compute_s_ = 0;
  bool ready_ = false;
  bool killed_ = false;
  std::optional<WorkerFailure> dead_;
};

}  // namespace hone

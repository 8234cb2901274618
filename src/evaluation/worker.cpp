#include "evaluation/worker.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

#include "base/interrupt.h"
#include "base/text.h"
#include "process/tree.h"

namespace hone {

namespace {

WorkerFailure FromReply(const Json& body) {
  WorkerFailure failure;
  const Json& error = GetMember(body, "error");
  if (error.is_object()) {
    failure.kind = FailureKind::kException;
    failure.type = GetString(error, "type", "Exception");
    failure.message = GetString(error, "message");
    failure.detail = GetString(error, "traceback");
    return failure;
  }
  failure.kind = FailureKind::kUnreadable;
  failure.message = GetString(body, "unreadable", "an output that cannot be read");
  return failure;
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(const WorkerOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<Zygote> zygote, Zygote::Start(options));
  return Start(std::move(zygote));
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(std::shared_ptr<Zygote> zygote) {
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess());
  HONE_ASSIGN_OR_RETURN(Zygote::Fork fork, zygote->Ask());
  worker->zygote_ = std::move(zygote);
  worker->channel_ = std::move(fork.channel);
  worker->number_ = fork.number;
  return worker;
}

WorkerProcess::~WorkerProcess() {
  Kill();
}

WorkerFailure WorkerProcess::Died() {
  const Zygote::End end = zygote_->HowEnded(number_);
  Kill();
  WorkerFailure failure;
  if (const auto over = zygote_->over_limit()) {
    failure.kind = over->memory ? FailureKind::kMemory : FailureKind::kProcesses;
    failure.message = over->message;
    return failure;
  }
  failure.detail = zygote_->LastWords();
  if (end.running) {
    failure.kind = FailureKind::kProtocol;
    failure.message = "its channel closed while it was running";
  } else if (end.signal != 0) {
    failure.kind = FailureKind::kSignalled;
    failure.message = fmt::format("ended by signal {} ({})", end.signal, strsignal(end.signal));
  } else {
    failure.kind = FailureKind::kExited;
    failure.message = fmt::format("left with exit code {} in the middle of the evaluation", end.code);
  }
  return failure;
}

Result<WorkerReply> WorkerProcess::Call(const std::string& verb, Json message,
                                        const std::vector<int>& descriptors, double seconds) {
  WorkerReply reply;
  if (dead_) {
    reply.failure = dead_;
    return reply;
  }
  const Deadline& end = zygote_->options().end;
  if (end.passed()) return OutOfTimeError();
  const Deadline deadline = Deadline::After(std::min(seconds, end.seconds_left()));
  auto fail = [&](const Error& error) -> Result<WorkerReply> {
    if (error.kind == ErrorKind::kInterrupted || end.passed()) {
      Kill();
      return error.kind == ErrorKind::kInterrupted ? error : OutOfTimeError();
    }
    if (error.kind == ErrorKind::kTimeout) {
      Kill();
      dead_ = WorkerFailure{FailureKind::kTimeout, "",
                            fmt::format("no answer to '{}' within {}", verb, HumanSeconds(seconds)),
                            zygote_->LastWords()};
    } else if (error.kind == ErrorKind::kInvalid) {
      Kill();
      dead_ = WorkerFailure{FailureKind::kProtocol, "", error.message, zygote_->LastWords()};
    } else {
      dead_ = Died();
    }
    reply.failure = dead_;
    return reply;
  };
  if (!ready_) {
    const Stopwatch importing;
    Result<Message> hello = channel_.Receive(deadline);
    if (!hello.ok()) return fail(hello.error());
    compute_s_ += importing.seconds();
    pid_ = hello->sender;
    zygote_->freezer();  // before anything foreign runs below it
    ready_ = true;
  }
  message["verb"] = verb;
  Result<int64_t> sent = channel_.Send(message, descriptors);
  if (!sent.ok()) return fail(sent.error());
  Result<Message> received = channel_.Receive(deadline);
  if (!received.ok()) return fail(received.error());
  reply.sent_ns = *sent;
  reply.received_ns = received->received_ns;
  reply.body = std::move(received->body);
  compute_s_ += std::clamp(GetNumber(reply.body, "compute_s"), 0.0, reply.seconds());
  if (!GetBool(reply.body, "ok")) reply.failure = FromReply(reply.body);
  return reply;
}

Result<Json> WorkerProcess::Require(const std::string& verb, Json message,
                                    const std::vector<int>& descriptors, double seconds) {
  HONE_ASSIGN_OR_RETURN(WorkerReply reply, Call(verb, std::move(message), descriptors, seconds));
  if (reply.ok()) return std::move(reply.body);
  const WorkerFailure& failure = *reply.failure;
  // A TaskProblem is a complete sentence with file and line.
  const bool complete = failure.type.empty() || failure.type == "TaskProblem";
  std::string why = complete ? failure.message : failure.type + ": " + failure.message;
  if (failure.kind != FailureKind::kException && !failure.detail.empty())
    why += "\n" + std::string(Trim(failure.detail));
  return Error{failure.kind == FailureKind::kTimeout ? ErrorKind::kTimeout : ErrorKind::kInvalid,
               SafeForTerminal(why)};
}

bool WorkerProcess::alive() {
  return !dead_ && zygote_->running() && (pid_ == 0 || kill(pid_, 0) == 0);
}

void WorkerProcess::Kill() {
  // Until the worker has spoken its process is not known; nothing else runs below the zygote then.
  if (!zygote_) return;
  Thaw();
  if (pid_ == 0)
    zygote_->Kill();
  else if (!killed_)
    KillTree(pid_);
  killed_ = true;
  channel_.Close();
}

}  // namespace hone

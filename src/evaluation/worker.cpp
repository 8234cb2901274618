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

WorkerFailure FromReply(ReplyHeader header) {
  if (!header.error.is_object())
    return {FailureKind::kUnreadable, "",
            header.unreadable.empty() ? "an output that cannot be read" : header.unreadable, ""};
  ErrorReply raised;
  // All its members are hints, so this cannot fail.
  (void)Decode(std::move(header.error), &raised);
  return {FailureKind::kException, raised.type, raised.message, raised.traceback};
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
    failure.signal = end.signal;
    failure.message = fmt::format("ended by signal {} ({})", end.signal, strsignal(end.signal));
  } else {
    failure.kind = FailureKind::kExited;
    failure.message = fmt::format("left with exit code {} in the middle of the evaluation", end.code);
  }
  return failure;
}

namespace {

// With HONE_TRACE=1, prints every message and the time of its reply, to show what takes long.
void TraceMessage(const Zygote& zygote, Verb verb, const Exchange& exchange) {
  static const bool wanted = getenv("HONE_TRACE") != nullptr;
  if (wanted)
    fmt::print(stderr, "[{}] {} {:.1f} ms\n", zygote.options().role, NameOf(verb), exchange.seconds() * 1e3);
}

}  // namespace

Status WorkerProcess::Ask(Verb verb, const Json& message, const std::vector<int>& descriptors, double seconds,
                          FieldList reply_fields, void* reply, Exchange* exchange) {
  if (dead_) {
    exchange->failure = dead_;
    return Ok();
  }
  const Deadline& end = zygote_->options().end;
  if (end.passed()) return OutOfTimeError();
  const Deadline deadline = Deadline::After(std::min(seconds, end.seconds_left()));
  auto fail = [&](const Error& error) -> Status {
    // A worker that ends after Ctrl-C ended because of it, whatever it reports.
    if (Interrupted() || error.kind == ErrorKind::kInterrupted || end.passed()) {
      Kill();
      if (error.kind == ErrorKind::kInterrupted) return error;
      return Interrupted() ? InterruptedError() : OutOfTimeError();
    }
    if (error.kind == ErrorKind::kTimeout) {
      Kill();
      dead_ = WorkerFailure{FailureKind::kTimeout, "",
                            fmt::format("no answer to '{}' within {}", NameOf(verb), HumanSeconds(seconds)),
                            zygote_->LastWords()};
    } else if (error.kind == ErrorKind::kInvalid) {
      Kill();
      dead_ = WorkerFailure{FailureKind::kProtocol, "", error.message, zygote_->LastWords()};
    } else {
      dead_ = Died();
    }
    exchange->failure = dead_;
    return Ok();
  };
  if (!ready_) {
    const Stopwatch importing;
    Result<Message> hello = channel_.Receive(deadline);
    if (!hello.ok()) return fail(hello.error());
    compute_s_ += importing.seconds();
    pid_ = hello->sender;
    zygote_->freezer();  // created before any foreign code runs below it
    ready_ = true;
  }
  Result<int64_t> sent = channel_.Send(message, descriptors);
  if (!sent.ok() && sent.error().kind == ErrorKind::kUnavailable) return std::move(sent).error();
  if (!sent.ok()) return fail(sent.error());
  Result<Message> received = channel_.Receive(deadline);
  if (!received.ok()) return fail(received.error());
  exchange->sent_ns = *sent;
  exchange->received_ns = received->received_ns;
  TraceMessage(*zygote_, verb, *exchange);
  ReplyHeader header;
  Status decoded = Decode(std::move(received->body), &header);
  compute_s_ += std::clamp(header.compute_s, 0.0, exchange->seconds());
  if (decoded.ok() && !header.ok) {
    exchange->failure = FromReply(std::move(header));
    return Ok();
  }
  if (decoded.ok()) decoded = DecodeFields(reply_fields, std::move(received->body), reply);
  if (decoded.ok()) return Ok();
  return fail(
      Error{ErrorKind::kInvalid, fmt::format("its reply to '{}' {}", NameOf(verb), decoded.error().message)});
}

namespace {

// Messages of CUDA and its driver about a missing or broken device, for which no program is to blame.
constexpr std::string_view kDeviceIsGone[] = {"fallen off the bus",
                                              "gpu is lost",
                                              "no cuda-capable device",
                                              "cuda-capable device(s) is/are busy or unavailable",
                                              "uncorrectable ecc error",
                                              "uncorrectable nvlink error",
                                              "cuda unknown error",
                                              "cuda error: unknown error",
                                              "cuda error: initialization error",
                                              "system not yet initialized",
                                              "system has unsupported display driver",
                                              "cuda driver version is insufficient",
                                              "cuda initialization: unexpected error"};

// Whether the machine failed and not the task, so that another machine or a later attempt may succeed. Only a
// lack of memory ends a worker with SIGKILL, and only a lack of shared memory with SIGBUS.
bool MachineFailed(const WorkerFailure& failure) {
  if (failure.kind == FailureKind::kSignalled && (failure.signal == SIGKILL || failure.signal == SIGBUS))
    return true;
  const std::string said = ToLower(failure.message);
  return std::any_of(std::begin(kDeviceIsGone), std::end(kDeviceIsGone),
                     [&](std::string_view words) { return said.find(words) != std::string::npos; });
}

}  // namespace

Error WorkerProcess::ErrorOf(const WorkerFailure& failure) {
  // A TaskProblem is a complete sentence with file and line.
  const bool complete = failure.type.empty() || failure.type == "TaskProblem";
  std::string why = complete ? failure.message : failure.type + ": " + failure.message;
  if (failure.kind != FailureKind::kException && !failure.detail.empty())
    why += "\n" + std::string(Trim(failure.detail));
  const ErrorKind kind = failure.kind == FailureKind::kTimeout ? ErrorKind::kTimeout
                         : MachineFailed(failure)              ? ErrorKind::kUnavailable
                                                               : ErrorKind::kInvalid;
  return Error{kind, SafeForTerminal(why)};
}

bool WorkerProcess::alive() {
  return !dead_ && zygote_->running() && (pid_ == 0 || kill(pid_, 0) == 0);
}

Status WorkerProcess::Restart() {
  Kill();
  HONE_ASSIGN_OR_RETURN(Zygote::Fork fork, zygote_->Ask());
  channel_ = std::move(fork.channel);
  number_ = fork.number;
  pid_ = 0;
  ready_ = killed_ = false;
  dead_.reset();
  return Ok();
}

void WorkerProcess::Kill() {
  // The worker's process id is unknown before its first message. Until then nothing else runs below the
  // zygote.
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

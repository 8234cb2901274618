#include "evaluation/worker.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/embedded.h"
#include "base/ids.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "process/tree.h"

namespace hone {

std::span<const EmbeddedFile> EmbeddedFiles_hone_evaluation();

namespace {

constexpr int kWorkerFd = 3;

Status WriteWorker(const fs::path& folder) {
  HONE_RETURN_IF_ERROR(MakeFolders(folder));
  for (const EmbeddedFile& file : EmbeddedFiles_hone_evaluation())
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / file.name, file.content));
  return Ok();
}

}  // namespace

std::vector<std::string> CandidateEnvironment(const fs::path& private_folder) {
  std::vector<std::string> env;
  for (const char* name :
       {"PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "CC", "CXX", "CUDACXX",
        "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VIRTUAL_ENV", "PYTHONPATH", "TORCH_CUDA_ARCH_LIST"})
    if (const char* value = std::getenv(name)) SetVariable(env, name, value);
  const std::string home = private_folder.string();
  for (const char* name : {"HOME", "TMPDIR"}) SetVariable(env, name, home);
  SetVariable(env, "XDG_CACHE_HOME", home + "/cache");
  SetVariable(env, "TORCH_EXTENSIONS_DIR", home + "/torch_extensions");
  SetVariable(env, "TORCHINDUCTOR_CACHE_DIR", home + "/inductor");
  SetVariable(env, "TRITON_CACHE_DIR", home + "/triton");
  SetVariable(env, "CUDA_CACHE_PATH", home + "/nv");
  SetVariable(env, "HONE_EXT_CACHE", home + "/hone_ext");
  SetVariable(env, "PYTHONUSERBASE", (HomeFolder() / ".local").string());
  return env;
}

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

std::string_view ExtensionModule() {
  for (const EmbeddedFile& file : EmbeddedFiles_hone_evaluation())
    if (file.name == "hone_ext.py") return file.content;
  return "";
}

Result<fs::path> WorkerFolder() {
  static std::mutex mutex;
  static fs::path folder;
  std::lock_guard lock(mutex);
  if (!folder.empty()) return folder;
  std::string all;
  for (const EmbeddedFile& file : EmbeddedFiles_hone_evaluation())
    all += file.name + "\n" + std::string(file.content);
  const fs::path cached = CacheFolder() / "worker" / Sha256(all).substr(0, 16);
  if (WriteWorker(cached).ok()) {
    folder = cached;
    return folder;
  }
  // If the home folder is read-only or full, a temporary folder is used.
  static TempFolder* temporary = nullptr;
  HONE_ASSIGN_OR_RETURN(TempFolder made, TempFolder::Make("hone-worker-"));
  temporary = new TempFolder(std::move(made));
  std::atexit([] { delete temporary; });
  HONE_RETURN_IF_ERROR(WriteWorker(temporary->path()));
  folder = temporary->path();
  return folder;
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(const WorkerOptions& options) {
  HONE_ASSIGN_OR_RETURN(const fs::path folder, WorkerFolder());
  HONE_ASSIGN_OR_RETURN(Channel::Pair pair, Channel::MakePair());
  ChildSpec spec;
  spec.argv = {options.python.program.string(), "-u",         (folder / "hone_worker.py").string(),
               std::to_string(kWorkerFd),       options.role, options.device};
  spec.env =
      options.role == "candidate" ? CandidateEnvironment(options.private_folder) : CurrentEnvironment();
  SetVariable(spec.env, "PYTHONDONTWRITEBYTECODE", "1");
  SetVariable(spec.env, "PYTHONUNBUFFERED", "1");
  SetVariable(spec.env, "TOKENIZERS_PARALLELISM", "false");
  if (options.interpret_triton) SetVariable(spec.env, "TRITON_INTERPRET", "1");
  if (!options.private_folder.empty()) spec.folder = options.private_folder;
  spec.descriptors = {{pair.theirs.get(), kWorkerFd}};

  SandboxPolicy policy;
  policy.readable = options.readable;
  policy.readable.push_back(folder);
  policy.readable.insert(policy.readable.end(), options.python.read_paths.begin(),
                         options.python.read_paths.end());
  policy.private_folder = options.private_folder;
  policy.gpu = options.device == "cuda";

  std::unique_ptr<WorkerProcess> worker(new WorkerProcess());
  HONE_ASSIGN_OR_RETURN(worker->started_, SpawnSandboxed(spec, policy, options.sandbox));
  worker->channel_ = std::move(pair.ours);
  worker->role_ = options.role;
  worker->end_ = options.end;
  if (options.process_limit > 0)
    worker->watcher_ =
        std::thread([raw = worker.get(), limit = options.process_limit] { raw->Watch(limit); });
  return worker;
}

WorkerProcess::~WorkerProcess() {
  stop_ = true;
  if (watcher_.joinable()) watcher_.join();
  Kill();
}

void WorkerProcess::Watch(int process_limit) {
  const pid_t root = started_.child->pid();
  while (!stop_) {
    const TreeUsage usage = UsageOfTree(root);
    const int64_t memory_limit = memory_limit_;
    std::optional<WorkerFailure> over;
    if (memory_limit > 0 && usage.resident_bytes > memory_limit)
      over = WorkerFailure{FailureKind::kMemory, "",
                           fmt::format("took {} of memory where {} are allowed",
                                       HumanBytes(static_cast<double>(usage.resident_bytes)),
                                       HumanBytes(static_cast<double>(memory_limit))),
                           ""};
    else if (usage.processes > process_limit)
      over = WorkerFailure{
          FailureKind::kProcesses, "",
          fmt::format("started {} processes where {} are allowed", usage.processes, process_limit), ""};
    if (over) {
      {
        std::lock_guard lock(limit_mutex_);
        over_limit_ = over;
      }
      KillTree(root);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
  }
}

WorkerFailure WorkerProcess::Died() {
  started_.child->WaitUntil(Deadline::After(2));
  const bool killed_by_us = started_.child->running();
  started_.child->Kill();
  {
    std::lock_guard lock(limit_mutex_);
    if (over_limit_) return *over_limit_;
  }
  const ExitReport report = started_.child->report();
  WorkerFailure failure;
  failure.detail = Tail(report.err, 8000);
  // bubblewrap and shells report a signal of their child as 128 + number.
  const int signal = report.signal != 0                       ? report.signal
                     : report.code > 128 && report.code < 160 ? report.code - 128
                                                              : 0;
  if (killed_by_us) {
    failure.kind = FailureKind::kProtocol;
    failure.message = "its channel closed while it was running";
  } else if (signal != 0) {
    failure.kind = FailureKind::kSignalled;
    failure.message = fmt::format("ended by signal {} ({})", signal, strsignal(signal));
  } else {
    failure.kind = FailureKind::kExited;
    failure.message = fmt::format("left with exit code {} in the middle of the evaluation", report.code);
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
  if (end_.passed()) return OutOfTimeError();
  const Deadline deadline = Deadline::After(std::min(seconds, end_.seconds_left()));
  auto fail = [&](const Error& error) -> Result<WorkerReply> {
    if (error.kind == ErrorKind::kInterrupted || end_.passed()) {
      Kill();
      return error.kind == ErrorKind::kInterrupted ? error : OutOfTimeError();
    }
    if (error.kind == ErrorKind::kTimeout) {
      Kill();
      dead_ = WorkerFailure{FailureKind::kTimeout, "",
                            fmt::format("no answer to '{}' within {}", verb, HumanSeconds(seconds)),
                            Tail(started_.child->err(), 8000)};
    } else if (error.kind == ErrorKind::kInvalid) {
      Kill();
      dead_ = WorkerFailure{FailureKind::kProtocol, "", error.message, Tail(started_.child->err(), 8000)};
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
  return !dead_ && started_.child->running();
}

void WorkerProcess::Kill() {
  if (started_.child) started_.child->Kill();
}

void WorkerProcess::Freeze() {
  if (frozen_ || dead_) return;
  FreezeTree(pid());
  frozen_ = true;
}

void WorkerProcess::Thaw() {
  if (!frozen_) return;
  ThawTree(pid());
  frozen_ = false;
}

std::vector<std::string> WorkerProcess::Attempts() const {
  return started_.watch ? started_.watch->attempts() : std::vector<std::string>{};
}

void WorkerProcess::ForgetAttempts() {
  if (started_.watch) started_.watch->Forget();
}

std::string WorkerProcess::LastWords() {
  return Tail(started_.child->err(), 8000);
}

}  // namespace hone

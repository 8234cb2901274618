// One Python worker, for the reference or a candidate, from start to end. A call returns a reply or says how
// the worker failed. What a candidate does wrong is a WorkerFailure, never an Error. The times in a reply
// come from the host's clock, read before and after the message.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "process/python.h"
#include "process/sandbox.h"

namespace hone {

struct WorkerOptions {
  PythonInfo python;
  std::string role;            // "reference" or "candidate"
  std::string device = "cpu";  // "cpu" or "cuda"
  SandboxLevel sandbox = SandboxLevel::kNone;
  std::vector<fs::path> readable;  // beyond Python's own folders
  fs::path private_folder;         // a candidate's home; may be empty for the reference
  bool interpret_triton = false;
  int process_limit = 0;             // 0: no limit
  Deadline end = Deadline::Never();  // a call that is under way then is cut off, as with Ctrl-C
};

// Environment variables that a candidate needs to find compilers, GPUs and Python. It gets no others.
std::vector<std::string> CandidateEnvironment(const fs::path& private_folder);

// The text of hone_ext.py, which compiles C++ and CUDA for candidates.
std::string_view ExtensionModule();

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
  std::string type;     // of the exception
  std::string message;  // one sentence or the exception's text
  std::string detail;   // traceback, or the last words on stderr
};

struct WorkerReply {
  Json body;
  int64_t sent_ns = 0;
  int64_t received_ns = 0;
  std::optional<WorkerFailure> failure;

  bool ok() const { return !failure.has_value(); }
  double seconds() const { return static_cast<double>(received_ns - sent_ns) * 1e-9; }
};

class WorkerProcess {
 public:
  // Returns at once; the interpreter imports torch meanwhile.
  static Result<std::unique_ptr<WorkerProcess>> Start(const WorkerOptions& options);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;

  // An Error only when Hone itself was interrupted, ran out of time or broke.
  Result<WorkerReply> Call(const std::string& verb, Json message, const std::vector<int>& descriptors,
                           double seconds);
  Result<WorkerReply> Call(const std::string& verb, double seconds) {
    return Call(verb, Json::object(), {}, seconds);
  }
  // For the reference worker: turns a failure into an Error.
  Result<Json> Require(const std::string& verb, Json message = Json::object(),
                       const std::vector<int>& descriptors = {}, double seconds = 600);

  // Past this limit the whole process tree is killed. 0: no limit.
  void SetMemoryLimit(int64_t bytes) { memory_limit_ = bytes; }
  // Seconds that the worker reports for the model, imports and compilers. For statistics only.
  double compute_seconds() const { return compute_s_; }
  bool alive();
  void Kill();
  void Freeze();
  void Thaw();
  // Forbidden actions that the sandbox saw, one sentence each. Empty without a sandbox.
  std::vector<std::string> Attempts() const;
  void ForgetAttempts();
  std::string LastWords();
  pid_t pid() const { return started_.child->pid(); }

 private:
  WorkerProcess() = default;
  void Watch(int process_limit);
  WorkerFailure Died();

  SandboxedChild started_;
  Channel channel_;
  std::string role_;
  Deadline end_ = Deadline::Never();
  double compute_s_ = 0;
  bool ready_ = false;
  bool frozen_ = false;
  std::optional<WorkerFailure> dead_;
  std::mutex limit_mutex_;
  std::optional<WorkerFailure> over_limit_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> memory_limit_{0};
  std::thread watcher_;
};

// Writes the embedded worker files to a folder, once per process.
Result<fs::path> WorkerFolder();

}  // namespace hone

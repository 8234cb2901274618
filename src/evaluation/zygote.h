// The process that workers are forked from: a Python interpreter that has imported torch and touched neither
// a device nor foreign code. A fresh worker then costs a fork instead of two seconds of imports. A
// candidate's zygote runs inside its sandbox (it starts there, or comes in from the nursery), so it is
// trusted no more than the candidate: what it reports can only count against the candidate.
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
#include "evaluation/nursery.h"
#include "process/freezer.h"
#include "process/python.h"
#include "process/sandbox.h"

namespace hone {

// Most processes below a worker in the sandbox; ninja and nvcc start a few dozen.
inline constexpr int kSandboxedProcesses = 256;

struct WorkerOptions {
  PythonInfo python;
  std::string role;            // "reference" or "candidate"
  std::string device = "cpu";  // "cpu" or "cuda"
  SandboxLevel sandbox = SandboxLevel::kNone;
  std::vector<fs::path> readable;          // beyond Python's own folders
  fs::path private_folder;                 // home of a worker in the sandbox; empty for a trusted reference
  std::shared_ptr<TempFolder> own_folder;  // that folder, where it goes with the zygote
  std::shared_ptr<Nursery> nursery;        // where a candidate's interpreter comes from; null: starts anew
  bool interpret_triton = false;
  int process_limit = 0;             // 0: no limit
  Deadline end = Deadline::Never();  // a call that is under way then is cut off, as with Ctrl-C
};

// Environment variables that a worker in the sandbox needs to find compilers, GPUs and Python. It gets no
// others.
std::vector<std::string> CandidateEnvironment(const fs::path& private_folder);

// The text of hone_ext.py, which compiles C++ and CUDA for candidates.
std::string_view ExtensionModule();

// Writes the embedded worker files to a folder, once per process.
Result<fs::path> WorkerFolder();

// The descriptor of an interpreter's channel.
inline constexpr int kWorkerFd = 3;
Result<std::vector<std::string>> InterpreterArgv(const PythonInfo& python, const std::string& role,
                                                 const std::string& device);
// What every interpreter of Hone's has set.
void AddInterpreterVariables(std::vector<std::string>& env);

class Zygote {
 public:
  // Returns at once; the interpreter imports torch meanwhile.
  static Result<std::shared_ptr<Zygote>> Start(const WorkerOptions& options);
  ~Zygote();
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  struct Fork {
    Channel channel;
    int number = 0;
  };
  // Asks for one more worker. It speaks first, on its own channel, when it is there.
  Result<Fork> Ask();

  // Has it import libraries before it forks again; those that it does not know are left alone. Returns at
  // once. Nothing is lost if it does not: a worker then imports them itself.
  void Import(const std::vector<std::string>& libraries);

  // How worker `number` ended, as far as is known within two seconds.
  struct End {
    bool running = false;
    int code = 0;
    int signal = 0;
  };
  End HowEnded(int number);

  // Past this limit the whole process tree is killed. 0: no limit.
  void SetMemoryLimit(int64_t bytes) { memory_limit_ = bytes; }
  // What was over a limit, in one sentence, and whether it was memory (else: processes).
  struct OverLimit {
    bool memory = false;
    std::string message;
  };
  std::optional<OverLimit> over_limit() const;

  pid_t pid() const { return started_.child->pid(); }
  bool running() { return started_.child->running(); }
  void Kill();
  // Everything below, workers and what they started. Made when it is first asked for.
  Freezer& freezer();
  std::vector<std::string> Attempts() const;
  void ForgetAttempts();
  std::string LastWords() const;
  const WorkerOptions& options() const { return options_; }

 private:
  Zygote() = default;
  void Watch(int process_limit);

  WorkerOptions options_;
  SandboxedChild started_;
  Channel control_;
  int forks_ = 0;
  std::unique_ptr<Freezer> freezer_;
  mutable std::mutex limit_mutex_;
  std::optional<OverLimit> over_limit_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> memory_limit_{0};
  std::thread watcher_;
};

}  // namespace hone

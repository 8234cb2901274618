// The process that workers are forked from: a Python interpreter that has imported torch but has used neither
// a device nor foreign code. A fresh worker then takes a fork instead of two seconds of imports. A
// candidate's zygote runs inside its sandbox (it starts there, or joins from the nursery). It is as untrusted
// as the candidate: its reports can only count against the candidate.
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
#include "process/usage.h"

namespace hone {

// The process limit of a sandboxed worker. ninja and nvcc start a few dozen.
inline constexpr int kSandboxedProcesses = 256;

struct WorkerOptions {
  PythonInfo python;
  std::string role;            // "reference" or "candidate"
  std::string device = "cpu";  // "cpu" or "cuda"
  SandboxLevel sandbox = SandboxLevel::kNone;
  std::vector<fs::path> readable;          // besides Python's own folders
  fs::path private_folder;                 // home of a sandboxed worker; empty for a trusted reference
  std::shared_ptr<TempFolder> own_folder;  // that folder, if it is deleted with the zygote
  std::shared_ptr<Nursery> nursery;        // source of a candidate's interpreter; null: it starts a new one
  bool interpret_triton = false;
  int process_limit = 0;             // 0: no limit
  Deadline end = Deadline::Never();  // interrupts a call that is running at this time, as Ctrl-C does
};

// The environment variables that a sandboxed worker needs to find compilers, GPUs and Python. It gets no
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
// Sets the variables that all of Hone's interpreters have.
void AddInterpreterVariables(std::vector<std::string>& env);

class Zygote {
 public:
  // Returns at once; the import of torch continues in the background.
  static Result<std::shared_ptr<Zygote>> Start(const WorkerOptions& options);
  ~Zygote();
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  struct Fork {
    Channel channel;
    int number = 0;
  };
  // Requests one more worker. The worker sends the first message on its own channel when it is ready.
  Result<Fork> Ask();

  // Makes it import libraries before it forks again. It ignores unknown ones. Returns at once. If the import
  // fails, a worker imports them itself.
  void Import(const std::vector<std::string>& libraries);

  // How worker `number` ended, as far as it is known within two seconds.
  struct End {
    bool running = false;
    int code = 0;
    int signal = 0;
  };
  End HowEnded(int number);

  // Above this limit the whole process tree is killed. 0: no limit. Includes memory that is in no process
  // (usage.h).
  void SetMemoryLimit(int64_t bytes) { memory_limit_ = bytes; }
  std::optional<OverLimit> over_limit() const;

  pid_t pid() const { return started_.child->pid(); }
  bool running() { return started_.child->running(); }
  void Kill();
  // Freezes workers and their children. Created on first use.
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

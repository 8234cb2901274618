// A child process: argv only (no shell), its own process group, captured output with a cap, and an exit
// status that is always collected. A Child is passive; its owner decides how long to wait.
//
// Killing ends the whole tree below the child: see tree.h.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"

namespace hone {

struct ChildSpec {
  std::vector<std::string> argv;
  std::vector<std::string> env;                  // the whole environment, "NAME=value"
  fs::path folder;                               // working folder; empty: the parent's
  std::vector<std::pair<int, int>> descriptors;  // {descriptor in this process, number in the child}
  size_t output_cap = 256 * 1024;                // bytes kept of each of stdout and stderr
};

struct ExitReport {
  int code = -1;   // exit code, or -1 after a signal
  int signal = 0;  // the signal that ended it, or 0
  bool timed_out = false;
  std::string out;
  std::string err;
  double seconds = 0;
};

class Child {
 public:
  static Result<std::unique_ptr<Child>> Spawn(const ChildSpec& spec);
  ~Child();  // kills the tree if it still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  bool running();
  // Waits until it ends, the deadline passes or Ctrl-C. Returns true if it has ended.
  bool WaitUntil(Deadline deadline);
  void Kill();
  // The output so far: the first half and the last half of the cap.
  std::string out() const;
  std::string err() const;
  // Valid after the child has ended.
  ExitReport report() const;

 private:
  struct Drain;
  Child(pid_t pid, Stopwatch started, std::unique_ptr<Drain> drain);
  void Reap(int status);

  pid_t pid_;
  bool ended_ = false;
  ExitReport report_;
  Stopwatch started_;
  std::unique_ptr<Drain> drain_;
};

// Runs the program until it ends or the deadline passes. At the deadline it kills the tree and sets
// timed_out. An Error means that the program could not be started or Hone was interrupted.
Result<ExitReport> RunProgram(const ChildSpec& spec, Deadline deadline);

// The parent's environment as "NAME=value" lines.
std::vector<std::string> CurrentEnvironment();
// Replaces or adds one variable.
void SetVariable(std::vector<std::string>& env, const std::string& name, const std::string& value);

}  // namespace hone

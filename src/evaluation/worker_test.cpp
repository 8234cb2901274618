#include "evaluation/worker.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace hone {
namespace {

struct Case {
  const char* name;
  WorkerFailure failure;
  ErrorKind kind;
};

WorkerFailure Raised(const char* type, const char* message) {
  return {FailureKind::kException, type, message, ""};
}

WorkerFailure EndedBy(int signal) {
  WorkerFailure failure{FailureKind::kSignalled, "", "ended by a signal", ""};
  failure.signal = signal;
  return failure;
}

TEST(WorkerError, TellsAMachineThatFailsFromATask) {
  const Case cases[] = {
      {"a mistake in the task", Raised("TaskProblem", "t.py:3: no Model"), ErrorKind::kInvalid},
      {"an exception of the task", Raised("ValueError", "x must be positive"), ErrorKind::kInvalid},
      {"memory that the task needs", Raised("OutOfMemoryError", "CUDA out of memory."), ErrorKind::kInvalid},
      {"a kernel that reads past its array",
       Raised("AcceleratorError", "CUDA error: an illegal memory access was encountered"),
       ErrorKind::kInvalid},
      {"a GPU that fell off the bus",
       Raised("RuntimeError", "Unable to determine the device: GPU has fallen off the bus"),
       ErrorKind::kUnavailable},
      {"a GPU with broken memory",
       Raised("AcceleratorError", "CUDA error: uncorrectable ECC error encountered"),
       ErrorKind::kUnavailable},
      {"a GPU that is gone", Raised("RuntimeError", "No CUDA-capable device is detected"),
       ErrorKind::kUnavailable},
      {"a GPU that somebody else holds",
       Raised("AcceleratorError", "CUDA error: CUDA-capable device(s) is/are busy or unavailable"),
       ErrorKind::kUnavailable},
      {"the kernel's lack of memory", EndedBy(SIGKILL), ErrorKind::kUnavailable},
      {"a full /dev/shm", EndedBy(SIGBUS), ErrorKind::kUnavailable},
      {"a task that crashes", EndedBy(SIGSEGV), ErrorKind::kInvalid},
      {"a hang", {FailureKind::kTimeout, "", "no answer", ""}, ErrorKind::kTimeout},
  };
  for (const Case& one : cases) {
    const Error error = WorkerProcess::ErrorOf(one.failure);
    EXPECT_EQ(error.kind, one.kind) << one.name;
    EXPECT_NE(error.message.find(one.failure.message), std::string::npos) << one.name;
  }
}

}  // namespace
}  // namespace hone

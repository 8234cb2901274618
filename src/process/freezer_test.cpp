#include "process/freezer.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/clock.h"
#include "process/tree.h"

namespace hone {
namespace {

[[noreturn]] void Spin() {
  for (volatile int i = 0;;) i = i + 1;
}

// Spins, with a child that spins too and has left its process group.
void SpinInTwoSessions() {
  if (fork() == 0) setsid();
  Spin();
}

// Two processes spin, and two others wake them whenever they are stopped. If processes are stopped one by
// one, the latter two are stopped last.
void SpinAndWakeTheStopped() {
  pid_t spinning[2];
  for (pid_t& one : spinning)
    if ((one = fork()) == 0) Spin();
  for (int i = 0; i < 2; ++i) {
    if (fork() != 0) continue;
    for (;;)
      for (const pid_t one : spinning) kill(one, SIGCONT);
  }
  Spin();
}

// Spins in a SCHED_IDLE thread, which is the last to reach a point where it can be stopped.
void SpinInAnIdleThread() {
  std::thread([] {
    const sched_param lowest{};
    sched_setscheduler(0, SCHED_IDLE, &lowest);
    Spin();
  }).detach();
  Spin();
}

struct Spinning {
  explicit Spinning(void (*spin)() = SpinInTwoSessions, size_t processes = 2)
      : pid(fork()), freezer(Started(spin)) {
    const Deadline deadline = Deadline::After(20);
    while (ProcessTree(pid).size() < processes && !deadline.passed()) usleep(1000);
    EXPECT_EQ(ProcessTree(pid).size(), processes);
  }
  ~Spinning() {
    freezer.Thaw();
    KillTree(pid);
    waitpid(pid, nullptr, 0);
  }
  // Forks a child that runs `spin` and never returns.
  pid_t Started(void (*spin)()) {
    if (pid == 0) spin();
    usleep(20000);
    return pid;
  }
  pid_t pid;
  Freezer freezer;
};

TEST(Freezer, NothingRunsWhileFrozenWhateverTriesTo) {
  const struct {
    void (*spin)();
    size_t processes;
  } kinds[] = {{SpinInTwoSessions, 2}, {SpinAndWakeTheStopped, 5}, {SpinInAnIdleThread, 1}};
  for (const auto& kind : kinds) {
    SCOPED_TRACE(&kind - kinds);
    Spinning spinning(kind.spin, kind.processes);
    usleep(20000);
    spinning.freezer.Freeze();
    const int64_t before = spinning.freezer.CpuNs();
    usleep(60000);
    EXPECT_LT(spinning.freezer.CpuNs() - before, 1'000'000);
  }
}

TEST(Freezer, RunsOnWhenThawedAndCountsTheTime) {
  Spinning spinning;
  spinning.freezer.Freeze();
  spinning.freezer.Thaw();
  const int64_t before = spinning.freezer.CpuNs();
  const Deadline deadline = Deadline::After(20);
  while (spinning.freezer.CpuNs() - before < 5'000'000 && !deadline.passed()) usleep(1000);
  EXPECT_GE(spinning.freezer.CpuNs() - before, 5'000'000);
}

TEST(Freezer, FreezingTwiceAndThawingTwiceIsHarmless) {
  Spinning spinning;
  spinning.freezer.Freeze();
  spinning.freezer.Freeze();
  EXPECT_TRUE(spinning.freezer.frozen());
  spinning.freezer.Thaw();
  spinning.freezer.Thaw();
  EXPECT_FALSE(spinning.freezer.frozen());
}

TEST(Freezer, AProcessThatIsGoneDoesNoHarm) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  Freezer freezer(child);
  freezer.Freeze();
  freezer.Thaw();
  EXPECT_GE(freezer.CpuNs(), 0);
}

}  // namespace
}  // namespace hone

#include "process/freezer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/tree.h"

namespace hone {
namespace {

// A child that spins, with a child of its own that spins too and has left its process group.
pid_t Spinners() {
  const pid_t child = fork();
  if (child != 0) return child;
  if (fork() == 0) setsid();
  for (volatile int i = 0;;) i = i + 1;
}

struct Spinning {
  pid_t pid = Spinners();
  Freezer freezer{(usleep(20000), pid)};
  ~Spinning() {
    freezer.Thaw();
    KillTree(pid);
    waitpid(pid, nullptr, 0);
  }
};

TEST(Freezer, NothingRunsWhileFrozen) {
  Spinning spinning;
  spinning.freezer.Freeze();
  const int64_t before = spinning.freezer.CpuNs();
  usleep(60000);
  EXPECT_LT(spinning.freezer.CpuNs() - before, 1'000'000);
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

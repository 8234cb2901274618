#include "process/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/ids.h"
#include "base/text.h"
#include "process/child.h"

namespace hone {
namespace {

using testing::Each;
using testing::UnorderedElementsAreArray;

std::unique_ptr<Child> Start(const std::string& script, const std::string& marker = "") {
  ChildSpec spec;
  spec.argv = {"/usr/bin/python3", "-S", "-u", "-c", script};
  spec.env = {"PATH=/usr/bin:/bin", "HONE_TEST_MARKER=" + marker};
  return *Child::Spawn(spec);
}

bool Eventually(const std::function<bool()>& holds) {
  const Deadline deadline = Deadline::After(20);
  while (!deadline.passed()) {
    if (holds()) return true;
    usleep(3000);
  }
  return false;
}

// Returns the child's output as soon as it has printed `lines` lines.
std::vector<std::string> Printed(Child& child, size_t lines) {
  Eventually([&] { return Lines(child.out()).size() >= lines; });
  return Lines(child.out());
}

// Returns 'R', 'S', 'T', 'Z', or '-' if the process does not exist.
char State(pid_t pid) {
  const Result<std::string> stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return stat.ok() ? stat->at(stat->rfind(')') + 2) : '-';
}

bool Dead(pid_t pid) {
  return std::string("-ZX").find(State(pid)) != std::string::npos;
}

// Live processes that have the marker in their environment.
std::vector<pid_t> Marked(const std::string& marker) {
  std::vector<pid_t> found;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const Result<std::string> environment = ReadFile(entry.path() / "environ");
    if (environment.ok() && Contains(*environment, marker) && !Dead(pid)) found.push_back(pid);
  }
  return found;
}

// Prints the process ids of itself, a child, and a grandchild in its own session. All of them wait.
constexpr char kThreeGenerations[] =
    "import os,sys,time\n"
    "print(os.getpid())\n"
    "if os.fork() == 0:\n"
    "  print(os.getpid())\n"
    "  if os.fork() == 0:\n"
    "    os.setsid(); print(os.getpid())\n"
    "time.sleep(300)\n";

std::vector<pid_t> Generations(Child& child) {
  std::vector<pid_t> pids;
  for (const std::string& line : Printed(child, 3)) pids.push_back(std::stoi(line));
  return pids;
}

TEST(ProcessTree, ListsTheRootFirstAndEveryDescendantWhateverItsSession) {
  std::unique_ptr<Child> child = Start(kThreeGenerations);
  const std::vector<pid_t> expected = Generations(*child);
  ASSERT_EQ(expected.size(), 3u);
  const std::vector<pid_t> found = ProcessTree(child->pid());
  EXPECT_THAT(found, UnorderedElementsAreArray(expected));
  EXPECT_EQ(found.front(), child->pid());
}

TEST(ProcessTree, IsNotFooledByAProcessThatNamesItselfLikeAStatusLine) {
  std::unique_ptr<Child> child = Start(
      "import os,time\n"
      "open('/proc/self/comm','w').write(') Z 1 (x')\n"
      "if os.fork() == 0: print(os.getpid())\n"
      "time.sleep(300)\n");
  const std::vector<std::string> printed = Printed(*child, 1);
  ASSERT_EQ(printed.size(), 1u);
  const pid_t below = std::stoi(printed[0]);
  EXPECT_THAT(ProcessTree(child->pid()), testing::ElementsAre(child->pid(), below));
  FreezeTree(child->pid());
  EXPECT_TRUE(Eventually([&] { return State(child->pid()) == 'T'; }));
  KillTree(child->pid());
  EXPECT_TRUE(Dead(child->pid()));
}

TEST(FreezeTree, StopsEveryMemberAndThawTreeLetsItGoOn) {
  std::unique_ptr<Child> child = Start(
      "import os,time\n"
      "if os.fork() == 0: os.setsid()\n"
      "print(os.getpid())\n"
      "n = 0\n"
      "while True: n += 1\n");
  Printed(*child, 2);
  const std::vector<pid_t> members = ProcessTree(child->pid());
  ASSERT_EQ(members.size(), 2u);
  FreezeTree(child->pid());
  for (const pid_t pid : members) EXPECT_TRUE(Eventually([&] { return State(pid) == 'T'; })) << pid;
  ThawTree(child->pid());
  for (const pid_t pid : members) EXPECT_TRUE(Eventually([&] { return State(pid) == 'R'; })) << pid;
  child->Kill();
  for (const pid_t pid : members) EXPECT_TRUE(Eventually([&] { return Dead(pid); })) << pid;
}

TEST(FreezeTree, HoldsAThreadedChildStillWhileItIsFrozen) {
  std::unique_ptr<Child> child = Start(
      "import threading,time\n"
      "def tick():\n"
      "  while True: print('t'); time.sleep(0.005)\n"
      "[threading.Thread(target=tick).start() for i in range(3)]\n");
  Printed(*child, 10);
  FreezeTree(child->pid());
  usleep(100'000);
  const size_t before = child->out().size();
  usleep(200'000);
  EXPECT_EQ(child->out().size(), before);
  ThawTree(child->pid());
  EXPECT_TRUE(Eventually([&] { return child->out().size() > before; }));
}

TEST(KillTree, KillsAFrozenTree) {
  std::unique_ptr<Child> child = Start(kThreeGenerations);
  const std::vector<pid_t> members = Generations(*child);
  ASSERT_EQ(members.size(), 3u);
  FreezeTree(child->pid());
  KillTree(child->pid());
  for (const pid_t pid : members) EXPECT_TRUE(Eventually([&] { return Dead(pid); })) << pid;
}

TEST(KillTree, IsNotOutrunByAChainThatForksAsFastAsItCan) {
  BecomeSubreaper();  // so that an escaped process can be found again
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::string marker = RandomHex(12);
    // Every process starts one more and waits, up to a few hundred.
    std::unique_ptr<Child> child = Start(
        "import os,time\n"
        "print('go')\n"
        "for i in range(300):\n"
        "  if os.fork() != 0: time.sleep(30); os._exit(0)\n"
        "time.sleep(30)\n",
        marker);
    Printed(*child, 1);
    usleep(20'000);
    KillTree(child->pid());
    EXPECT_TRUE(Dead(child->pid()));
    EXPECT_EQ(Marked(marker).size(), 0u) << "attempt " << attempt;
    child->Kill();
    KillStrays({});
    EXPECT_EQ(Marked(marker).size(), 0u) << "attempt " << attempt << ", after the strays were collected";
  }
}

TEST(KillTree, LeavesNothingOfItInTheProcessTable) {
  BecomeSubreaper();
  std::unique_ptr<Child> child = Start(kThreeGenerations);
  const std::vector<pid_t> members = Generations(*child);
  ASSERT_EQ(members.size(), 3u);
  KillTree(child->pid());
  for (size_t i = 1; i < members.size(); ++i)
    EXPECT_NE(kill(members[i], 0), 0) << members[i] << " is a zombie";
}

TEST(KillTree, OfAProcessThatIsGoneReturnsAtOnce) {
  std::unique_ptr<Child> child = Start("");
  ASSERT_TRUE(child->WaitUntil(Deadline::After(20)));
  const Stopwatch watch;
  KillTree(child->pid());
  EXPECT_LT(watch.seconds(), 10);
}

// Forks twice and makes its own session, so it belongs to no tree.
constexpr char kDaemon[] =
    "import os,time\n"
    "if os.fork() == 0:\n"
    "  os.setsid()\n"
    "  if os.fork() == 0:\n"
    "    print(os.getpid()); time.sleep(300)\n"
    "  os._exit(0)\n"
    "os.wait(); time.sleep(300)\n";

TEST(KillStrays, CollectsWhatDetachedItselfAndSparesWhatItIsToldToKeep) {
  BecomeSubreaper();
  std::unique_ptr<Child> child = Start(kDaemon);
  const std::vector<std::string> printed = Printed(*child, 1);
  ASSERT_EQ(printed.size(), 1u);
  const pid_t stray = std::stoi(printed[0]);
  ASSERT_TRUE(Eventually([&] { return ProcessTree(child->pid()).size() == 1; })) << "it has detached itself";
  KillStrays({child->pid()});
  EXPECT_TRUE(Dead(stray));
  EXPECT_TRUE(child->running());
}

TEST(KillStrays, AlsoEndsWhatHangsBelowAStray) {
  BecomeSubreaper();
  const std::string marker = RandomHex(12);
  std::unique_ptr<Child> child = Start(
      "import os,time\n"
      "if os.fork() == 0:\n"
      "  os.setsid()\n"
      "  if os.fork() == 0:\n"
      "    os.fork(); os.fork(); print('there'); time.sleep(300)\n"
      "  os._exit(0)\n"
      "os.wait()\n",
      marker);
  ASSERT_EQ(Printed(*child, 4).size(), 4u);
  ASSERT_TRUE(child->WaitUntil(Deadline::After(20)));
  EXPECT_EQ(Marked(marker).size(), 4u);
  KillStrays({});
  EXPECT_EQ(Marked(marker).size(), 0u);
}

}  // namespace
}  // namespace hone

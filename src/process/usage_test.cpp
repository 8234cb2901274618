#include "process/usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/text.h"
#include "process/child.h"
#include "process/limits.h"
#include "process/sandbox.h"

namespace hone {
namespace {

using testing::HasSubstr;

constexpr int64_t kMB = 1'000'000;

std::unique_ptr<Child> StartPython(const std::string& script) {
  ChildSpec spec;
  spec.argv = {"/usr/bin/python3", "-S", "-u", "-c",
               script + "\nprint('there'); import time; time.sleep(300)\n"};
  spec.env = {"PATH=/usr/bin:/bin"};
  return *Child::Spawn(spec);
}

bool IsThere(Child& child, int lines = 1) {
  const Deadline deadline = Deadline::After(20);
  while (!deadline.passed() && child.running() && Lines(child.out()).size() < static_cast<size_t>(lines))
    usleep(3000);
  return Lines(child.out()).size() == static_cast<size_t>(lines);
}

TEST(UsageOfTree, AddsUpTheMemoryAndThreadsOfAllMembers) {
  std::unique_ptr<Child> child = StartPython(
      "import os, threading, time\n"
      "held = b'x' * 100_000_000\n"
      "if os.fork() == 0:\n"
      "  more = b'y' * 50_000_000\n"
      "  for _ in range(20): threading.Thread(target=time.sleep, args=(300,), daemon=True).start()");
  ASSERT_TRUE(IsThere(*child, 2)) << child->err();
  const TreeUsage usage = UsageOfTree(child->pid());
  EXPECT_EQ(usage.processes, 2);
  EXPECT_EQ(usage.threads, 22);
  EXPECT_GT(usage.resident_bytes, 150 * kMB);
  EXPECT_LT(usage.resident_bytes, 500 * kMB);
}

// Ways to hold 120 MB that no process has in its resident set.
struct Hidden {
  const char* what;
  const char* script;
  bool exact = true;  // what is held is known, and not only how much the machine's shared memory grew
};
constexpr Hidden kHidden[] = {
    {"a memory file that is written",
     "f = os.memfd_create('x')\nfor _ in range(120): os.write(f, bytes(10**6))"},
    {"a memory file that is mapped without a descriptor",
     "f = os.memfd_create('x'); os.truncate(f, 120_000_000); m = mmap.mmap(f, 120_000_000); os.close(f)\n"
     "for i in range(0, 120_000_000, 4096): m[i] = 1\n"
     "m.madvise(mmap.MADV_DONTNEED)"},
    {"shared memory without a file",
     "m = mmap.mmap(-1, 120_000_000)\n"
     "for i in range(0, 120_000_000, 4096): m[i] = 1\n"
     "m.madvise(mmap.MADV_DONTNEED)"},
    {"a memory file on its way in a socket",
     "a, b = socket.socketpair()\n"
     "f = os.memfd_create('x')\n"
     "for _ in range(120): os.write(f, bytes(10**6))\n"
     "socket.send_fds(a, [b'x'], [f]); os.close(f)",
     false},
    {"a memory file that a child holds",
     "f = os.memfd_create('x')\n"
     "for _ in range(120): os.write(f, bytes(10**6))\n"
     "if os.fork() == 0: time.sleep(300)\n"
     "os.close(f)"},
};

TEST(UnmappedMemory, IsFoundWhereverItIsHeld) {
  for (const Hidden& hidden : kHidden) {
    std::unique_ptr<Child> child =
        StartPython(std::string("import mmap, os, socket, time\n") + hidden.script);
    ASSERT_TRUE(IsThere(*child)) << hidden.what << child->err();
    EXPECT_LT(UsageOfTree(child->pid()).resident_bytes, 100 * kMB) << hidden.what;
    const int64_t found = UnmappedMemory(child->pid(), hidden.exact ? 0 : 120 * kMB);
    EXPECT_GT(found, 110 * kMB) << hidden.what;
    EXPECT_LT(found, 140 * kMB) << hidden.what;
  }
}

TEST(UnmappedMemory, DoesNotCountWhatIsResident) {
  std::unique_ptr<Child> child = StartPython(
      "import mmap, os, socket\n"
      "f = os.memfd_create('x'); os.truncate(f, 120_000_000); m = mmap.mmap(f, 120_000_000)\n"
      "for i in range(0, 120_000_000, 4096): m[i] = 1\n"
      "a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [f]); socket.recv_fds(b, 1, 1)");
  ASSERT_TRUE(IsThere(*child)) << child->err();
  EXPECT_LT(UnmappedMemory(child->pid(), 1000 * kMB), 10 * kMB);
}

TEST(UsageWatch, NamesTheLimitThatIsExceeded) {
  std::unique_ptr<Child> child = StartPython(
      "import os, time, threading\nheld = b'x' * 100_000_000\n"
      "for _ in range(20): threading.Thread(target=time.sleep, args=(300,), daemon=True).start()\n"
      "if os.fork() == 0: time.sleep(300)");
  ASSERT_TRUE(IsThere(*child)) << child->err();
  UsageWatch watch(child->pid());
  EXPECT_FALSE(watch.Look({10, 1000, 2000 * kMB}));
  EXPECT_FALSE(watch.Look({10, 1000, 0}));
  const auto memory = watch.Look({10, 1000, 50 * kMB});
  ASSERT_TRUE(memory);
  EXPECT_TRUE(memory->memory);
  const auto processes = watch.Look({1, 1000, 2000 * kMB});
  ASSERT_TRUE(processes);
  EXPECT_EQ(processes->message, "started 2 processes where 1 are allowed");
  const auto threads = watch.Look({10, 10, 2000 * kMB});
  ASSERT_TRUE(threads);
  EXPECT_FALSE(threads->memory);
  EXPECT_EQ(threads->message, "started 22 threads where 10 are allowed");
}

// In a sandbox, where its first process may not be looked at, memory is counted the same way.
TEST(UsageWatch, SeesMemoryFilesAndFileSystemsOfASandbox) {
  const SandboxLevel level = DetectSandbox();
  if (level == SandboxLevel::kNone) GTEST_SKIP() << "no sandbox works here";
  struct Row {
    const char* what;
    const char* script;
    bool over;
  };
  for (const Row& row : std::vector<Row>{
           {"nothing", "", false},
           {"memory file", "f = os.memfd_create('x')\nfor _ in range(200): os.write(f, bytes(10**6))", true},
           {"/tmp", "f = open('/tmp/x', 'wb')\nfor _ in range(200): f.write(bytes(10**6))", true},
           {"/dev/shm", "f = open('/dev/shm/x', 'wb')\nfor _ in range(200): f.write(bytes(10**6))", true},
           {"not to be looked at",
            "import ctypes; f = os.memfd_create('x'); ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"
            "for _ in range(200): os.write(f, bytes(10**6))",
            true}}) {
    const TempFolder own = *TempFolder::Make("hone-test-own-");
    ChildSpec spec;
    spec.argv = {"/usr/bin/python3", "-S", "-u", "-c",
                 std::string("import os, time\n") + "while not os.path.exists('go'): time.sleep(0.01)\n" +
                     row.script + "\nprint('there'); time.sleep(300)\n"};
    spec.env = {"PATH=/usr/bin:/bin"};
    spec.folder = own.path();
    SandboxPolicy policy;
    policy.private_folder = own.path();
    Result<SandboxedChild> started = SpawnSandboxed(spec, policy, level);
    ASSERT_TRUE(started.ok()) << started.error().message;
    UsageWatch watch(started->child->pid());
    ASSERT_TRUE(WriteFileAtomic(own.path() / "go", "").ok());
    ASSERT_TRUE(IsThere(*started->child)) << row.what << started->child->err();
    const std::optional<OverLimit> over = watch.Look({100, 1000, 150 * kMB});
    EXPECT_EQ(over.has_value(), row.over) << row.what << (over ? over->message : "");
    if (over && row.over) {
      EXPECT_THAT(over->message, HasSubstr("in memory files")) << row.what;
    }
  }
}

}  // namespace
}  // namespace hone

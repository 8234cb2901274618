// What a candidate may touch, tried for real from inside. The test program is its own sandbox helper, as
// the hone program is.
#include "process/sandbox.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "process/landlock.h"
#include "process/sandbox_exec.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

__attribute__((constructor)) void BeTheHelperWhenAsked(int argc, char** argv, char**) {
  RunSandboxExecIfAsked(argc, argv);
}

TEST(HarmlessWrite, IsTheOwnFolderAndWhatEveryInterpreterTouches) {
  struct Row {
    const char* path;
    bool harmless;
  };
  for (const Row& row : std::vector<Row>{
           {"/home/u/private", true},
           {"/home/u/private/a/b.so", true},
           {"/home/u/private2/a", false},
           {"/home/u/private.txt", false},
           {"/home/u", false},
           {"/home/u/.bashrc", false},
           {"/etc/passwd", false},
           {"/dev/null", true},
           {"/dev/shm/x", true},
           {"/device", false},
           {"/tmp/x", true},
           {"/tmpx", false},
           {"/var/tmp/x", true},
           {"/var/lib/x", false},
           {"/proc/self/comm", true},
           {"/proc/thread-self/attr", true},
           {"/proc/1/mem", false},
           {"/proc/1/oom_score_adj", false},
           {"/proc/12/task/13/comm", true},
           {"/proc/12/task/13/mem", false},
           {"/proc/sys/kernel/core_pattern", false},
           {"/proc/driver/nvidia/params", true},
           {"/usr/lib/python3/__pycache__/x.cpython-311.pyc.140", true},
           {"/usr/lib/python3/x.pyc", true},
           {"/usr/lib/python3/x.py", false},
           {"/__pycache__", false},
       })
    EXPECT_EQ(HarmlessWrite(row.path, "/home/u/private"), row.harmless) << row.path;
}

// Runs `check` in a process of its own behind Landlock; what it returns is the exit code.
int BehindLandlock(const std::vector<LandlockRule>& rules, int (*check)(const std::string&),
                   const std::string& argument) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    _exit(RestrictSelf(rules) ? check(argument) : 100);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

int CanRead(const std::string& path) {
  return access(path.c_str(), F_OK) == 0 && UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC)).valid();
}
int CanWrite(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)).valid();
}
int CanList(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)).valid();
}
int CanRemove(const std::string& path) {
  return unlink(path.c_str()) == 0;
}

TEST(Landlock, WhatIsNotListedIsNeitherReadableNorWritable) {
  if (LandlockAbi() < 1) GTEST_SKIP() << "this kernel has no Landlock";
  TempFolder folder = *TempFolder::Make("hone-test-");
  const std::string base = folder.path().string();
  for (const char* name : {"read", "write", "other"}) {
    ASSERT_TRUE(MakeFolders(folder.path() / name).ok());
    ASSERT_TRUE(WriteFileAtomic(folder.path() / name / "file", "x").ok());
  }
  const std::vector<LandlockRule> rules = {
      {base + "/read", false}, {base + "/write", true}, {"/dev/null", true}, {base + "/not-there", true}};
  struct Row {
    const char* what;
    int (*check)(const std::string&);
    std::string path;
    bool allowed;
  };
  for (const Row& row : std::vector<Row>{
           {"read a readable file", CanRead, base + "/read/file", true},
           {"list a readable folder", CanList, base + "/read", true},
           {"write to a readable file", CanWrite, base + "/read/file", false},
           {"make a file in a readable folder", CanWrite, base + "/read/new", false},
           {"remove a readable file", CanRemove, base + "/read/file", false},
           {"read a writable file", CanRead, base + "/write/file", true},
           {"write to a writable file", CanWrite, base + "/write/file", true},
           {"make a file in a writable folder", CanWrite, base + "/write/new", true},
           {"write to a listed device", CanWrite, "/dev/null", true},
           {"read another file", CanRead, base + "/other/file", false},
           {"write to another file", CanWrite, base + "/other/file", false},
           {"list another folder", CanList, base + "/other", false},
           {"list the root", CanList, "/", false},
           {"read the password file", CanRead, "/etc/passwd", false},
           {"climb out of the writable folder", CanRead, base + "/write/../other/file", false},
           {"make the file of a rule that was not there", CanWrite, base + "/not-there", false},
       })
    EXPECT_EQ(BehindLandlock(rules, row.check, row.path), row.allowed ? 1 : 0) << row.what;
}

TEST(Landlock, ALinkDoesNotLeadOutOfTheWritableFolder) {
  if (LandlockAbi() < 1) GTEST_SKIP() << "this kernel has no Landlock";
  TempFolder folder = *TempFolder::Make("hone-test-");
  ASSERT_TRUE(MakeFolders(folder.path() / "own").ok());
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "secret", "x").ok());
  fs::create_symlink(folder.path() / "secret", folder.path() / "own/link");
  const std::vector<LandlockRule> rules = {{(folder.path() / "own").string(), true}};
  EXPECT_EQ(BehindLandlock(rules, CanRead, (folder.path() / "own/link").string()), 0);
  EXPECT_EQ(BehindLandlock(rules, CanWrite, (folder.path() / "own/link").string()), 0);
}

// Not under /tmp, where a write counts as harmless.
TempFolder MakeOutside() {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  const bool inside = StartsWith(fs::current_path().string(), "/tmp/");
  setenv("TMPDIR", (inside ? HomeFolder() : fs::current_path()).c_str(), 1);
  TempFolder made = *TempFolder::Make("hone-test-outside-");
  if (kept.empty())
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", kept.c_str(), 1);
  return made;
}

// A sandbox level, or a skip where this machine does not have it.
class Sandbox : public testing::TestWithParam<SandboxLevel> {
 protected:
  void SetUp() override {
    if (GetParam() == SandboxLevel::kBubblewrap && DetectSandbox() != SandboxLevel::kBubblewrap)
      GTEST_SKIP() << "bubblewrap does not work here";
    if (GetParam() == SandboxLevel::kLandlock && LandlockAbi() < 1)
      GTEST_SKIP() << "this kernel has no Landlock";
  }

  struct Outcome {
    ExitReport report;
    std::vector<std::string> attempts;
  };

  Outcome Python(const std::string& script, bool loopback = false) {
    ChildSpec spec;
    spec.argv = {"/usr/bin/python3", "-S", "-c", script, outside_.path().string()};
    spec.env = {"PATH=/usr/bin:/bin", "HOME=" + own_.path().string()};
    spec.folder = own_.path();
    SandboxPolicy policy;
    policy.private_folder = own_.path();
    policy.loopback = loopback;
    Result<SandboxedChild> started = SpawnSandboxed(spec, policy, GetParam());
    EXPECT_TRUE(started.ok()) << started.error().message;
    if (!started.ok()) return {};
    EXPECT_TRUE(started->child->WaitUntil(Deadline::After(20)));
    started->child->Kill();
    return {started->child->report(), started->watch->attempts()};
  }

  TempFolder own_ = *TempFolder::Make("hone-test-own-");
  TempFolder outside_ = MakeOutside();
};

TEST_P(Sandbox, LetsAProgramComputeAndWriteInItsOwnFolder) {
  const Outcome outcome = Python(
      "open('result','w').write('42'); print(open('result').read()); import sys; print('e', "
      "file=sys.stderr)");
  EXPECT_EQ(outcome.report.code, 0) << outcome.report.err;
  EXPECT_EQ(outcome.report.out, "42\n");
  EXPECT_EQ(outcome.report.err, "e\n");
  EXPECT_THAT(outcome.attempts, IsEmpty());
  EXPECT_EQ(*ReadFile(own_.path() / "result"), "42");
}

TEST_P(Sandbox, RefusesAndRecordsTheNetwork) {
  const Outcome outcome = Python(
      "import socket\n"
      "for family in (socket.AF_INET, socket.AF_INET6):\n"
      "  try: socket.socket(family, socket.SOCK_STREAM); print('open')\n"
      "  except OSError: print('refused')\n"
      "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))\n");
  EXPECT_EQ(outcome.report.out, "refused\nrefused\nb'x'\n") << outcome.report.err;
  EXPECT_THAT(outcome.attempts, ElementsAre("opened a network socket"));
}

TEST_P(Sandbox, MayGiveALoopbackThatReachesNothingElse) {
  if (GetParam() == SandboxLevel::kLandlock && geteuid() != 0)
    GTEST_SKIP() << "only root has namespaces at this level";
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const Outcome outcome = Python(
      "import socket\n"
      "server = socket.create_server(('127.0.0.1', 0))\n"
      "client = socket.create_connection(server.getsockname()); client.send(b'x'); "
      "print(server.accept()[0].recv(1))\n"
      "try: socket.create_connection(('127.0.0.1', " +
          std::to_string(ntohs(address.sin_port)) +
          "), 2); print('reached')\n"
          "except OSError: print('refused')\n"
          "try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9)); "
          "print('reached')\n"
          "except OSError: print('refused')\n",
      true);
  close(listener);
  EXPECT_EQ(outcome.report.out, "b'x'\nrefused\nrefused\n") << outcome.report.err;
  EXPECT_THAT(outcome.attempts, IsEmpty());
}

TEST_P(Sandbox, RefusesAndRecordsAFileOutside) {
  const Outcome outcome = Python(
      "import os,sys\n"
      "for path in (sys.argv[1] + '/x', os.path.relpath(sys.argv[1]) + '/y', '/etc/hone-test'):\n"
      "  try: open(path, 'w'); print('wrote')\n"
      "  except OSError: print('refused')\n");
  EXPECT_EQ(outcome.report.out, "refused\nrefused\nrefused\n") << outcome.report.err;
  EXPECT_TRUE(fs::is_empty(outside_.path()));
  for (const std::string& name :
       {outside_.path().string() + "/x", outside_.path().string() + "/y", std::string("/etc/hone-test")})
    EXPECT_THAT(outcome.attempts, testing::Contains("opened " + name + " for writing"));
}

TEST_P(Sandbox, HidesFilesOutsideAndTheProcessesOfTheUser) {
  ASSERT_TRUE(WriteFileAtomic(outside_.path() / "secret", "answers").ok());
  const Outcome outcome = Python(
      "import sys,os\n"
      "try: print(open(sys.argv[1] + '/secret').read())\n"
      "except OSError: print('refused')\n"
      "try: os.kill(" +
      std::to_string(getpid()) +
      ", 0); print('seen')\n"
      "except OSError: print('refused')\n"
      "try: print(len(open('/proc/" +
      std::to_string(getpid()) +
      "/environ').read()))\n"
      "except OSError: print('refused')\n");
  EXPECT_EQ(outcome.report.out, "refused\nrefused\nrefused\n") << outcome.report.err;
}

TEST_P(Sandbox, RefusesWhatAnEscapeStartsWith) {
  const Outcome outcome = Python(
      "import ctypes\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "print(libc.ptrace(0, 0, 0, 0), libc.mount(b'none', b'/mnt', b'tmpfs', 0, None), libc.chroot(b'/'))\n");
  ASSERT_EQ(outcome.report.code, 0) << outcome.report.err;
  EXPECT_EQ(Lines(outcome.report.out)[0], "-1 -1 -1");
}

TEST_P(Sandbox, EndsEverythingInsideWithTheProgram) {
  const Stopwatch watch;
  const Outcome outcome = Python(
      "import os,sys\n"
      "if os.fork() == 0:\n"
      "  os.setsid()\n"
      "  if os.fork() == 0:\n"
      "    import time; time.sleep(60)\n"
      "  os._exit(0)\n"
      "os.wait(); sys.exit(5)\n");
  EXPECT_EQ(outcome.report.code, 5);
  EXPECT_LT(watch.seconds(), 10);
}

TEST_P(Sandbox, ReportsTheEndOfTheProgramNotOfTheHelper) {
  EXPECT_EQ(Python("raise SystemExit(9)").report.code, 9);
  const ExitReport crashed = Python("import ctypes; ctypes.string_at(0)").report;
  EXPECT_TRUE(crashed.signal == SIGSEGV || crashed.code == 128 + SIGSEGV)
      << crashed.code << " " << crashed.signal;
}

TEST_P(Sandbox, SaysWhyWhenTheProgramIsNotThere) {
  ChildSpec spec;
  spec.argv = {"/nonexistent/python"};
  spec.env = {"PATH=/usr/bin:/bin"};
  SandboxPolicy policy;
  policy.private_folder = own_.path();
  Result<SandboxedChild> started = SpawnSandboxed(spec, policy, GetParam());
  ASSERT_TRUE(started.ok()) << started.error().message;
  EXPECT_TRUE(started->child->WaitUntil(Deadline::After(20)));
  EXPECT_EQ(started->child->report().code, 126);
  EXPECT_THAT(started->child->err(), HasSubstr("/nonexistent/python"));
}

INSTANTIATE_TEST_SUITE_P(Levels, Sandbox, testing::Values(SandboxLevel::kLandlock, SandboxLevel::kBubblewrap),
                         [](const testing::TestParamInfo<SandboxLevel>& level) {
                           return level.param == SandboxLevel::kLandlock ? "Landlock" : "Bubblewrap";
                         });

TEST(SyscallWatch, ForgetsWhatCameBeforeAndCountsARepeatedAttemptOnce) {
  if (DetectSandbox() == SandboxLevel::kNone) GTEST_SKIP() << "no sandbox works here";
  TempFolder own = *TempFolder::Make("hone-test-");
  ChildSpec spec;
  spec.argv = {"/usr/bin/python3", "-S", "-u", "-c",
               "import socket,time\n"
               "def knock():\n"
               "  try: socket.socket()\n"
               "  except OSError: pass\n"
               "knock(); knock(); print('first'); time.sleep(1); knock(); print('second')\n"
               "for i in range(40):\n"
               "  try: open('/nowhere%d' % i, 'w')\n"
               "  except OSError: pass\n"};
  spec.env = {"PATH=/usr/bin:/bin"};
  SandboxPolicy policy;
  policy.private_folder = own.path();
  Result<SandboxedChild> started = SpawnSandboxed(spec, policy, DetectSandbox());
  ASSERT_TRUE(started.ok()) << started.error().message;
  const Deadline deadline = Deadline::After(20);
  while (!deadline.passed() && started->child->out().empty()) usleep(2000);
  EXPECT_THAT(started->watch->attempts(), ElementsAre("opened a network socket"));
  started->watch->Forget();
  EXPECT_THAT(started->watch->attempts(), IsEmpty());
  ASSERT_TRUE(started->child->WaitUntil(Deadline::After(20)));
  EXPECT_THAT(started->watch->attempts(), testing::Contains("opened a network socket"));
  EXPECT_EQ(started->watch->attempts().size(), 16u) << "the list does not grow without end";
}

TEST(Describe, NamesEveryLevel) {
  EXPECT_EQ(Describe(SandboxLevel::kNone), "none");
  EXPECT_EQ(Describe(SandboxLevel::kLandlock), "landlock+seccomp");
  EXPECT_EQ(Describe(SandboxLevel::kBubblewrap), "bubblewrap");
}

}  // namespace
}  // namespace hone

// Tests what a candidate can access by trying it inside the sandbox. The test program is also its own sandbox
// helper, as the hone program is.
#include "process/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/text.h"
#include "process/landlock.h"
#include "process/limits.h"
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
           {"/proc/77/comm", true},
           {"/proc/77/mem", true},
           {"/proc/778/mem", false},
           {"/proc/1/mem", false},
           {"/proc/1/oom_score_adj", false},
           {"/proc/77/oom_score_adj", false},
           {"/proc/77/oom_adj", false},
           {"/proc/77/task/78/oom_score_adj", false},
           {"/proc/12/task/13/comm", true},
           {"/proc/12/task/13/mem", false},
           {"/proc/sys/kernel/core_pattern", false},
           {"/proc/driver/nvidia/params", true},
           {"/usr/lib/python3/__pycache__/x.cpython-311.pyc.140", true},
           {"/usr/lib/python3/x.pyc", true},
           {"/usr/lib/python3/x.py", false},
           {"/__pycache__", false},
       })
    EXPECT_EQ(HarmlessWrite(row.path, "/home/u/private", 77), row.harmless) << row.path;
}

// Runs `check` in its own process behind Landlock. The exit code is the result of `check`.
int BehindLandlock(const std::vector<LandlockRule>& rules, int (*check)(const std::string&),
                   const std::string& argument) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    _exit(RestrictSelf(MakeLandlockRules(rules)) ? check(argument) : 100);
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

// A folder outside /tmp, because writes to /tmp count as harmless.
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

// Whether the program starts in its sandbox or joins from outside by worker/hone_join.py.
enum class Way { kStarts, kComesIn };

// Number of the first descriptor that a joining process receives. The others follow.
constexpr int kFirstTicket = 30;

// Joins the sandbox that its arguments describe, and runs the script there.
constexpr char kNewcomer[] =
    "import json, os, sys\n"
    "sys.path.insert(0, sys.argv[1])\n"
    "import hone_join\n"
    "request, script = json.loads(sys.argv[2]), sys.argv[3]\n"
    "names = request['descriptors']\n"
    "if hone_join.place(request, list(range(30, 30 + len(names)))):\n"
    "  sys.argv = ['-c'] + sys.argv[4:]\n"
    "  os.close(3)\n"
    "  exec(compile(script, '-c', 'exec'), {'__name__': '__main__'})\n";

Result<SandboxedChild> ComeIn(const ChildSpec& spec, const SandboxPolicy& policy, SandboxLevel level) {
  ChildSpec outer = spec;
  outer.argv.clear();
  HONE_ASSIGN_OR_RETURN(EmptySandbox sandbox, MakeEmptySandbox(outer, policy, level));
  HONE_ASSIGN_OR_RETURN(Channel::Pair ticket, Channel::MakePair());
  HONE_ASSIGN_OR_RETURN(const Channel::Pair control, Channel::MakePair());
  std::vector<std::pair<std::string, int>> tickets = TicketsOf(sandbox);
  tickets.emplace_back("control", control.theirs.get());
  tickets.emplace_back("ticket", ticket.theirs.get());
  ChildSpec newcomer;
  Json names = Json::array();
  for (const auto& [name, descriptor] : tickets) {
    newcomer.descriptors.emplace_back(descriptor, kFirstTicket + static_cast<int>(names.size()));
    names.push_back(name);
  }
  const Json request = {{"descriptors", names},
                        {"nested", sandbox.nested},
                        {"environment", spec.env},
                        {"folder", policy.private_folder.string()},
                        {"filter", NewcomersFilter()},
                        {"seccomp", static_cast<int>(SYS_seccomp)},
                        {"limits", NewcomersLimits(policy, level)}};
  newcomer.argv = {
      "/usr/bin/python3", "-S",           "-c", kNewcomer, HONE_SOURCE_DIR "/worker", DumpJson(request),
      spec.argv.at(3),    spec.argv.at(4)};
  newcomer.env = {"PATH=/usr/bin:/bin", "SECRET=outside"};
  HONE_ASSIGN_OR_RETURN(const ExitReport placed, RunProgram(newcomer, Deadline::After(20)));
  EXPECT_EQ(placed.code, 0) << placed.err;
  ticket.theirs.Close();
  for (UniqueFd* sent : {&sandbox.told, &sandbox.out, &sandbox.err}) sent->Close();
  HONE_ASSIGN_OR_RETURN(UniqueFd listener, ticket.ours.ReceiveDescriptor(Deadline::After(20)));
  SandboxedChild inside;
  inside.child = std::move(sandbox.child);
  inside.watch = std::make_unique<SyscallWatch>(std::move(listener), policy.private_folder);
  return inside;
}

using LevelAndWay = std::pair<SandboxLevel, Way>;

// A sandbox level and a way into it. Skips if this machine does not have it.
class Sandbox : public testing::TestWithParam<LevelAndWay> {
 protected:
  void SetUp() override {
    if (level() == SandboxLevel::kBubblewrap && DetectSandbox() != SandboxLevel::kBubblewrap)
      GTEST_SKIP() << "bubblewrap does not work here";
    if (level() == SandboxLevel::kLandlock && LandlockAbi() < 1)
      GTEST_SKIP() << "this kernel has no Landlock";
    SandboxPolicy policy;
    policy.private_folder = own_.path();
    ChildSpec nobody;
    nobody.env = {"PATH=/usr/bin:/bin"};
    if (GetParam().second == Way::kComesIn && !MakeEmptySandbox(nobody, policy, level()).ok())
      GTEST_SKIP() << "nobody can come into a sandbox here";
  }

  static SandboxLevel level() { return GetParam().first; }

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
    policy.readable = readable_;
    policy.loopback = loopback;
    // A profiler's program never joins from outside.
    const bool comes_in = GetParam().second == Way::kComesIn && !loopback;
    Result<SandboxedChild> started =
        comes_in ? ComeIn(spec, policy, level()) : SpawnSandboxed(spec, policy, level());
    EXPECT_TRUE(started.ok()) << started.error().message;
    if (!started.ok()) return {};
    EXPECT_TRUE(started->child->WaitUntil(Deadline::After(20)));
    started->child->Kill();
    return {started->child->report(), started->watch->attempts()};
  }

  TempFolder own_ = *TempFolder::Make("hone-test-own-");
  TempFolder outside_ = MakeOutside();
  std::vector<fs::path> readable_;
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
      "for family, kind, address in ((socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', 9)),\n"
      "                              (socket.AF_INET6, socket.SOCK_STREAM, ('2001:db8::1', 80, 0, 0)),\n"
      "                              (socket.AF_INET, socket.SOCK_DGRAM, ('192.0.2.1', 53))):\n"
      "  with socket.socket(family, kind) as one:\n"
      "    try: one.connect(address); print('reached')\n"
      "    except OSError as error: print(error.errno)\n"
      "try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.2', 53)); print('sent')\n"
      "except OSError as error: print(error.errno)\n"
      "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))\n");
  EXPECT_EQ(outcome.report.out, "13\n13\n13\n13\nb'x'\n") << outcome.report.err;
  EXPECT_THAT(outcome.attempts, ElementsAre("connected to 127.0.0.1:9", "connected to 2001:db8::1:80",
                                            "connected to 192.0.2.1:53", "connected to 192.0.2.2:53"));
}

TEST_P(Sandbox, ASocketThatReachesNobodyIsNoEscape) {
  const Outcome outcome = Python(
      "import socket\n"
      "socket.socket(socket.AF_INET, socket.SOCK_STREAM); socket.socket(socket.AF_INET6, "
      "socket.SOCK_STREAM)\n"
      "for family, kind in ((socket.AF_PACKET, socket.SOCK_RAW), (40, socket.SOCK_STREAM), (38, "
      "socket.SOCK_SEQPACKET),\n"
      "                     (socket.AF_INET, socket.SOCK_RAW)):\n"
      "  try: socket.socket(family, kind); print('open')\n"
      "  except OSError: print('refused')\n");
  EXPECT_EQ(outcome.report.out, "refused\nrefused\nrefused\nrefused\n") << outcome.report.err;
  EXPECT_THAT(outcome.attempts, IsEmpty());
}

TEST_P(Sandbox, ItsLimitsAreLowerThanHonesAndStay) {
  const SandboxLimits& limits = LimitsOfSandboxes();
  const Outcome outcome = Python(
      "import resource\n"
      "for name in ('NOFILE', 'FSIZE', 'CORE', 'NPROC'):\n"
      "  number = getattr(resource, 'RLIMIT_' + name)\n"
      "  soft, hard = resource.getrlimit(number)\n"
      "  try: resource.setrlimit(number, (hard, hard + 1)); print('raised')\n"
      "  except (OSError, ValueError): print(name, soft, hard)\n");
  const std::vector<std::string> found = Lines(outcome.report.out);
  ASSERT_EQ(found.size(), 4u) << outcome.report.out << outcome.report.err;
  EXPECT_EQ(found[0], fmt::format("NOFILE {0} {0}", limits.descriptors));
  EXPECT_EQ(found[1], fmt::format("FSIZE {0} {0}", limits.file_bytes));
  EXPECT_EQ(found[2], "CORE 0 0");
  if (level() == SandboxLevel::kBubblewrap) {  // there the kernel counts the threads of this sandbox alone
    EXPECT_EQ(found[3], fmt::format("NPROC {0} {0}", limits.threads));
  }
}

TEST_P(Sandbox, IsEndedBeforeOthersWhenMemoryRunsOut) {
  const Outcome outcome = Python(
      "print(open('/proc/self/oom_score_adj').read(), end='')\n"
      "for name in ('oom_score_adj', 'oom_adj'):\n"
      "  try: open('/proc/self/' + name, 'w').write('0'); print('lowered')\n"
      "  except OSError: print('refused')\n");
  EXPECT_EQ(outcome.report.out, "1000\nrefused\nrefused\n") << outcome.report.err;
}

TEST_P(Sandbox, FileSystemsInMemoryAreLimited) {
  const Outcome outcome = Python(
      "import os\n"
      "for place in ('/tmp', '/var/tmp', '/dev/shm', '/dev', '/', '/run'):\n"
      "  try: open(place + '/x', 'w').write('x')\n"
      "  except OSError: continue\n"
      "  found = os.statvfs(place)\n"
      "  print(place, found.f_blocks * found.f_frsize)\n");
  for (const std::string& line : Lines(outcome.report.out))
    EXPECT_LE(std::atoll(line.substr(line.find(' ') + 1).c_str()), LimitsOfSandboxes().tmpfs_bytes) << line;
  EXPECT_THAT(outcome.report.out, testing::Not(HasSubstr("/dev ")));
  EXPECT_THAT(outcome.report.out, testing::Not(HasSubstr("/ ")));
  if (level() == SandboxLevel::kBubblewrap || geteuid() == 0) {
    EXPECT_THAT(outcome.report.out, HasSubstr("/tmp "));
    EXPECT_THAT(outcome.report.out, HasSubstr("/dev/shm "));
  }
}

TEST_P(Sandbox, MemoryHasAnOwnerThatTheParentSees) {
  const Outcome outcome = Python(
      "import ctypes, os\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "print(libc.shmget(0, 4096, 0o1600), os.strerror(ctypes.get_errno()))\n"
      "print(libc.msgget(0, 0o1600), os.strerror(ctypes.get_errno()))\n"
      "print(libc.unshare(0x400), os.strerror(ctypes.get_errno()))\n"
      "import threading\n"
      "one = threading.Thread(target=print, args=('a thread',)); one.start(); one.join()\n"
      "print(os.waitpid(os.fork() or os._exit(0), 0)[1])\n");
  EXPECT_EQ(
      outcome.report.out,
      "-1 Function not implemented\n-1 Function not implemented\n-1 Operation not permitted\na thread\n0\n")
      << outcome.report.err;
}

TEST_P(Sandbox, SocketsInTheFileSystemReachItsOwnProcessesOnly) {
  // A listener outside the sandbox, in a folder that the sandbox may read.
  const std::string path = outside_.path().string() + "/listener";
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  readable_ = {outside_.path()};
  const Outcome outcome = Python(
      "import os, socket, sys\n"
      "os.symlink(sys.argv[1] + '/listener', 'link')\n"
      "for path in (sys.argv[1] + '/listener', 'link', '/proc/self/cwd/link', '\\0abstract'):\n"
      "  try: socket.socket(socket.AF_UNIX).connect(path); print('reached')\n"
      "  except OSError: print('refused')\n"
      "try: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); print('open')\n"
      "except OSError: print('refused')\n"
      "server = socket.socket(socket.AF_UNIX); server.bind('own'); server.listen(1)\n"
      "client = socket.socket(socket.AF_UNIX); client.connect('own'); client.send(b'x')\n"
      "print(server.accept()[0].recv(1))\n");
  close(listener);
  EXPECT_EQ(outcome.report.out, "refused\nrefused\nrefused\nrefused\nrefused\nb'x'\n") << outcome.report.err;
  EXPECT_THAT(outcome.attempts, ElementsAre("connected to the socket " + path));
}

TEST_P(Sandbox, MayGiveALoopbackThatReachesNothingElse) {
  if (level() == SandboxLevel::kLandlock && geteuid() != 0)
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

TEST_P(Sandbox, ALinkIsFollowedBeforeTheFileIsJudged) {
  const Outcome outcome = Python(
      "import os, sys\n"
      "os.symlink(sys.argv[1], 'link')\n"
      "folder = os.open('/usr', os.O_RDONLY)\n"
      "for path in ('link/x', '/proc/self/root/etc/hone-test', "
      "'/proc/thread-self/root/usr/y',\n"
      "             '/proc/self/fd/%d/z' % folder):\n"
      "  try: open(path, 'w'); print('wrote')\n"
      "  except OSError: print('refused')\n"
      "open('/proc/self/cwd/own', 'w').write('1'); print(open('own').read())\n");
  EXPECT_EQ(outcome.report.out, "refused\nrefused\nrefused\nrefused\n1\n") << outcome.report.err;
  for (const std::string& name : {outside_.path().string() + "/x", std::string("/etc/hone-test"),
                                  std::string("/usr/y"), std::string("/usr/z")})
    EXPECT_THAT(outcome.attempts, testing::Contains("opened " + name + " for writing"));
}

TEST_P(Sandbox, ModesTimesAndAttributesOutsideStayAsTheyAre) {
  const fs::path file = outside_.path() / "kept";
  ASSERT_TRUE(WriteFileAtomic(file, "x").ok());
  struct stat before {};
  ASSERT_EQ(stat(file.c_str(), &before), 0);
  readable_ = {outside_.path()};
  const Outcome outcome = Python(
      "import ctypes, os, sys\n"
      "path = sys.argv[1] + '/kept'\n"
      "number = os.open(path, os.O_RDONLY)\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "def raw(*call):\n"
      "  if libc.syscall(*call) != 0: raise OSError()\n"
      "tries = [lambda: os.chmod(path, 0o777), lambda: os.fchmod(number, 0o777), lambda: os.utime(path, (1, "
      "1)),\n"
      "         lambda: os.utime(number, (1, 1)), lambda: os.setxattr(path, 'user.x', b'1'),\n"
      "         lambda: os.chown(path, 1, 1), lambda: os.truncate(path, 0),\n"
      "         lambda: raw(452, -100, path.encode(), 0o777, 0)]\n"
      "for one in tries:\n"
      "  try: one(); print('done')\n"
      "  except OSError: print('refused')\n"
      "open('own', 'w').close(); os.chmod('own', 0o700); os.utime('own', (1, 1)); "
      "print(os.stat('own').st_mtime)\n");
  EXPECT_EQ(outcome.report.out,
            "refused\nrefused\nrefused\nrefused\nrefused\nrefused\nrefused\nrefused\n1.0\n")
      << outcome.report.err;
  EXPECT_THAT(outcome.attempts, testing::Contains("changed the mode of " + file.string()));
  EXPECT_THAT(outcome.attempts, testing::Contains("changed the times of " + file.string()));
  struct stat after {};
  ASSERT_EQ(stat(file.c_str(), &after), 0);
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_size, before.st_size);
  EXPECT_EQ(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
}

TEST_P(Sandbox, LeavesNothingInSharedPlaces) {
  const std::string name = "hone-test-" + std::to_string(getpid());
  const Outcome outcome = Python(
      "import os\n"
      "for place in ('/tmp', '/var/tmp', '/dev/shm'):\n"
      "  try: open(place + '/" +
      name +
      "', 'w').write('left')\n"
      "  except OSError: pass\n"
      "print(len(os.listdir('/tmp')) < 3)\n");
  EXPECT_EQ(outcome.report.out, "True\n") << outcome.report.err;
  for (const char* place : {"/tmp/", "/var/tmp/", "/dev/shm/"})
    EXPECT_FALSE(fs::exists(place + name)) << place;
}

TEST_P(Sandbox, ReadsOfEtcOnlyWhatProgramsNeed) {
  const Outcome outcome = Python(
      "import os\n"
      "for path in ('/etc/passwd', '/etc/shadow', '/etc/sudoers', '/etc/gshadow', '/etc/ssh/sshd_config'):\n"
      "  try: open(path).read(1); print('read')\n"
      "  except OSError: print('refused')\n");
  EXPECT_EQ(outcome.report.out, "read\nrefused\nrefused\nrefused\nrefused\n") << outcome.report.err;
}

TEST_P(Sandbox, HasNoTerminalNoForeignDescriptorsAndNoCapabilities) {
  // A descriptor that Hone inherited without close-on-exec.
  const int left = open("/etc/passwd", O_RDONLY);
  const int high = fcntl(left, F_DUPFD, 200);
  const Outcome outcome = Python(
      "import ctypes, fcntl, os, termios\n"
      "print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4])\n"
      "try: os.open('/dev/tty', os.O_RDWR); print('terminal')\n"
      "except OSError: print('none')\n"
      "print(os.getsid(0) in (os.getpid(), os.getppid(), 0, 1))\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "for request in (termios.TIOCSTI, 0x541C, termios.TIOCSTI | 1 << 32):\n"
      "  print(libc.ioctl(0, ctypes.c_ulong(request), b'x'), ctypes.get_errno())\n"
      "print({line.split()[1] for line in open('/proc/self/status') if line.startswith('Cap')})\n");
  close(left);
  close(high);
  EXPECT_EQ(outcome.report.out, "[0, 1, 2, 3]\nnone\nTrue\n-1 1\n-1 1\n-1 1\n{'0000000000000000'}\n")
      << outcome.report.err;
}

TEST_P(Sandbox, MakesNoNamespacesInside) {
  const Outcome outcome = Python(
      "import ctypes, os\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000):\n"
      "  print(libc.unshare(flag), ctypes.get_errno())\n"
      "print(libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0) if os.uname().machine == 'x86_64' else -1, "
      "ctypes.get_errno())\n"
      "print(libc.syscall(435, 0, 0), ctypes.get_errno())\n");
  EXPECT_EQ(outcome.report.out, "-1 1\n-1 1\n-1 1\n-1 1\n-1 1\n-1 38\n") << outcome.report.err;
}

TEST_P(Sandbox, TheFirstProcessIsUnderTheFilterToo) {
  const Outcome outcome = Python(
      "import os\n"
      "status = dict(line.split(':', 1) for line in open('/proc/1/status'))\n"
      "print(os.getpid() != 1, status['Seccomp'].strip(), status['NoNewPrivs'].strip())\n"
      "try: open('/proc/1/mem', 'r+b'); print('opened')\n"
      "except OSError: print('refused')\n");
  if (level() == SandboxLevel::kLandlock && geteuid() != 0)
    GTEST_SKIP() << "only root has namespaces at this level";
  EXPECT_EQ(outcome.report.out, "True 2 1\nrefused\n") << outcome.report.err;
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
  EXPECT_LT(watch.seconds(), 30);
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
  Result<SandboxedChild> started = SpawnSandboxed(spec, policy, level());
  ASSERT_TRUE(started.ok()) << started.error().message;
  EXPECT_TRUE(started->child->WaitUntil(Deadline::After(20)));
  EXPECT_EQ(started->child->report().code, 126);
  EXPECT_THAT(started->child->err(), HasSubstr("/nonexistent/python"));
}

TEST_P(Sandbox, KeepsNothingFromOutside) {
  const Outcome outcome = Python(
      "import os\n"
      "print(sorted(int(one) for one in os.listdir('/proc/self/fd'))[:-1])\n"  // the last one reads the list
      "status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
      "print(*(status[name].strip() for name in ('CapEff', 'CapPrm', 'CapBnd', 'NoNewPrivs', 'Seccomp')))\n"
      "print(set(os.environ) - {'HOME', 'PATH', 'LC_CTYPE', 'PWD'}, os.getcwd() == os.environ['HOME'], "
      "os.getppid())\n"
      "try: open('/proc/1/mem'); print('reads the first process')\n"
      "except OSError: print('refused')\n"
      "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))\n");
  ASSERT_EQ(outcome.report.code, 0) << outcome.report.err;
  const bool private_processes = level() == SandboxLevel::kBubblewrap || geteuid() == 0;
  const std::vector<std::string> lines = Lines(outcome.report.out);
  EXPECT_EQ(lines[0], "[0, 1, 2]");
  // Without root the process never had these capabilities and cannot drop them.
  const std::string bounds = private_processes ? "0000000000000000" : "[0-9a-f]+";
  EXPECT_THAT(lines[1], testing::MatchesRegex("0000000000000000 0000000000000000 " + bounds + " 1 2"));
  EXPECT_THAT(lines[2], testing::StartsWith("set() True ")) << "the environment or the folder";
  if (private_processes) {
    EXPECT_THAT(lines[2], testing::EndsWith(" 1"));
  }
  EXPECT_EQ(lines[3], "refused");
  EXPECT_EQ(lines[4], "(0, 0)");
}

TEST_P(Sandbox, ASecondOneDoesNotSeeTheFirst) {
  if (level() == SandboxLevel::kLandlock && geteuid() != 0) GTEST_SKIP() << "no places of its own here";
  const Outcome first = Python("open('/tmp/left', 'w').write('x'); open('/dev/shm/left', 'w').write('x')");
  EXPECT_EQ(first.report.code, 0) << first.report.err;
  const Outcome second =
      Python("import os; print(os.path.exists('/tmp/left'), os.path.exists('/dev/shm/left'))");
  EXPECT_EQ(second.report.out, "False False\n") << second.report.err;
}

INSTANTIATE_TEST_SUITE_P(Levels, Sandbox,
                         testing::Values(LevelAndWay{SandboxLevel::kLandlock, Way::kStarts},
                                         LevelAndWay{SandboxLevel::kLandlock, Way::kComesIn},
                                         LevelAndWay{SandboxLevel::kBubblewrap, Way::kStarts},
                                         LevelAndWay{SandboxLevel::kBubblewrap, Way::kComesIn}),
                         [](const testing::TestParamInfo<LevelAndWay>& row) {
                           const std::string level =
                               row.param.first == SandboxLevel::kLandlock ? "Landlock" : "Bubblewrap";
                           return level + (row.param.second == Way::kStarts ? "" : "FromOutside");
                         });

TEST(EmptySandbox, EndsWithoutANewcomer) {
  if (DetectSandbox() == SandboxLevel::kNone) GTEST_SKIP() << "no sandbox works here";
  TempFolder own = *TempFolder::Make("hone-test-");
  ChildSpec spec;
  spec.env = {"PATH=/usr/bin:/bin"};
  SandboxPolicy policy;
  policy.private_folder = own.path();
  Result<EmptySandbox> sandbox = MakeEmptySandbox(spec, policy, DetectSandbox());
  if (!sandbox.ok()) GTEST_SKIP() << sandbox.error().message;
  EXPECT_TRUE(sandbox->child->running());
  sandbox->told.Close();
  ASSERT_TRUE(sandbox->child->WaitUntil(Deadline::After(20)));
  EXPECT_EQ(sandbox->child->report().code, 126);
}

TEST(EmptySandbox, IsNotThereAtLevelNone) {
  const Result<EmptySandbox> none = MakeEmptySandbox({}, {}, SandboxLevel::kNone);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kUnavailable);
}

TEST(SyscallWatch, ForgetsWhatCameBeforeAndCountsARepeatedAttemptOnce) {
  if (DetectSandbox() == SandboxLevel::kNone) GTEST_SKIP() << "no sandbox works here";
  TempFolder own = *TempFolder::Make("hone-test-");
  ChildSpec spec;
  spec.argv = {"/usr/bin/python3", "-S", "-u", "-c",
               "import os,socket,time\n"
               "def knock():\n"
               "  try: socket.socket().connect(('127.0.0.1', 9))\n"
               "  except OSError: pass\n"
               "knock(); knock(); print('first')\n"
               "while not os.path.exists('" +
                   (own.path() / "go_on").string() +
                   "'): time.sleep(0.01)\n"
                   "knock(); print('second')\n"
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
  EXPECT_THAT(started->watch->attempts(), ElementsAre("connected to 127.0.0.1:9"));
  started->watch->Forget();
  EXPECT_THAT(started->watch->attempts(), IsEmpty());
  ASSERT_TRUE(WriteFileAtomic(own.path() / "go_on", "").ok());
  ASSERT_TRUE(started->child->WaitUntil(Deadline::After(20)));
  EXPECT_THAT(started->watch->attempts(), testing::Contains("connected to 127.0.0.1:9"));
  EXPECT_EQ(started->watch->attempts().size(), 16u) << "the list does not grow without end";
}

TEST(Describe, NamesEveryLevel) {
  EXPECT_EQ(Describe(SandboxLevel::kNone), "none");
  EXPECT_EQ(Describe(SandboxLevel::kLandlock), "landlock+seccomp");
  EXPECT_EQ(Describe(SandboxLevel::kBubblewrap), "bubblewrap");
}

}  // namespace
}  // namespace hone

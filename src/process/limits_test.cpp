#include "process/limits.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "base/text.h"
#include "base/unique_fd.h"
#include "process/channel.h"

namespace hone {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

// The exit code of `act` in a process of its own.
int InOwnProcess(const std::function<int()>& act) {
  const pid_t child = fork();
  if (child == 0) _exit(act());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(SandboxLimits, LeaveHoneMoreThanACandidateHas) {
  struct Row {
    const char* what;
    MachineLimits machine;
    SandboxLimits wanted;
  };
  for (const Row& row : std::vector<Row>{
           {"a usual machine", {64 * kGiB, 16384, 500'000, 64}, {4096, 4096, 32 * kGiB, 2 * kGiB}},
           {"many cores", {2048 * kGiB, 1'000'000, 4'000'000, 256}, {4096, 8192, 1024 * kGiB, 2 * kGiB}},
           {"few descriptors", {64 * kGiB, 1024, 500'000, 4}, {256, 4096, 32 * kGiB, 2 * kGiB}},
           {"a container with few threads", {8 * kGiB, 16384, 2000, 4}, {4096, 500, 4 * kGiB, kGiB}},
       }) {
    const SandboxLimits found = LimitsFor(row.machine);
    EXPECT_EQ(found.descriptors, row.wanted.descriptors) << row.what;
    EXPECT_EQ(found.threads, row.wanted.threads) << row.what;
    EXPECT_EQ(found.file_bytes, row.wanted.file_bytes) << row.what;
    EXPECT_EQ(found.tmpfs_bytes, row.wanted.tmpfs_bytes) << row.what;
  }
}

TEST(SandboxLimits, AreReadFromThisMachine) {
  const MachineLimits machine = ReadMachineLimits();
  EXPECT_GT(machine.memory_bytes, kGiB / 4);
  EXPECT_GT(machine.threads, 0);
  EXPECT_LE(machine.threads, 10'000'000) << "the kernel's own limits are known";
}

TEST(LimitWords, LowerAndNeverRaise) {
  const auto with = [](const std::vector<std::string>& words, int resource, rlim_t soft, rlim_t hard) {
    return InOwnProcess([&] {
      if (!ApplyLimitWords(words)) return 1;
      rlimit limit{};
      getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
      return limit.rlim_cur == soft && limit.rlim_max == hard ? 0 : 2;
    });
  };
  rlimit own{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &own), 0);
  EXPECT_EQ(with({"NOFILE=200"}, RLIMIT_NOFILE, 200, 200), 0);
  EXPECT_EQ(with({"NOFILE=999999999"}, RLIMIT_NOFILE, own.rlim_cur, own.rlim_max), 0);
  EXPECT_EQ(with({"FSIZE=7000000000", "CORE=0"}, RLIMIT_FSIZE, 7'000'000'000, 7'000'000'000), 0);
  for (const char* word : {"NOFILE", "NOFILE=-1", "STACK=1", "=5"})
    EXPECT_EQ(InOwnProcess([&] { return ApplyLimitWords({word}) ? 0 : 1; }), 1) << word;
}

// Puts descriptors into sockets that nobody reads, until the kernel refuses. Returns how many.
int QueueDescriptors(std::vector<UniqueFd>* sockets) {
  std::vector<int> many(200, STDIN_FILENO);
  std::vector<char> control(CMSG_SPACE(many.size() * sizeof(int)));
  int queued = 0;
  while (true) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) return -1;
    sockets->emplace_back(ends[0]);
    sockets->emplace_back(ends[1]);
    char byte = 'x';
    iovec part{&byte, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* attached = CMSG_FIRSTHDR(&message);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(many.size() * sizeof(int));
    std::copy(many.begin(), many.end(), reinterpret_cast<int*>(CMSG_DATA(attached)));
    if (sendmsg(ends[0], &message, MSG_NOSIGNAL) < 0) return errno == ETOOMANYREFS ? queued : -1;
    queued += static_cast<int>(many.size());
    if (queued > 100'000) return -1;
  }
}

enum Sent { kSent = 0, kRefused = 1, kOtherwise = 2 };

// As a user without privileges, because the kernel exempts root: while another process of the user has queued
// all the descriptors that it may, this one sends a descriptor as Hone does.
int SendBesideAQueue(bool limited) {
  if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return kOtherwise;
  const rlimit usual{1024, 4096};
  if (setrlimit(RLIMIT_NOFILE, &usual) != 0) return kOtherwise;
  RaiseOwnLimits();
  const std::vector<std::string> words = LimitWords(LimitsFor(ReadMachineLimits()), false, 0);
  int ready[2], done[2];
  if (pipe(ready) != 0 || pipe(done) != 0) return kOtherwise;
  const pid_t hostile = fork();
  if (hostile == 0) {
    close(done[1]);
    if (limited && !ApplyLimitWords(words)) _exit(1);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    std::vector<UniqueFd> sockets;
    const int queued = QueueDescriptors(&sockets);
    if (write(ready[1], &queued, sizeof queued) != sizeof queued) _exit(1);
    char byte;
    _exit(static_cast<int>(read(done[0], &byte, 1)));
  }
  int queued = 0;
  if (read(ready[0], &queued, sizeof queued) != sizeof queued || queued < 250) return kOtherwise;
  Result<Channel::Pair> pair = Channel::MakePair();
  if (!pair.ok()) return kOtherwise;
  const Result<int64_t> sent = pair->ours.Send(Json{{"verb", "put"}}, {STDIN_FILENO});
  close(done[1]);
  waitpid(hostile, nullptr, 0);
  if (sent.ok()) return kSent;
  return sent.error().kind == ErrorKind::kUnavailable &&
                 Contains(sent.error().message, "too many on their way")
             ? kRefused
             : kOtherwise;
}

TEST(DescriptorsOnTheirWay, OfALimitedProcessDoNotKeepHoneFromSendingOne) {
  EXPECT_EQ(InOwnProcess([] { return SendBesideAQueue(true); }), kSent);
}

TEST(DescriptorsOnTheirWay, OfAnUnlimitedProcessAreNotTakenForAWorkersEnd) {
  EXPECT_EQ(InOwnProcess([] { return SendBesideAQueue(false); }), kRefused);
}

}  // namespace
}  // namespace hone

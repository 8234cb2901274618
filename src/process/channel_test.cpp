// The peer is a candidate's process. It may send any data, half a message, or nothing.
#include "process/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/files.h"

namespace hone {
namespace {

std::string Frame(const std::string& body, uint64_t size, uint32_t descriptors = 0,
                  const std::string& magic = "HNE1") {
  std::string frame = magic;
  frame.append(reinterpret_cast<const char*>(&descriptors), 4);
  frame.append(reinterpret_cast<const char*>(&size), 8);
  return frame + body;
}

std::string Frame(const std::string& body) {
  return Frame(body, body.size());
}

void Say(int fd, const std::string& bytes) {
  ASSERT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

ptrdiff_t OpenDescriptors() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

TEST(Channel, CarriesMessagesBothWaysInOrder) {
  Channel::Pair pair = *Channel::MakePair();
  Channel theirs(std::move(pair.theirs));
  ASSERT_TRUE(pair.ours.Send({{"verb", "run"}, {"n", 1}}).ok());
  ASSERT_TRUE(pair.ours.Send({{"text", "h\xC3\xB6ne\n\x01"}}).ok());
  EXPECT_EQ(theirs.Receive(Deadline::After(5))->body, (Json{{"verb", "run"}, {"n", 1}}));
  EXPECT_EQ(theirs.Receive(Deadline::After(5))->body, (Json{{"text", "h\xC3\xB6ne\n\x01"}}));
  ASSERT_TRUE(theirs.Send(Json::object()).ok());
  EXPECT_EQ(pair.ours.Receive(Deadline::After(5))->body, Json::object());
}

TEST(Channel, CarriesAMessageLargerThanAnySocketBuffer) {
  Channel::Pair pair = *Channel::MakePair();
  Channel theirs(std::move(pair.theirs));
  const Json large = {{"text", std::string(20 << 20, 'x')}};
  std::thread sender([&] { EXPECT_TRUE(pair.ours.Send(large).ok()); });
  const Result<Message> received = theirs.Receive(Deadline::After(30));
  sender.join();
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(received->body, large);
}

TEST(Channel, NonsenseIsRefusedAndAPeerThatLeavesIsGone) {
  struct Row {
    const char* what;
    std::string bytes;
    ErrorKind kind;
  };
  const std::string object = R"({"ok":true})";
  for (const Row& row : std::vector<Row>{
           {"another protocol", "GET / HTTP/1.1\r\n\r\n", ErrorKind::kInvalid},
           {"zeros", std::string(64, '\0'), ErrorKind::kInvalid},
           {"another magic", Frame(object, object.size(), 0, "HNE2"), ErrorKind::kInvalid},
           {"a size beyond all memory", Frame(object, UINT64_MAX), ErrorKind::kInvalid},
           {"a size just over the limit", Frame(object, (64u << 20) + 1), ErrorKind::kInvalid},
           {"descriptors announced", Frame(object, object.size(), 1), ErrorKind::kInvalid},
           {"no body", Frame(""), ErrorKind::kInvalid},
           {"a body that is not JSON", Frame("PASS"), ErrorKind::kInvalid},
           {"a pickle", Frame("\x80\x04\x95\x05"), ErrorKind::kInvalid},
           {"half an object", Frame(R"({"ok":)"), ErrorKind::kInvalid},
           {"two objects", Frame("{}{}"), ErrorKind::kInvalid},
           {"a list", Frame("[1]"), ErrorKind::kInvalid},
           {"a number", Frame("1"), ErrorKind::kInvalid},
           {"null", Frame("null"), ErrorKind::kInvalid},
           {"text that is not UTF-8", Frame("{\"a\":\"\xff\"}"), ErrorKind::kInvalid},
           {"nothing", "", ErrorKind::kNotFound},
           {"half a header", Frame(object).substr(0, 7), ErrorKind::kNotFound},
           {"a header alone", Frame(object).substr(0, 16), ErrorKind::kNotFound},
           {"half a body", Frame(object).substr(0, 20), ErrorKind::kNotFound},
       }) {
    Channel::Pair pair = *Channel::MakePair();
    Say(pair.theirs.get(), row.bytes);
    pair.theirs.Close();
    const Result<Message> received = pair.ours.Receive(Deadline::After(5));
    ASSERT_FALSE(received.ok()) << row.what;
    EXPECT_EQ(received.error().kind, row.kind) << row.what << ": " << received.error().message;
  }
}

TEST(Channel, ASilentPeerMeetsTheDeadline) {
  Channel::Pair pair = *Channel::MakePair();
  const Stopwatch watch;
  const Result<Message> received = pair.ours.Receive(Deadline::After(0.2));
  EXPECT_EQ(received.error().kind, ErrorKind::kTimeout);
  EXPECT_GE(watch.seconds(), 0.2);
  EXPECT_LT(watch.seconds(), 20);
}

TEST(Channel, HalfAFrameMeetsTheDeadlineToo) {
  for (const size_t sent : {1u, 15u, 16u, 20u}) {
    Channel::Pair pair = *Channel::MakePair();
    Say(pair.theirs.get(), Frame(R"({"ok":true})").substr(0, sent));
    EXPECT_EQ(pair.ours.Receive(Deadline::After(0.05)).error().kind, ErrorKind::kTimeout) << sent;
  }
}

TEST(Channel, APeerThatDripsDoesNotPushTheDeadlineAhead) {
  Channel::Pair pair = *Channel::MakePair();
  std::atomic<bool> stop{false};
  std::thread dripping([&] {
    const std::string frame = Frame(std::string(4000, ' '), 4000);
    for (size_t i = 0; i < frame.size() && !stop; ++i) {
      (void)!send(pair.theirs.get(), frame.data() + i, 1, MSG_NOSIGNAL);
      usleep(10'000);
    }
  });
  const Stopwatch watch;
  const Result<Message> received = pair.ours.Receive(Deadline::After(0.4));
  const double seconds = watch.seconds();
  stop = true;
  dripping.join();
  EXPECT_EQ(received.error().kind, ErrorKind::kTimeout);
  EXPECT_LT(seconds, 20);
}

TEST(Channel, ASlowHonestPeerIsReadToTheEnd) {
  Channel::Pair pair = *Channel::MakePair();
  const std::string frame = Frame(R"({"ok":true})");
  std::thread slow([&] {
    for (const char byte : frame) {
      Say(pair.theirs.get(), std::string(1, byte));
      usleep(2000);
    }
  });
  const Result<Message> received = pair.ours.Receive(Deadline::After(20));
  slow.join();
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(received->body, (Json{{"ok", true}}));
}

TEST(Channel, TheClockIsReadWhenTheHeaderArrivesNotWhenTheBodyIsThere) {
  Channel::Pair pair = *Channel::MakePair();
  const std::string frame = Frame(R"({"ok":true})");
  const int64_t begin = NowNs();
  std::thread late([&] {
    Say(pair.theirs.get(), frame.substr(0, 16));
    usleep(300'000);
    Say(pair.theirs.get(), frame.substr(16));
  });
  const Result<Message> received = pair.ours.Receive(Deadline::After(20));
  late.join();
  ASSERT_TRUE(received.ok());
  EXPECT_GE(received->received_ns, begin);
  EXPECT_GT(NowNs() - received->received_ns, 250'000'000);
}

TEST(Channel, SendingToAPeerThatLeftIsAnErrorAndNoSignal) {
  Channel::Pair pair = *Channel::MakePair();
  pair.theirs.Close();
  EXPECT_EQ(pair.ours.Send({{"a", 1}}).error().kind, ErrorKind::kNotFound);
}

TEST(Channel, DescriptorsArriveWithTheirMessage) {
  Channel::Pair pair = *Channel::MakePair();
  UniqueFd memory(memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(pwrite(memory.get(), "content", 7, 0), 7);
  ASSERT_TRUE(pair.ours.Send({{"verb", "put"}}, {memory.get(), memory.get()}).ok());
  char bytes[256];
  iovec part{bytes, sizeof bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(pair.theirs.get(), &message, 0);
  ASSERT_GT(got, 16);
  uint32_t announced = 0;
  std::memcpy(&announced, bytes + 4, 4);
  EXPECT_EQ(announced, 2u);
  EXPECT_EQ(std::string(bytes + 16, static_cast<size_t>(got) - 16), R"({"verb":"put"})");
  const cmsghdr* attached = CMSG_FIRSTHDR(&message);
  ASSERT_NE(attached, nullptr);
  ASSERT_EQ(attached->cmsg_len, CMSG_LEN(2 * sizeof(int)));
  int arrived[2];
  std::memcpy(arrived, CMSG_DATA(attached), sizeof arrived);
  for (const int fd : arrived) {
    char content[8] = {};
    EXPECT_EQ(pread(fd, content, 7, 0), 7);
    EXPECT_STREQ(content, "content");
    close(fd);
  }
}

TEST(Channel, RefusesMoreDescriptorsThanAFrameHolds) {
  Channel::Pair pair = *Channel::MakePair();
  EXPECT_TRUE(pair.ours.Send(Json::object(), std::vector<int>(8, pair.theirs.get())).ok());
  EXPECT_FALSE(pair.ours.Send(Json::object(), std::vector<int>(9, pair.theirs.get())).ok());
}

TEST(Channel, DescriptorsThatAPeerSlipsInAreDropped) {
  Channel::Pair pair = *Channel::MakePair();
  const ptrdiff_t before = OpenDescriptors();
  ASSERT_TRUE(SendDescriptor(pair.theirs.get(), pair.theirs.get()));
  Say(pair.theirs.get(), std::string(15, 'x'));
  EXPECT_EQ(pair.ours.Receive(Deadline::After(5)).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST(ReceiveDescriptor, BringsADescriptorThatDoesNotSurviveExec) {
  Channel::Pair pair = *Channel::MakePair();
  UniqueFd memory(memfd_create("test", 0));
  ASSERT_EQ(pwrite(memory.get(), "here", 4, 0), 4);
  ASSERT_TRUE(SendDescriptor(pair.theirs.get(), memory.get()));
  const Result<UniqueFd> arrived = pair.ours.ReceiveDescriptor(Deadline::After(5));
  ASSERT_TRUE(arrived.ok());
  char content[5] = {};
  EXPECT_EQ(pread(arrived->get(), content, 4, 0), 4);
  EXPECT_STREQ(content, "here");
  EXPECT_NE(fcntl(arrived->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(ReceiveDescriptor, SaysSoWhenNoneCame) {
  Channel::Pair bare = *Channel::MakePair();
  Say(bare.theirs.get(), "d");
  EXPECT_EQ(bare.ours.ReceiveDescriptor(Deadline::After(5)).error().kind, ErrorKind::kInvalid);
  Channel::Pair left = *Channel::MakePair();
  left.theirs.Close();
  EXPECT_FALSE(left.ours.ReceiveDescriptor(Deadline::After(5)).ok());
  Channel::Pair silent = *Channel::MakePair();
  EXPECT_EQ(silent.ours.ReceiveDescriptor(Deadline::After(0.05)).error().kind, ErrorKind::kTimeout);
}

TEST(SendDescriptor, FailsWithoutASignalWhenNobodyListens) {
  Channel::Pair pair = *Channel::MakePair();
  pair.ours.Close();
  EXPECT_FALSE(SendDescriptor(pair.theirs.get(), pair.theirs.get()));
}

}  // namespace
}  // namespace hone

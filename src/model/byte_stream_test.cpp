// Tests with sockets of this process, so that the other side acts before the stream reads.
#include "model/byte_stream.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace hone {
namespace {

class ByteStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(listener_, 1), 0);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    ASSERT_TRUE(stream_.Connect("127.0.0.1", port_, Deadline::After(20)).ok());
    peer_ = accept(listener_, nullptr, nullptr);
    ASSERT_GE(peer_, 0);
  }
  void TearDown() override {
    if (peer_ >= 0) close(peer_);
    close(listener_);
  }

  void Say(std::string_view text) const {
    ASSERT_EQ(send(peer_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  void Reset() {
    const linger at_once{1, 0};
    setsockopt(peer_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(std::exchange(peer_, -1));
  }
  std::string Hear(Deadline deadline) {
    std::array<char, 64> buffer;
    last_ = stream_.Read(buffer.data(), buffer.size(), deadline);
    return {buffer.data(), last_.bytes};
  }

  ByteStream stream_;
  StreamResult last_;
  int listener_ = -1;
  int peer_ = -1;
  int port_ = 0;
};

TEST_F(ByteStreamTest, HandsOutWhatArrivedBeforeAReset) {
  Say("last words");
  Reset();
  EXPECT_EQ(Hear(Deadline::After(20)), "last words");
  EXPECT_EQ(Hear(Deadline::After(20)), "");
  EXPECT_EQ(last_.status, StreamStatus::kReset);
}

TEST_F(ByteStreamTest, HandsOutWhatArrivedThoughTheDeadlineHasPassed) {
  Say("came in time");
  EXPECT_EQ(Hear(Deadline::After(-1)), "came in time");
  EXPECT_TRUE(stream_.open());
  EXPECT_EQ(Hear(Deadline::After(-1)), "");
  EXPECT_EQ(last_.status, StreamStatus::kLate);
  EXPECT_FALSE(stream_.open());
  Hear(Deadline::After(20));
  EXPECT_EQ(last_.status, StreamStatus::kReset) << "nothing is read from a connection that was given up";
}

TEST_F(ByteStreamTest, TellsAnEndFromAReset) {
  Say("all");
  close(std::exchange(peer_, -1));
  EXPECT_EQ(Hear(Deadline::After(20)), "all");
  Hear(Deadline::After(20));
  EXPECT_EQ(last_.status, StreamStatus::kClosed);
}

TEST_F(ByteStreamTest, StopsWritingAtTheDeadlineWhenNobodyReads) {
  const std::string much(64 << 20, 'x');
  EXPECT_EQ(stream_.WriteAll(much, Deadline::After(0.05)).status, StreamStatus::kLate);
}

TEST_F(ByteStreamTest, SurvivesAPeerThatHangsUpWhileItWrites) {
  Reset();
  const std::string much(1 << 20, 'x');
  EXPECT_EQ(stream_.WriteAll(much, Deadline::After(20)).status, StreamStatus::kReset);
}

TEST_F(ByteStreamTest, SaysWhyItCannotConnect) {
  close(std::exchange(listener_, -1));
  ByteStream other;
  const StreamResult refused = other.Connect("127.0.0.1", port_, Deadline::After(20));
  EXPECT_EQ(refused.status, StreamStatus::kFailed);
  EXPECT_EQ(refused.message, "Connection refused");
  EXPECT_EQ(other.Connect("no-such-host.invalid", 80, Deadline::After(20)).status, StreamStatus::kNoSuchHost);
}

TEST_F(ByteStreamTest, SaysWhenTheOtherSideSpeaksNoTls) {
  setenv("SSL_CERT_DIR", "/etc/ssl/certs", 1);
  Say("220 mail.example ESMTP, not TLS at all\r\n");
  EXPECT_EQ(stream_.StartTls("localhost", Deadline::After(20)).status, StreamStatus::kNotTls);
  char first = 0;
  EXPECT_EQ(recv(peer_, &first, 1, 0), 1);
  EXPECT_EQ(first, 0x16) << "a handshake record";
}

}  // namespace
}  // namespace hone

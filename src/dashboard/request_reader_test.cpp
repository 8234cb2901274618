#include "dashboard/request_reader.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using State = RequestReader::State;

constexpr char kGet[] = "GET /runs?q=%41 HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 7\r\n\r\n";
constexpr char kPost[] = "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nx=1";

TEST(RequestReader, ReadsARequestThatComesByteByByte) {
  RequestReader reader(1000, 1000);
  const std::string text = kPost;
  for (size_t i = 0; i + 1 < text.size(); ++i)
    ASSERT_EQ(reader.Feed(text.substr(i, 1)), State::kNeedsMore) << i;
  ASSERT_EQ(reader.Feed("1"), State::kComplete);
  const HttpRequest request = reader.request();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/a");
  EXPECT_EQ(request.body, "x=1");
  EXPECT_TRUE(reader.keep_alive());
}

TEST(RequestReader, KeepsTheBytesOfTheNextRequest) {
  RequestReader reader(1000, 1000);
  ASSERT_EQ(reader.Feed(std::string(kPost) + kGet + "HEAD"), State::kComplete);
  EXPECT_EQ(reader.request().path, "/a");
  ASSERT_EQ(reader.Next(), State::kComplete);
  const HttpRequest second = reader.request();
  EXPECT_EQ(second.Query("q"), "A");
  EXPECT_EQ(second.last_event_id, "7");
  ASSERT_EQ(reader.Next(), State::kNeedsMore);
  ASSERT_EQ(reader.Feed(" / HTTP/1.0\r\n\r\n"), State::kComplete);
  EXPECT_TRUE(reader.head());
  EXPECT_EQ(reader.request().method, "GET");
  EXPECT_FALSE(reader.keep_alive());
}

TEST(RequestReader, RefusesWithTheStatusThatFits) {
  const struct {
    std::string bytes;
    int status;
  } cases[] = {
      {"GET / HTTP/1.1\r\nX: " + std::string(2000, 'x') + "\r\n\r\n", 431},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
  };
  for (const auto& one : cases) {
    RequestReader reader(1000, 1000);
    EXPECT_EQ(reader.Feed(one.bytes), State::kBad) << one.bytes;
    EXPECT_EQ(reader.refusal(), one.status) << one.bytes;
    EXPECT_FALSE(reader.why().empty());
  }
}

}  // namespace
}  // namespace hone

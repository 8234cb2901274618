#include "dashboard/request_parser.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hone {
namespace {

using State = RequestParser::State;

constexpr size_t kHead = 2000;
constexpr size_t kBody = 100;

State FeedInPieces(RequestParser& parser, std::string_view text, size_t piece) {
  State state = State::kMore;
  while (state == State::kMore && !text.empty()) {
    state = parser.Feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
  }
  return state;
}

TEST(RequestParser, ReadsARequestInPiecesOfAnySize) {
  for (const size_t piece : {1, 3, 1000}) {
    RequestParser parser(kHead, kBody);
    ASSERT_EQ(FeedInPieces(parser,
                           "POST /runs/a%20b?x=1&y=%41 HTTP/1.1\r\nHOST: here\r\nCookie: c=1\r\n"
                           "last-event-id: 7\r\nContent-Type: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                           "3\r\none\r\n4\r\n two\r\n0\r\nCookie: late=1\r\n\r\n",
                           piece),
              State::kDone);
    EXPECT_TRUE(parser.keep_alive());
    EXPECT_FALSE(parser.head_only());
    const HttpRequest request = parser.TakeRequest();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/runs/a b");
    EXPECT_EQ(request.Query("y"), "A");
    EXPECT_EQ(request.host, "here");
    EXPECT_EQ(request.cookie, "c=1") << "a trailer changes nothing";
    EXPECT_EQ(request.last_event_id, "7");
    EXPECT_EQ(request.content_type, "t");
    EXPECT_EQ(request.body, "one two");
  }
}

TEST(RequestParser, KeepsWhatFollowsARequestForTheNext) {
  RequestParser parser(kHead, kBody);
  ASSERT_EQ(
      parser.Feed(
          "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\nGET"),
      State::kDone);
  EXPECT_TRUE(parser.head_only());
  EXPECT_EQ(parser.TakeRequest().method, "GET");
  ASSERT_EQ(parser.Next(), State::kDone);
  EXPECT_FALSE(parser.keep_alive());
  const HttpRequest second = parser.TakeRequest();
  EXPECT_EQ(second.path, "/b");
  EXPECT_EQ(second.host, "y");
  EXPECT_TRUE(second.cookie.empty());
  EXPECT_EQ(parser.Next(), State::kMore);
  EXPECT_EQ(parser.End(), State::kRefused) << "it ended in the middle of a third";
}

TEST(RequestParser, RefusesWithTheStatusThatSaysWhy) {
  struct Row {
    std::string text;
    int status;
  };
  const Row rows[] = {
      {"GET / HTTP/1.1\r\nX: " + std::string(5000, 'x') + "\r\n\r\n", 431},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + std::string(1000, 'x'),
       413},
      {"hello\r\n\r\n", 400},
      {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
  };
  for (const Row& row : rows) {
    RequestParser parser(kHead, kBody);
    EXPECT_EQ(FeedInPieces(parser, row.text, 64), State::kRefused) << row.text;
    EXPECT_EQ(parser.refusal_status(), row.status) << row.text;
    EXPECT_FALSE(parser.refusal().empty());
  }
}

TEST(RequestParser, AnEndBetweenRequestsIsNoTrouble) {
  RequestParser parser(kHead, kBody);
  EXPECT_EQ(parser.End(), State::kMore);
}

TEST(ReplyHead, CarriesThePolicyUnlessAPageReplacesIt) {
  HttpReply reply;
  reply.body = "12345";
  reply.headers = {{"cache-control", "max-age=60"}, {"X-Split", "a\r\nSet-Cookie: b"}};
  const std::string text = ReplyHead(reply, true);
  EXPECT_EQ(text.rfind("HTTP/1.1 200 OK\r\n", 0), 0u);
  EXPECT_NE(text.find("Cache-Control: max-age=60\r\n"), std::string::npos);
  EXPECT_EQ(text.find("no-store"), std::string::npos);
  EXPECT_EQ(text.find("X-Split"), std::string::npos);
  EXPECT_NE(text.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_EQ(text.find("Connection"), std::string::npos);
  EXPECT_NE(ReplyHead(reply, false).find("Connection: close\r\n"), std::string::npos);
  reply.events = EventSubscription{};
  EXPECT_EQ(ReplyHead(reply, false).find("Content-Length"), std::string::npos);
}

}  // namespace
}  // namespace hone

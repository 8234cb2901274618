#include "model/answer_parser.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using State = AnswerParser::State;

struct Heard {
  State state = State::kMore;
  int status = 0;
  std::string body;
  std::string type;

  bool operator==(const Heard&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Heard& heard) {
  return out << "state " << static_cast<int>(heard.state) << ", HTTP " << heard.status << ", " << heard.type
             << ", '" << heard.body << "'";
}

// Feeds pieces of this size, then the end of the connection unless the response was complete before.
Heard Read(std::string_view text, size_t piece_bytes, size_t most_body = 1000) {
  Heard heard;
  AnswerParser parser([&](const AnswerParser& answer, std::string_view piece) {
    EXPECT_GE(answer.status(), 200) << "the head is known before the body";
    heard.body += piece;
    return heard.body.size() < most_body;
  });
  while (heard.state == State::kMore && !text.empty()) {
    heard.state = parser.Feed(text.substr(0, piece_bytes));
    text.remove_prefix(std::min(piece_bytes, text.size()));
  }
  if (heard.state == State::kMore) heard.state = parser.End();
  heard.status = parser.status();
  if (const auto type = parser.headers().find("content-type"); type != parser.headers().end())
    heard.type = type->second;
  return heard;
}

TEST(AnswerParser, ReadsEveryFormOfAnswerInPiecesOfAnySize) {
  struct Row {
    const char* text;
    Heard heard;
  };
  const Row rows[] = {
      {"HTTP/1.1 200 OK\r\nContent-Type: a\r\nContent-Length: 5\r\n\r\nhello",
       {State::kDone, 200, "hello", "a"}},
      {"HTTP/1.1 200 OK\r\ncontent-TYPE: a\r\nTransfer-Encoding: chunked\r\n\r\n"
       "3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nContent-Type: trailer\r\n\r\n",
       {State::kDone, 200, "hello", "a"}},
      {"HTTP/1.0 200 OK\r\n\r\nhello", {State::kDone, 200, "hello", ""}},
      {"HTTP/1.1 100 Continue\r\nContent-Type: no\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: "
       "2\r\n\r\nno",
       {State::kDone, 404, "no", ""}},
      {"HTTP/1.1 204 No Content\r\n\r\n", {State::kDone, 204, "", ""}},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", {State::kCutOff, 200, "hel", ""}},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", {State::kCutOff, 200, "hel", ""}},
      {"HTTP/1.1 200 OK\r\nContent-Le", {State::kCutOff, 0, "", ""}},
      {"", {State::kCutOff, 0, "", ""}},
      {"220 mail.example ESMTP\r\n\r\n", {State::kNotHttp, 0, "", ""}},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", {State::kNotHttp, 200, "", ""}},
  };
  for (const Row& row : rows)
    for (const size_t piece : {1, 2, 7, 1000})
      EXPECT_EQ(Read(row.text, piece), row.heard) << row.text << " in pieces of " << piece;
}

TEST(AnswerParser, StopsWhenItsSinkHasEnough) {
  const Heard heard = Read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nall of it", 1, 3);
  EXPECT_EQ(heard.state, State::kStopped);
  EXPECT_EQ(heard.body, "all");
}

TEST(AnswerParser, RefusesAHeadWithoutEnd) {
  std::string head = "HTTP/1.1 200 OK\r\n";
  while (head.size() < 100 * 1024) head += "X-Again: and again\r\n";
  EXPECT_EQ(Read(head, 4096).state, State::kNotHttp);
}

TEST(AnswerParser, EndsAtTheHeadWhereNoBodyFollows) {
  AnswerParser parser([](const AnswerParser&, std::string_view) { return false; }, true);
  EXPECT_EQ(parser.Feed("HTTP/1.1 200 Connection established\r\nContent-Length: 7\r\n\r"), State::kMore);
  EXPECT_EQ(parser.Feed("\n"), State::kDone);
  EXPECT_EQ(parser.status(), 200);
}

}  // namespace
}  // namespace hone

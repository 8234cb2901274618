#include "model/rate_limiter.h"

#include <gtest/gtest.h>

#include <vector>

namespace hone {
namespace {

TEST(DurationSeconds, ReadsGoDurationsAndPlainSeconds) {
  const std::pair<const char*, double> kCases[] = {
      {"1s", 1},      {"120ms", 0.12},   {"6m0s", 360}, {"1h2m3.5s", 3723.5},
      {"59.7", 59.7}, {" 12ms ", 0.012}, {"0s", 0},     {"2d", 172800}};
  for (const auto& [text, seconds] : kCases)
    EXPECT_NEAR(DurationSeconds(text).value_or(-1), seconds, 1e-9) << text;
  for (const char* text : {"", "soon", "1x", "-1s", "1s2", "1e400s", "nan"})
    EXPECT_FALSE(DurationSeconds(text).has_value()) << text;
}

TEST(SecondsUntil, ReadsATimeInUtc) {
  constexpr int64_t kNow = 1445412480;  // 2015-10-21T07:28:00Z
  EXPECT_EQ(SecondsUntil("2015-10-21T07:28:30Z", kNow), 30);
  EXPECT_EQ(SecondsUntil("2015-10-21T07:28:30.25Z", kNow), 30);
  EXPECT_EQ(SecondsUntil("2015-10-21T07:28:30+00:00", kNow), 30);
  EXPECT_EQ(SecondsUntil("2015-10-21T07:00:00Z", kNow), 0);
  for (const char* text : {"", "tomorrow", "2015-10-21", "2015-10-21T07:28:30", "2015-10-21T07:28:30+02:00"})
    EXPECT_FALSE(SecondsUntil(text, kNow).has_value()) << text;
}

class Limits : public testing::Test {
 protected:
  double Wait(int64_t tokens = 0) {
    RateLimiter::Answer answer = limiter_.Take(tokens);
    if (answer.wait_s == 0) tickets_.push_back(std::move(answer.ticket));
    return answer.wait_s;
  }
  // Gives this response to the first pending request.
  void Hear(int status, const RateLimiter::Headers& headers = {}) {
    ASSERT_FALSE(tickets_.empty());
    tickets_.front().Answered(status, headers);
    tickets_.erase(tickets_.begin());
  }

  double now_ = 1000;
  RateLimiter limiter_{[this] { return now_; }, [] { return int64_t{1445412480}; }};
  std::vector<RateLimiter::Ticket> tickets_;
};

TEST_F(Limits, NothingIsKnownAtFirstAndNothingWaits) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Wait(1'000'000), 0);
}

TEST_F(Limits, ARefusalHoldsEverybodyAndThenOneGoesAhead) {
  EXPECT_EQ(Wait(), 0);
  Hear(429);
  limiter_.Refused(7);
  EXPECT_NEAR(Wait(), 7, 1e-9);
  limiter_.Refused(3);  // from another thread, shorter
  now_ += 5;
  EXPECT_NEAR(Wait(), 2, 1e-9);
  now_ += 2;
  EXPECT_EQ(Wait(), 0);
  EXPECT_GT(Wait(), 0) << "while one asks, the others wait for what it hears";
  Hear(200);
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Wait(), 0);
}

TEST_F(Limits, AProbeThatIsLostLetsTheNextOneGo) {
  limiter_.Refused(0);
  EXPECT_EQ(Wait(), 0);
  EXPECT_GT(Wait(), 0);
  tickets_.clear();
  EXPECT_EQ(Wait(), 0);
}

TEST_F(Limits, RequestsRefillEvenlyUntilTheReset) {
  EXPECT_EQ(Wait(), 0);
  Hear(200, {{"x-ratelimit-limit-requests", "10"},
             {"x-ratelimit-remaining-requests", "2"},
             {"x-ratelimit-reset-requests", "8s"}});
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Wait(), 0);
  EXPECT_NEAR(Wait(), 1, 1e-9) << "8 come back in 8 s";
  now_ += 1;
  EXPECT_EQ(Wait(), 0);
  EXPECT_NEAR(Wait(), 1, 1e-9);
  now_ += 1000;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Wait(), 0) << "never more than the limit";
  EXPECT_GT(Wait(), 0);
}

TEST_F(Limits, WhatIsUnderWayCounts) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Wait(), 0);
  Hear(200, {{"x-ratelimit-limit-requests", "4"},
             {"x-ratelimit-remaining-requests", "3"},
             {"x-ratelimit-reset-requests", "1s"}});
  EXPECT_EQ(Wait(), 0);
  EXPECT_GT(Wait(), 0) << "two are on their way, and one was sent since";
}

TEST_F(Limits, AnAnswerThatWasOvertakenGivesNothingBack) {
  const auto left = [](int remaining) {  // of three; one refills per second
    return RateLimiter::Headers{{"x-ratelimit-limit-requests", "3"},
                                {"x-ratelimit-remaining-requests", std::to_string(remaining)},
                                {"x-ratelimit-reset-requests", std::to_string(3 - remaining) + "s"}};
  };
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Wait(), 0);
  Hear(429, left(0));
  limiter_.Refused(0.5);
  for (const int remaining : {0, 1, 2}) Hear(200, left(remaining));
  now_ += 0.5;
  EXPECT_GT(Wait(), 0) << "nothing has come back yet";
  now_ += 4;
  EXPECT_EQ(Wait(), 0);
  EXPECT_GT(Wait(), 0) << "one goes ahead: those that were answered had gone before the refusal";
}

TEST_F(Limits, TokensAreHeldBackByTheSizeOfThePrompt) {
  EXPECT_EQ(Wait(), 0);
  Hear(200, {{"anthropic-ratelimit-input-tokens-limit", "40000"},
             {"anthropic-ratelimit-input-tokens-remaining", "10000"},
             {"anthropic-ratelimit-input-tokens-reset", "2015-10-21T07:28:30Z"},
             {"anthropic-ratelimit-requests-limit", "50"},
             {"anthropic-ratelimit-requests-remaining", "49"},
             {"anthropic-ratelimit-requests-reset", "2015-10-21T07:28:01Z"}});
  EXPECT_EQ(Wait(8000), 0);
  EXPECT_NEAR(Wait(12000), 10, 1e-9) << "a thousand a second";
  EXPECT_EQ(Wait(2000), 0);
  now_ += 40;
  EXPECT_EQ(Wait(1'000'000), 0) << "what is larger than the limit goes when all of it is there";
}

TEST_F(Limits, HeadersThatMakeNoSenseChangeNothing) {
  EXPECT_EQ(Wait(), 0);
  Hear(200, {{"x-ratelimit-limit-requests", "ten"},
             {"x-ratelimit-remaining-requests", "-1"},
             {"x-ratelimit-reset-requests", "never"}});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Wait(), 0);
}

}  // namespace
}  // namespace hone

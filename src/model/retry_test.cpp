#include "model/retry.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(WaitSeconds, DoublesWithJitterUpToTheCap) {
  RetryPolicy policy;
  policy.backoff_seconds = 1;
  policy.backoff_cap = 10;
  const double full[] = {1, 2, 4, 8, 10, 10};
  for (int attempt = 1; attempt <= 6; ++attempt) {
    double lowest = 1e9, highest = 0;
    for (int i = 0; i < 200; ++i) {
      const double wait = WaitSeconds(policy, attempt, std::nullopt);
      lowest = std::min(lowest, wait);
      highest = std::max(highest, wait);
    }
    EXPECT_GE(lowest, 0.5 * full[attempt - 1]);
    EXPECT_LE(highest, full[attempt - 1]);
    EXPECT_LT(lowest, highest) << "no jitter";
  }
}

TEST(WaitSeconds, HonoursRetryAfterUpToItsCap) {
  RetryPolicy policy;
  policy.retry_after_cap = 30;
  EXPECT_GE(WaitSeconds(policy, 1, 7.0), 7);
  EXPECT_LE(WaitSeconds(policy, 1, 7.0), 8);
  EXPECT_LE(WaitSeconds(policy, 1, 3600.0), 33);
  EXPECT_EQ(WaitSeconds(policy, 5, 0.0), 0);
}

TEST(RetryAfter, IsANumberOrADate) {
  constexpr int64_t kNow = 1445412480;  // Wed, 21 Oct 2015 07:28:00 GMT
  EXPECT_EQ(RetryAfterSeconds("120", kNow), 120);
  EXPECT_EQ(RetryAfterSeconds(" 0.5 ", kNow), 0.5);
  EXPECT_EQ(RetryAfterSeconds("-3", kNow), 0);
  EXPECT_EQ(RetryAfterSeconds("Wed, 21 Oct 2015 07:28:30 GMT", kNow), 30);
  EXPECT_EQ(RetryAfterSeconds("Wed, 21 Oct 2015 07:00:00 GMT", kNow), 0);
  for (const char* text : {"", "soon", "12 parsecs", "nan", "Wed, 21 Oct"})
    EXPECT_EQ(RetryAfterSeconds(text, kNow), std::nullopt) << text;
}

TEST(ServerErrors, AreToldApartInEveryVendorsWords) {
  using F = ModelFailure;
  struct Row {
    int status;
    const char* words;
    ModelFailure failure;
    bool retry;
  };
  const Row rows[] = {
      {400, "context_length_exceeded: This model's maximum context length is 8192 tokens", F::kContextTooLong,
       false},
      {400, "prompt is too long: 250001 tokens > 200000 maximum", F::kContextTooLong, false},
      {400, "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
       F::kContextTooLong, false},
      {500, "the request exceeds the available context size. try increasing it", F::kContextTooLong, false},
      {413, "request too large", F::kRefused, false},
      {401, "invalid_api_key", F::kWrongKey, false},
      {403, "forbidden", F::kWrongKey, false},
      {402, "Insufficient Balance", F::kRefused, false},
      {404, "model_not_found: no such model", F::kRefused, false},
      {400, "something is missing", F::kRefused, false},
      {429, "rate_limit_error: slow down; context window of 1 minute", F::kUnreachable, true},
      {429, "insufficient_quota: You exceeded your current quota", F::kRefused, false},
      {408, "", F::kUnreachable, true},
      {500, "<html>", F::kUnreachable, true},
      {503, "loading model", F::kUnreachable, true},
      {529, "overloaded_error: Overloaded", F::kUnreachable, true},
      {501, "not implemented", F::kRefused, false},
      {307, "", F::kRefused, false},
      {200, "overloaded_error: Overloaded", F::kUnreachable, true},
      {200, "invalid_request_error: bad", F::kUnreachable, false},
      {200, "authentication_error: who?", F::kWrongKey, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.words);
    const ServerError error = ClassifyServerError(row.status, row.words);
    EXPECT_EQ(FailureName(error.failure), FailureName(row.failure));
    EXPECT_EQ(error.retry, row.retry);
  }
}

TEST(Dialect, GivesUpOneRefusedFieldAtATimeAndThenNothing) {
  ChatDialect dialect;
  dialect.max_tokens = 32000;
  EXPECT_FALSE(AdaptDialect(500, "stream_options", false, dialect));
  EXPECT_FALSE(AdaptDialect(400, "no such model", false, dialect));
  EXPECT_TRUE(AdaptDialect(400, "Unrecognized argument: stream_options", false, dialect));
  EXPECT_FALSE(dialect.stream_options);
  EXPECT_TRUE(dialect.stream);
  EXPECT_TRUE(AdaptDialect(400, "system.0.cache_control: Extra inputs are not permitted", false, dialect));
  EXPECT_FALSE(dialect.cache_control);
  EXPECT_TRUE(AdaptDialect(422, "streaming is not supported", false, dialect));
  EXPECT_FALSE(dialect.stream);
  EXPECT_FALSE(AdaptDialect(422, "streaming is not supported", false, dialect));
  EXPECT_TRUE(AdaptDialect(400, "Unsupported value: temperature", false, dialect));
  EXPECT_FALSE(AdaptDialect(400, "Unsupported value: temperature", false, dialect));
  EXPECT_TRUE(
      AdaptDialect(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.", false, dialect));
  EXPECT_TRUE(dialect.max_completion_tokens);
  EXPECT_FALSE(AdaptDialect(400, "Unsupported parameter: 'max_completion_tokens'", false, dialect))
      << "back and forth";
  EXPECT_TRUE(AdaptDialect(400, "max_tokens: 32000 > 8192, which is the maximum allowed", false, dialect));
  EXPECT_EQ(dialect.max_tokens, 8192);
  EXPECT_FALSE(AdaptDialect(400, "max_tokens: 8192 is wrong for reasons of its own", false, dialect));
}

TEST(Dialect, GivesUpSeveralRepliesWhereTheyAreRefusedOrNothingElseIsNamed) {
  struct Row {
    int status;
    const char* words;
    bool several;
    bool another;
    bool left;  // several replies may still be requested
  };
  const Row rows[] = {
      {400, "'n' : number must be at most 1", true, true, false},
      {500, "Only one completion choice is allowed", true, true, false},
      {422, "n must be 1 when using greedy sampling, got 4", true, true, false},
      {400, "bad request", true, true, false},
      {400, "Unrecognized argument: stream_options", true, true, true},
      {400, "bad request", false, false, true},
      {500, "internal error", true, false, true},
      {401, "invalid_api_key", true, false, true},
      {400, "maximum context length is 8192 tokens", true, false, true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.words);
    ChatDialect dialect;
    EXPECT_EQ(AdaptDialect(row.status, row.words, false, dialect, row.several), row.another);
    EXPECT_EQ(dialect.several, row.left);
  }
}

TEST(Dialect, GivesUpTheWayOfAskingForDataThatIsNamed) {
  struct Row {
    int status;
    const char* words;
    bool structured;
    bool another;  // there is something new to try
    bool schema;
    bool tools;
  };
  const Row rows[] = {
      {400, "This response_format type is unavailable now", true, true, false, true},
      {422, "Unexpected value 'output_config'", true, true, false, true},
      {400, "\"auto\" tool choice requires --enable-auto-tool-choice", true, true, true, false},
      {400, "does not support function calling", true, true, true, false},
      {404, "No endpoints found that support tool use", true, true, true, false},
      {501, "json_schema is not implemented", true, true, false, true},
      {400, "bad request", true, true, false, false},
      {400, "bad request", false, false, true, true},
      {404, "no such model", true, false, true, true},
      {401, "invalid_api_key", true, false, true, true},
      {400, "maximum context length is 8192 tokens (9000 in the messages, 100 in the functions)", true, false,
       true, true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.words);
    ChatDialect dialect;
    EXPECT_EQ(AdaptDialect(row.status, row.words, row.structured, dialect), row.another);
    EXPECT_EQ(dialect.schema, row.schema);
    EXPECT_EQ(dialect.tools, row.tools);
  }
  ChatDialect none;
  none.schema = none.tools = false;
  EXPECT_FALSE(AdaptDialect(400, "bad request", true, none));
}

}  // namespace
}  // namespace hone

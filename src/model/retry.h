// Interprets error responses: whether and when to try again, to ask differently, or to give up with a reason.
// These are pure functions of status, headers and text, so that every vendor's wording is a row in a test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/chat_api.h"
#include "model/http_client.h"
#include "model/model.h"

namespace hone {

struct RetryPolicy {
  int max_attempts = 6;        // for each exchange with the server
  int max_bad_replies = 3;     // responses that arrived but were not usable
  double backoff_seconds = 1;  // doubles with every attempt
  double backoff_cap = 60;
  double retry_after_cap = 120;
};

// backoff * 2^(attempt-1), capped, times a random factor between 0.5 and 1. A server's Retry-After replaces
// it, capped, with a small addition so that parallel calls do not return at the same time.
double WaitSeconds(const RetryPolicy& policy, int attempt, std::optional<double> retry_after);

// The header's value in seconds from `now` (seconds since the epoch): a number or an HTTP date.
std::optional<double> RetryAfterSeconds(const std::string& value, int64_t now);

struct ServerError {
  ModelFailure failure = ModelFailure::kRefused;
  bool retry = false;
};

// Decides by the status and the server's message. Status 200 is for errors inside a stream.
ServerError ClassifyServerError(int status, const std::string& words);

// Changes the dialect if the server rejects a field that can be left out or renamed. Returns true if there is
// something new to try. `structured`: the request asked for a schema; `several`: for several replies.
bool AdaptDialect(int status, const std::string& words, bool structured, ChatDialect& dialect,
                  bool several = false);

}  // namespace hone

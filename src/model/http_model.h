// A language model over HTTP: any OpenAI-compatible server, or Anthropic's. It decides about attempts, waits
// and cut-off replies, and counts tokens and money.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "model/http_client.h"
#include "model/model.h"
#include "model/prices.h"
#include "model/retry.h"

namespace hone {

enum class ApiStyle { kAuto, kOpenAi, kAnthropic };
// "auto", "openai" or "anthropic".
Result<ApiStyle> ApiStyleFromName(const std::string& name);

struct HttpModelOptions {
  std::string model;
  std::string api_base;  // empty: chosen by the model's name, then $OPENAI_BASE_URL, then OpenAI
  ApiStyle style = ApiStyle::kAuto;
  std::string key_variable;  // empty: chosen by the server, see api_key.h
  fs::path key_file;

  int64_t max_output_tokens = 0;  // 0: the server's default
  std::optional<double> temperature;
  std::string reasoning_effort;  // passed on, such as "low" or "xhigh"; empty: not sent
  // The effort was set for another model first. If this model refuses it, it is left out with a note.
  bool effort_may_be_left_out = false;
  Json extra;  // an object that is merged into every request: {"reasoning_effort": "high"}

  HttpLimits limits;
  RetryPolicy retry;
  int max_continuations = 2;
  size_t max_reply_bytes = 4u << 20;
  PriceTable prices = PriceTable::BuiltIn();
};

// The host and port for the options.
Result<std::string> ServerOf(const HttpModelOptions& options);
// Checks options and key. Opens no connection.
Result<std::unique_ptr<Model>> MakeHttpModel(HttpModelOptions options);

// Appends a continuation to a cut-off text. Drops text that the model repeats, and a code fence that it opens
// again inside an open one.
std::string JoinContinuation(const std::string& before, const std::string& after);

}  // namespace hone

#include "model/prices.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

// "gpt-5" matches gpt-5-2025-08-07 but not gpt-5.7, which may be newer than Hone's list.
bool EndsAName(const std::string& model, size_t length) {
  if (length == model.size()) return true;
  const char next = model[length];
  return next == '-' || next == ':' || next == '@';
}

std::optional<Price> LongestPrefix(const std::map<std::string, Price>& table, const std::string& model,
                                   bool whole_names) {
  std::optional<Price> best;
  size_t length = 0;
  for (const auto& [prefix, price] : table) {
    if (prefix.size() >= length && StartsWith(model, prefix) &&
        (!whole_names || EndsAName(model, prefix.size()))) {
      best = price;
      length = prefix.size();
    }
  }
  return best;
}

}  // namespace

std::string PriceTable::Source() {
  return "list prices as in LiteLLM 1.108.4, taken down 2026-11-15";
}

PriceTable PriceTable::BuiltIn() {
  PriceTable table;
  table.built_in_ = {
      {"claude-haiku-4-5", {1, 5, 0.1, 1.25}},
      {"claude-haiku-5-5", {0.1, 0.5, 0.01, 0.125}},
      {"claude-opus-4-5", {5, 25, 0.5, 6.25}},
      {"claude-opus-4-6", {5, 25, 0.5, 6.25}},
      {"claude-opus-4-7", {5, 25, 0.5, 6.25}},
      {"claude-opus-4-8", {5, 25, 0.5, 6.25}},
      {"claude-opus-5", {5, 25, 0.5, 6.25}},
      {"claude-opus-5-5", {4, 20, 0.2, 5}},
      {"claude-sonnet-4-5", {3, 15, 0.3, 3.75}},
      {"claude-sonnet-4-6", {3, 15, 0.3, 3.75}},
      {"claude-sonnet-5", {2, 10, 0.2, 2.5}},
      {"codestral", {0.3, 0.9}},
      {"deepseek-chat", {0.28, 0.42, 0.028}},
      {"deepseek-reasoner", {0.28, 0.42, 0.028}},
      {"deepseek-v4-flash", {0.3, 1.2, 0.006}},
      {"deepseek-v4-pro", {1.32, 3.96, 0.044}},
      {"gemini-2.5-flash", {0.3, 2.5, 0.03}},
      {"gemini-2.5-flash-lite", {0.1, 0.4, 0.01}},
      {"gemini-2.5-pro", {1.25, 10, 0.125}},
      {"gemini-3.1-pro", {2, 12}},
      {"glm-4.6", {0.6, 2.2, 0.11}},
      {"glm-4.7", {0.6, 2.2, 0.11}},
      {"glm-5", {1, 3.2, 0.2}},
      {"glm-5-code", {1.2, 5, 0.3}},
      {"glm-5.1", {1.4, 4.4, 0.26}},
      {"glm-5.2", {1.4, 4.4, 0.26}},
      {"glm-5.3", {1.4, 4.4, 0.26}},
      {"glm-5.3-flash", {0.15, 0.5, 0.03}},
      {"gpt-4.1", {2, 8, 0.5}},
      {"gpt-4.1-mini", {0.4, 1.6, 0.1}},
      {"gpt-4.1-nano", {0.1, 0.4, 0.025}},
      {"gpt-4o", {2.5, 10, 1.25}},
      {"gpt-4o-mini", {0.15, 0.6, 0.075}},
      {"gpt-5", {1.25, 10, 0.125}},
      {"gpt-5-mini", {0.25, 2, 0.025}},
      {"gpt-5-nano", {0.05, 0.4, 0.005}},
      {"gpt-5-pro", {15, 120}},
      {"gpt-5.1", {1.25, 10, 0.125}},
      {"gpt-5.1-codex-mini", {0.25, 2, 0.025}},
      {"gpt-5.2", {1.75, 14, 0.175}},
      {"gpt-5.2-pro", {21, 168}},
      {"gpt-5.3", {1.75, 14}},
      {"gpt-5.4", {2.5, 15, 0.25}},
      {"gpt-5.4-mini", {0.75, 4.5, 0.075}},
      {"gpt-5.4-nano", {0.2, 1.25, 0.02}},
      {"gpt-5.4-pro", {30, 180}},
      {"gpt-5.5", {5, 30, 0.5}},
      {"gpt-5.5-pro", {30, 180}},
      {"gpt-5.6", {4, 20, 0.4, 5}},
      {"gpt-5.6-luna", {0.2, 1.2, 0.02, 0.25}},
      {"gpt-5.6-terra", {2, 12, 0.2, 2.5}},
      {"gpt-6-astra", {10, 50, 1, 12.5}},
      {"gpt-6-luna", {0.1, 0.5, 0.01, 0.125}},
      {"gpt-6-sol", {2, 10, 0.2, 2.5}},
      {"grok-4.5", {2, 6, 0.3}},
      {"grok-code-fast", {1, 2, 0.2}},
      {"kimi-k2.5", {0.6, 3, 0.1}},
      {"kimi-k2.6", {0.95, 4, 0.16}},
      {"kimi-k3", {3, 15, 0.3}},
      {"mistral-large", {0.5, 1.5}},
      {"mistral-medium", {1.5, 7.5, 0.15}},
      {"o1", {15, 60, 7.5}},
      {"o1-pro", {150, 600}},
      {"o3", {2, 8, 0.5}},
      {"o3-deep-research", {10, 40, 2.5}},
      {"o3-mini", {1.1, 4.4, 0.55}},
      {"o3-pro", {20, 80}},
      {"o4-mini", {1.1, 4.4, 0.275}},
      {"qwen-max", {1.6, 6.4}},
      {"qwen-plus", {0.4, 1.2}},
  };
  return table;
}

Status PriceTable::Override(const fs::path& file) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, 1 << 20));
  const auto complain = [&](const std::string& what) {
    return Error{
        ErrorKind::kInvalid,
        fmt::format("{}: {}; the form is {{\"model-prefix\": {{\"input\": 1.25, \"output\": 10}}}} in USD "
                    "per million tokens",
                    file.string(), what)};
  };
  Result<Json> json = ParseJson(text);
  if (!json.ok() || !json->is_object()) return complain("not a JSON object");
  std::map<std::string, Price> read;
  for (const auto& [prefix, entry] : json->items()) {
    const Price price{GetNumber(entry, "input", -1), GetNumber(entry, "output", -1),
                      GetNumber(entry, "cached", -1), GetNumber(entry, "cache_write", -1)};
    if (prefix.empty() || price.input_usd < 0 || price.output_usd < 0)
      return complain(fmt::format("'{}' has no input and output that are numbers from 0 on", prefix));
    read[prefix] = price;
  }
  own_ = std::move(read);
  return Ok();
}

std::optional<Price> PriceTable::Find(const std::string& model) const {
  if (std::optional<Price> price = LongestPrefix(own_, model, false)) return price;
  if (std::optional<Price> price = LongestPrefix(built_in_, model, true)) return price;
  const size_t slash = model.find('/');
  if (slash == std::string::npos) return std::nullopt;
  return Find(model.substr(slash + 1));
}

std::optional<double> PriceTable::MostUsd(const std::string& model, int64_t prompt_tokens,
                                          int64_t completion_tokens) const {
  const std::optional<Price> price = Find(model);
  if (!price) return std::nullopt;
  const double input = std::max({price->input_usd, price->cached_usd, price->cache_write_usd});
  return (static_cast<double>(prompt_tokens) * input +
          static_cast<double>(completion_tokens) * price->output_usd) /
         1e6;
}

void PriceTable::Charge(const std::string& model, Usage& usage) const {
  const std::optional<Price> price = Find(model);
  usage.price_known = price.has_value();
  usage.cost_usd = usage.cached_usd = usage.cache_write_usd = usage.reasoning_usd = 0;
  if (!price) return;
  const auto usd = [&](int64_t tokens, double own) {
    return static_cast<double>(tokens) * (own < 0 ? price->input_usd : own) / 1e6;
  };
  // The server reports the parts, so they are limited to the total.
  const int64_t cached = std::clamp<int64_t>(usage.cached_tokens, 0, usage.prompt_tokens);
  const int64_t written = std::clamp<int64_t>(usage.cache_write_tokens, 0, usage.prompt_tokens - cached);
  const int64_t thought = std::clamp<int64_t>(usage.reasoning_tokens, 0, usage.completion_tokens);
  usage.cached_usd = usd(cached, price->cached_usd);
  usage.cache_write_usd = usd(written, price->cache_write_usd);
  usage.reasoning_usd = usd(thought, price->output_usd);
  usage.cost_usd = usd(usage.prompt_tokens - cached - written, price->input_usd) + usage.cached_usd +
                   usage.cache_write_usd + usd(usage.completion_tokens, price->output_usd);
}

}  // namespace hone

// Prices per million tokens, by prefix of a model's name. Input that a server read from its cache or wrote to
// it has separate prices. Batch discounts are left out, so that a bill is not higher than Hone's count
// (except for long-context surcharges).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/files.h"
#include "model/model.h"

namespace hone {

struct Price {
  double input_usd = 0;         // per million tokens
  double output_usd = 0;        // includes thinking
  double cached_usd = -1;       // input read from the server's cache; below 0: as other input
  double cache_write_usd = -1;  // input written to the cache; below 0: as other input
};

class PriceTable {
 public:
  // The embedded table.
  static PriceTable BuiltIn();
  // The date and the source of the built-in table.
  static std::string Source();

  // Reads {"model-prefix": {"input": usd, "output": usd}, ...}. These entries take precedence over built-in
  // ones. They may have "cached" and "cache_write".
  Status Override(const fs::path& file);

  // The longest prefix wins; a user's entry takes precedence over a built-in one. Built-in prefixes are whole
  // names: "gpt-5" is the price of gpt-5-2025-08-07 and not of gpt-5.7. A vendor before the name
  // ("openai/gpt-5") is ignored if nothing matches with it.
  std::optional<Price> Find(const std::string& model) const;
  // The maximum cost of this many tokens, whatever a cache does. No value if the price is unknown.
  std::optional<double> MostUsd(const std::string& model, int64_t prompt_tokens,
                                int64_t completion_tokens) const;
  // Sets cost_usd with its parts, and price_known.
  void Charge(const std::string& model, Usage& usage) const;

 private:
  std::map<std::string, Price> built_in_;
  std::map<std::string, Price> own_;
};

}  // namespace hone

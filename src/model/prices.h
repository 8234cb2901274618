// Prices per million tokens, by the beginning of a model's name, as they are billed: what a server read from
// its cache, or put into it, has a price of its own. Discounts for batches are left out, so a bill is not
// higher than what Hone counted (except for long-context surcharges).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/files.h"
#include "model/model.h"

namespace hone {

struct Price {
  double input_usd = 0;         // per million tokens
  double output_usd = 0;        // thinking included
  double cached_usd = -1;       // input that was in the server's cache; below 0: as other input
  double cache_write_usd = -1;  // input that was put into it; likewise
};

class PriceTable {
 public:
  // The table that Hone brings along.
  static PriceTable BuiltIn();
  // The date and the source of the built-in table.
  static std::string Source();

  // {"model-prefix": {"input": usd, "output": usd}, ...}; entries here come before built-in ones. They may
  // have "cached" and "cache_write".
  Status Override(const fs::path& file);

  // The longest prefix wins; a user's entry beats a built-in one. Built-in prefixes are whole
  // names: "gpt-5" is the price of gpt-5-2025-08-07 and not of gpt-5.7. A vendor before the name
  // ("openai/gpt-5") is passed over where nothing matches with it.
  std::optional<Price> Find(const std::string& model) const;
  // What so many tokens cost at the most, whatever a cache does; nothing where the price is not known.
  std::optional<double> MostUsd(const std::string& model, int64_t prompt_tokens,
                                int64_t completion_tokens) const;
  // Fills cost_usd with its shares, and price_known.
  void Charge(const std::string& model, Usage& usage) const;

 private:
  std::map<std::string, Price> built_in_;
  std::map<std::string, Price> own_;
};

}  // namespace hone

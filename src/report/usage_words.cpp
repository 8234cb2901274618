#include "report/usage_words.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "report/record_facts.h"
#include "store/record_io.h"

namespace hone {

namespace {

struct UsagePart {
  int64_t Usage::*tokens;
  double Usage::*usd;
  const char* tokens_field;
  const char* usd_field;
  const char* words;
};
constexpr UsagePart kUsageParts[] = {
    {&Usage::cached_tokens, &Usage::cached_usd, "cached_tokens", "cached_usd", "cached"},
    {&Usage::cache_write_tokens, &Usage::cache_write_usd, "cache_write_tokens", "cache_write_usd",
     "cache writes"},
    {&Usage::reasoning_tokens, &Usage::reasoning_usd, "reasoning_tokens", "reasoning_usd", "reasoning"},
};

bool HasParts(const Usage& usage) {
  for (const UsagePart& part : kUsageParts)
    if (usage.*part.tokens > 0) return true;
  return false;
}

// Older records have the tokens but not their cost.
std::string PartWords(const Usage& usage, const UsagePart& part) {
  const std::string tokens = GroupedNumber(usage.*part.tokens);
  return usage.*part.usd > 0 ? fmt::format("{} (${:.4f})", tokens, usage.*part.usd) : tokens;
}

template <class Record>
OrderedJson WithoutZeroParts(const Record& record) {
  OrderedJson json = RecordToJson(record, Extent::kList);
  if (HasParts(record)) return json;
  for (const UsagePart& part : kUsageParts) {
    json.erase(part.tokens_field);
    json.erase(part.usd_field);
  }
  return json;
}

}  // namespace

std::string PartsOf(const Usage& usage) {
  std::vector<std::string> parts;
  for (const UsagePart& part : kUsageParts) {
    if (usage.*part.tokens <= 0) continue;
    std::string words = fmt::format("{} {}", GroupedNumber(usage.*part.tokens), part.words);
    if (usage.*part.usd > 0) words += fmt::format(" (${:.4f})", usage.*part.usd);
    parts.push_back(words);
  }
  return Join(parts, ", ");
}

std::string UsageWords(const Usage& usage) {
  const std::string parts = PartsOf(usage);
  return fmt::format("{} in, {} out{}, {}{}", GroupedNumber(usage.prompt_tokens),
                     GroupedNumber(usage.completion_tokens), usage.estimated ? " (partly estimated)" : "",
                     usage.price_known ? fmt::format("${:.4f}", usage.cost_usd) : "price not known",
                     parts.empty() ? "" : "; of these " + parts);
}

std::vector<std::string> PartColumns(const Usage& all) {
  std::vector<std::string> columns;
  for (const UsagePart& part : kUsageParts)
    if (all.*part.tokens > 0) columns.emplace_back(part.words);
  return columns;
}

std::vector<std::string> PartCells(const Usage& one, const Usage& all) {
  std::vector<std::string> cells;
  for (const UsagePart& part : kUsageParts)
    if (all.*part.tokens > 0) cells.push_back(one.*part.tokens > 0 ? PartWords(one, part) : "");
  return cells;
}

OrderedJson UsageJson(const UsageTotals& usage) {
  return WithoutZeroParts(usage);
}

OrderedJson CallJson(const CallRecord& call) {
  return WithoutZeroParts(call);
}

}  // namespace hone

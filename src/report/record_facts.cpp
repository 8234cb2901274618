#include "report/record_facts.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr size_t kLongestQuote = 200;

const Json& Items(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const Json& member = GetMember(object, key);
  return member.is_array() ? member : kNone;
}

}  // namespace

std::string GroupedNumber(int64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

Json ParsedOrNull(const std::string& text) {
  Result<Json> json = ParseJson(text);
  return json.ok() ? std::move(*json) : Json();
}

CandidateFacts FactsOf(const CandidateRecord& candidate) {
  CandidateFacts facts;
  const Json record = ParsedOrNull(candidate.json);
  const Json& launches = GetMember(record, "launches");
  facts.launches = GetInt(launches, "candidate", -1);
  facts.reference_launches = GetInt(launches, "reference", -1);
  facts.operators = GetString(GetMember(record, "provenance"), "target") == "cpu";
  facts.floor_us = GetNumber(GetMember(record, "card"), "floor_us");
  if (candidate.candidate_us > 0 && facts.floor_us > 0)
    facts.floor_share = facts.floor_us / candidate.candidate_us;
  const Json& speed = GetMember(record, "speedup");
  facts.best_baseline = GetString(speed, "best_baseline");
  facts.best_us = GetNumber(speed, "best_us");
  const Json code = ParsedOrNull(candidate.facts);
  facts.kernels = static_cast<int>(Items(code, "kernels").size());
  facts.launch_sites = static_cast<int>(Items(code, "launches").size());
  for (const Json& launch : Items(code, "launches"))
    facts.host_loops += GetBool(launch, "in_host_loop") || !Items(launch, "host_loops").empty() ? 1 : 0;
  for (const Json& call : Items(code, "library_calls")) {
    facts.library_loops += GetBool(call, "in_loop") ? 1 : 0;
    const std::string name = GetString(call, "name");
    if (GetBool(call, "reaches_output", true) && !name.empty() &&
        std::find(facts.library_calls.begin(), facts.library_calls.end(), name) == facts.library_calls.end())
      facts.library_calls.push_back(name);
  }
  facts.host_loops += facts.library_loops;
  facts.lines = static_cast<int>(Lines(candidate.source).size());
  return facts;
}

std::string WhyItEnded(const RunRecord& run) {
  const std::string why(TrimPeriods(run.outcome.substr(0, run.outcome.find("; so far: "))));
  return why.empty() ? "?" : why;
}

std::string TellingLine(const std::string& detail) {
  std::string first;
  std::string compiler;   // the first error causes the others
  std::string traceback;  // its last line has the exception
  for (const std::string& line : Lines(detail)) {
    const std::string trimmed(Trim(line));
    if (first.empty()) first = trimmed;
    if (compiler.empty() && Contains(trimmed, "error: ")) compiler = trimmed;
    if (Contains(trimmed, "Error: ")) traceback = trimmed;
  }
  std::string told = !compiler.empty() ? compiler : !traceback.empty() ? traceback : first;
  told = ValidUtf8(told);
  if (told.size() <= kLongestQuote) return told;
  return ValidUtf8(told.substr(0, kLongestQuote - 3)) + "...";
}

}  // namespace hone

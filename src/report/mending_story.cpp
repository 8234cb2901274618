#include "report/mending_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "model/replies.h"
#include "pipeline/mending.h"
#include "pipeline/run_options.h"
#include "report/record_facts.h"

namespace hone {

namespace {

// Candidates that branches and tuning repair by asking a model. The search may repair its candidates later or
// never.
bool IsRepairedNext(const std::string& phase) {
  static const std::set<std::string> kRepaired = {
      "seed",       "seed_repair", "algorithm",    "algorithm_repair",
      "stage_grid", "stage_block", "stage_memory", "stage_repair"};
  return kRepaired.count(phase) != 0;
}

// Returns 2 for "seed0.repair2", and 0 for a candidate that is not a repair.
int RepairNumber(const std::string& key) {
  static const std::string kMark = ".repair";
  const size_t at = key.rfind(kMark);
  return at == std::string::npos ? 0 : std::atoi(key.c_str() + at + kMark.size());
}

std::string CountOf(int count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

MendingUse& MendingUse::operator+=(const MendingUse& other) {
  mended += other.mended;
  right += other.right;
  calls_saved += other.calls_saved;
  for (const auto& [rule, count] : other.fixes) fixes[rule] += count;
  return *this;
}

MendingUse MendingOf(const RunRecord& run, const std::vector<CandidateRecord>& candidates,
                     const std::vector<DecisionRecord>& decisions) {
  MendingUse use;
  const RunOptions options = RunOptionsFromJson(ParsedOrNull(run.options));
  std::set<std::string> calls;  // calls whose repair was not needed
  for (const CandidateRecord& one : candidates) {
    if (one.phase != kMendedPhase || !one.judged()) continue;
    ++use.mended;
    if (!one.right()) continue;
    ++use.right;
    for (const CandidateRecord& failed : candidates)
      if (failed.key == one.parent_key && IsRepairedNext(failed.phase) &&
          RepairNumber(failed.key) < options.repairs)
        calls.insert(CallKeyOf(failed.key));
  }
  use.calls_saved = static_cast<int>(calls.size());
  for (const DecisionRecord& one : decisions) {
    if (one.phase != kMendedPhase) continue;
    const Json fixes = ParsedOrNull(one.json);
    if (!fixes.is_array()) continue;
    for (const Json& fix : fixes)
      if (const std::string rule = GetString(fix, "rule"); !rule.empty()) ++use.fixes[rule];
  }
  return use;
}

std::string FixCounts(const MendingUse& use) {
  std::vector<std::pair<std::string, int>> rules(use.fixes.begin(), use.fixes.end());
  std::stable_sort(rules.begin(), rules.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [rule, count] : rules) parts.push_back(fmt::format("{} {}", rule, count));
  return Join(parts, ", ");
}

std::string MendingWords(const MendingUse& use) {
  const std::string words =
      fmt::format("{} mended, {} of them right, {} saved", CountOf(use.mended, "candidate", "candidates"),
                  use.right, CountOf(use.calls_saved, "model call", "model calls"));
  const std::string fixes = FixCounts(use);
  return fixes.empty() ? words : words + "; fixes: " + fixes;
}

OrderedJson ToJson(const MendingUse& use) {
  if (!use.any()) return nullptr;
  OrderedJson fixes = OrderedJson::object();
  for (const auto& [rule, count] : use.fixes) fixes[rule] = count;
  return {{"mended", use.mended}, {"right", use.right}, {"calls_saved", use.calls_saved}, {"fixes", fixes}};
}

}  // namespace hone

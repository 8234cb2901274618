#include "cli/policy_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/text.h"

namespace hone {

namespace {

constexpr size_t kLongestName = 24;

struct RunRange {
  int64_t first = 0;
  int64_t last = 0;
};

// Parses "R3" as 3.
std::optional<int64_t> RunNumber(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'R' && text[0] != 'r')) return std::nullopt;
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Parses "R3-R7".
std::optional<RunRange> RangeOf(const std::string& text) {
  const size_t dash = text.find('-');
  if (dash == std::string::npos) return std::nullopt;
  const std::optional<int64_t> first = RunNumber(std::string_view(text).substr(0, dash));
  const std::optional<int64_t> last = RunNumber(std::string_view(text).substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return RunRange{*first, *last};
}

bool IsStored(RunStore& store, const std::string& name) {
  return store.FindSuite(name).ok() || store.FindRun(name).ok();
}

Status AddRunsOf(RunStore& store, const std::string& name, std::set<int64_t>* ids) {
  if (const Result<SuiteRecord> suite = store.FindSuite(name); suite.ok()) {
    HONE_ASSIGN_OR_RETURN(const std::vector<RunRecord> runs, store.Runs(1'000'000, suite->id));
    if (runs.empty()) return Error{ErrorKind::kNotFound, fmt::format("the suite '{}' has no runs", name)};
    for (const RunRecord& run : runs) ids->insert(run.id);
    return Ok();
  }
  const Result<RunRecord> run = store.FindRun(name);
  if (run.ok()) {
    ids->insert(run->id);
    return Ok();
  }
  if (const std::optional<RunRange> range = RangeOf(name)) {
    // A deleted run leaves a gap.
    HONE_ASSIGN_OR_RETURN(const std::vector<RunRecord> runs, store.Runs(1'000'000));
    const size_t before = ids->size();
    for (const RunRecord& one : runs)
      if (one.id >= range->first && one.id <= range->last) ids->insert(one.id);
    if (ids->size() == before)
      return Error{ErrorKind::kNotFound,
                   fmt::format("there are no runs {} in the store; see: hone runs", name)};
    return Ok();
  }
  if (Contains(name, ":"))
    return Error{ErrorKind::kUsage,
                 fmt::format("policies are compared by runs and suites; '{}' is neither", name)};
  return run.error();
}

Result<PolicySide> ReadSide(RunStore& store, const std::string& word, std::set<int64_t>* ids) {
  const std::vector<std::string> names =
      IsStored(store, word) ? std::vector<std::string>{word} : Split(word, ',');
  for (const std::string& name : names) {
    if (name.empty()) return Error{ErrorKind::kUsage, fmt::format("a name is missing in '{}'", word)};
    HONE_RETURN_IF_ERROR(AddRunsOf(store, name, ids));
  }
  PolicySide side;
  side.name = word;
  if (word.size() > kLongestName && names.size() > 1)
    side.name = fmt::format("{}+{}", names[0], names.size() - 1);
  for (const int64_t id : *ids) {
    PolicyRun one;
    // Reads the whole run, because a summary lacks the options.
    HONE_ASSIGN_OR_RETURN(one.run, store.FindRun(fmt::format("R{}", id)));
    HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> candidates, store.CandidateSummaries(id));
    HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> calls, store.CallSummaries(id));
    HONE_ASSIGN_OR_RETURN(one.usage, store.Usage(id));
    one.curve = BestSoFar(candidates, calls);
    side.runs.push_back(std::move(one));
  }
  return side;
}

}  // namespace

Result<bool> NameLists(RunStore& store, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return (Contains(word, ",") || RangeOf(word)) && !IsStored(store, word);
  });
}

Result<std::array<PolicySide, 2>> ReadPolicySides(RunStore& store, const std::vector<std::string>& words) {
  if (words.size() != 2)
    return Error{ErrorKind::kUsage,
                 fmt::format("compare exactly two policies, each a list like R1,R2 or a suite; {} were given",
                             words.size())};
  std::array<PolicySide, 2> sides;
  std::array<std::set<int64_t>, 2> ids;
  for (size_t i = 0; i < 2; ++i) {
    HONE_ASSIGN_OR_RETURN(sides[i], ReadSide(store, words[i], &ids[i]));
  }
  for (const int64_t id : ids[0])
    if (ids[1].count(id) != 0) return Error{ErrorKind::kUsage, fmt::format("R{} is on both sides", id)};
  return sides;
}

}  // namespace hone

#include "report/difference.h"

#include <fmt/format.h>

#include "base/diff.h"
#include "base/text.h"
#include "pipeline/rules.h"
#include "report/record_facts.h"

namespace hone {

namespace {

constexpr int kMostLinesOfDifference = 120;

std::string Count(int64_t count) {
  return count < 0 ? "" : fmt::format("{}", count);
}

std::string Share(double share) {
  if (share <= 0) return "";
  return share < 0.01 ? "<1%" : fmt::format("{:.0f}%", 100 * share);
}

std::string KnownMicroseconds(double us) {
  return us > 0 ? HumanSeconds(us * 1e-6) : "";
}

std::string ErrorText(const CandidateRecord& one) {
  if (one.error_limit <= 0) return "";
  return fmt::format("{} / {}", HumanNumber(one.error), HumanNumber(one.error_limit));
}

}  // namespace

bool IntervalsApart(const Speed& a, const Speed& b) {
  return a.known() && b.known() && (a.ci_low > b.ci_high || b.ci_low > a.ci_high);
}

std::vector<DifferenceFact> FactsSideBySide(const CandidateRecord& best, const CandidateRecord& other) {
  const CandidateFacts a = FactsOf(best);
  const CandidateFacts b = FactsOf(other);
  std::vector<DifferenceFact> facts;
  auto add = [&](const char* id, const std::string& left, const std::string& right) {
    facts.push_back({id, left, right, left != right});
  };
  add("verdict", best.verdict, other.verdict);
  add("reason", best.reason, other.reason);
  add("kernel_class", best.kernel_class, other.kernel_class);
  add("kind", best.kind, other.kind);
  add("launches", Count(a.launches), Count(b.launches));
  add("kernels", Count(a.kernels), Count(b.kernels));
  add("launch_sites", Count(a.launch_sites), Count(b.launch_sites));
  add("host_loops", Count(a.host_loops), Count(b.host_loops));
  add("library_calls", Join(a.library_calls, " "), Join(b.library_calls, " "));
  add("error", ErrorText(best), ErrorText(other));
  add("candidate_us", KnownMicroseconds(best.candidate_us), KnownMicroseconds(other.candidate_us));
  add("floor_share", Share(a.floor_share), Share(b.floor_share));
  add("lines", Count(a.lines), Count(b.lines));
  return facts;
}

Difference DifferenceOf(const CandidateRecord& best, const CandidateRecord& other,
                        const std::string& relation) {
  Difference difference;
  difference.relation = relation;
  difference.best_key = best.key;
  difference.other_key = other.key;
  difference.best = SpeedOf(best);
  difference.other = SpeedOf(other);
  difference.other_reason = other.reason;
  difference.real = IntervalsApart(difference.best, difference.other);
  difference.facts = FactsSideBySide(best, other);
  const UnifiedDiff diff =
      MakeUnifiedDiff(other.source, best.source, other.key + ".py", best.key + ".py", kMostLinesOfDifference);
  difference.diff = diff.text;
  difference.diff_lines_left_out = diff.lines_left_out;
  return difference;
}

std::optional<Difference> DecisiveDifference(const RunStory& story) {
  const std::optional<CandidateRecord> best =
      Fastest(story.candidates, [](const CandidateRecord& one) { return one.accepted(); });
  if (!best) return std::nullopt;
  const std::optional<CandidateRecord> second = Fastest(
      story.candidates, [&](const CandidateRecord& one) { return one.accepted() && one.key != best->key; });
  if (second) return DifferenceOf(*best, *second, "second_accepted");
  const std::optional<CandidateRecord> right = Fastest(
      story.candidates, [&](const CandidateRecord& one) { return IsRight(one) && one.key != best->key; });
  if (right) return DifferenceOf(*best, *right, "right_but_slower");
  for (const CandidateRecord& one : story.candidates)
    if (one.key == best->parent_key) return DifferenceOf(*best, one, "parent");
  return std::nullopt;
}

}  // namespace hone

#include <fmt/format.h>

#include <variant>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/policy_sides.h"
#include "report/comparison.h"
#include "store/run_result.h"
#include "store/run_store.h"

namespace hone {

namespace {

struct CompareFlags {
  std::vector<std::string> what;
  std::string language = "en";
  bool policies = false;
  bool json = false;
  bool markdown = false;
};

struct RunAndCandidate {
  RunRecord run;
  CandidateRecord candidate;
};
using Side = std::variant<RunStory, RunAndCandidate, SuiteRecord>;

// "R3:seed0" is a candidate, the name of a suite is a suite, and all else is a run.
Result<Side> Resolve(RunStore& store, const std::string& what) {
  const size_t colon = what.rfind(':');
  if (colon != std::string::npos) {
    RunAndCandidate side;
    HONE_ASSIGN_OR_RETURN(side.run, store.FindRun(what.substr(0, colon)));
    const std::string key = what.substr(colon + 1);
    HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all, store.Candidates(side.run.id));
    std::vector<std::string> keys;
    for (const CandidateRecord& one : all) {
      keys.push_back(one.key);
      if (one.key != key) continue;
      side.candidate = one;
      return Side(side);
    }
    return Error{ErrorKind::kNotFound,
                 fmt::format("run R{} has no candidate '{}'; it has {}", side.run.id, key, Join(keys, ", "))};
  }
  Result<SuiteRecord> suite = store.FindSuite(what);
  if (suite.ok()) return Side(*suite);
  HONE_ASSIGN_OR_RETURN(RunStory story, ReadStory(store, what));
  return Side(std::move(story));
}

Result<std::vector<SuiteMember>> Members(RunStore& store, const SuiteRecord& suite) {
  HONE_ASSIGN_OR_RETURN(const std::vector<RunRecord> runs, store.Runs(1'000'000, suite.id));
  std::vector<SuiteMember> members;
  for (const RunRecord& run : runs) {
    SuiteMember member{run, {}};
    if (run.best_key.empty()) {
      if (run.status == "done" && CountsInMeans(run.result)) member.best = Speed{1, 1, 1};
    } else {
      HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> best, store.Candidate(run.id, run.best_key));
      if (best) member.best = SpeedOf(*best);
    }
    members.push_back(std::move(member));
  }
  return members;
}

template <class Comparison>
void Print(const Comparison& compared, const CompareFlags& flags) {
  const ReportLanguage language = LanguageFromName(flags.language).value_or(ReportLanguage::kEnglish);
  if (flags.json)
    fmt::print("{}\n", DumpJson(ToJson(compared, language), 2));
  else if (flags.markdown)
    fmt::print("{}", ComparisonDocument(compared, language).Markdown());
  else
    fmt::print("{}", ComparisonDocument(compared, language).Text(Style(stdout)));
}

Result<int> Compare(const CompareFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const bool lists, NameLists(*store, flags.what));
  if (flags.policies || lists) {
    HONE_ASSIGN_OR_RETURN(const auto policies, ReadPolicySides(*store, flags.what));
    Print(ComparePolicies(policies[0], policies[1]), flags);
    return 0;
  }
  std::vector<Side> sides;
  for (const std::string& what : flags.what) {
    HONE_ASSIGN_OR_RETURN(Side side, Resolve(*store, what));
    sides.push_back(std::move(side));
    if (sides.back().index() != sides[0].index())
      return Error{
          ErrorKind::kUsage,
          fmt::format("{} and {} are not of one kind; compare runs, two candidates (RUN:KEY) or two suites",
                      flags.what[0], what)};
  }
  if (std::holds_alternative<RunStory>(sides[0])) {
    std::vector<RunStory> stories;
    for (Side& side : sides) stories.push_back(std::move(std::get<RunStory>(side)));
    Print(CompareRuns(stories), flags);
    return 0;
  }
  if (sides.size() != 2) return Error{ErrorKind::kUsage, "compare exactly two candidates or two suites"};
  if (std::holds_alternative<RunAndCandidate>(sides[0])) {
    const auto& a = std::get<RunAndCandidate>(sides[0]);
    const auto& b = std::get<RunAndCandidate>(sides[1]);
    Print(CompareCandidates(a.run, a.candidate, b.run, b.candidate), flags);
    return 0;
  }
  const auto& a = std::get<SuiteRecord>(sides[0]);
  const auto& b = std::get<SuiteRecord>(sides[1]);
  HONE_ASSIGN_OR_RETURN(const std::vector<SuiteMember> members_a, Members(*store, a));
  HONE_ASSIGN_OR_RETURN(const std::vector<SuiteMember> members_b, Members(*store, b));
  Print(CompareSuites(a.name, members_a, b.name, members_b), flags);
  return 0;
}

}  // namespace

void AddCompareCommand(CommandTable& table) {
  Command& command = table.Add(
      "compare",
      "Compare runs, candidates, suites or two ways to search, and say which differences are significant");
  auto flags = std::make_shared<CompareFlags>();
  command
      .Add("WHAT", &flags->what,
           "Runs (R3, a name, last), candidates (R3:seed0) or suites; for a policy a list of runs and suites "
           "(R1,R2 or R1-R5,R8)")
      .Required()
      .Times(2, 64);
  command.Add(
      "--policies", &flags->policies,
      "Compare two ways to search at equal cost. Shows the best so far per model call and per dollar, "
      "over all runs of each side. Implied when a side is a list of runs");
  command.Add("--json", &flags->json, "Print the comparison as JSON");
  command.Add("--md", &flags->markdown, "Print the comparison as Markdown").Excludes("--json");
  command.Add("--lang", &flags->language, kLanguageHelp).OneOf({"en", "zh"});
  command.Note("A difference in speed is significant when the 95% confidence intervals do not overlap.");
  command.Note(
      "Policies are compared by the ratio of their best so far over the same tasks, with a 95% bootstrap "
      "interval; a difference is reported only if the interval excludes 1.");
  command.Example("hone compare R3 R4");
  command.Example("hone compare R3:seed0 R4:seed1.repair1");
  command.Example("hone compare suite-monday suite-tuesday --md");
  command.Example("hone compare --policies suite-classic suite-population", "which search is better");
  command.Example("hone compare R10-R14 R20-R24", "the same, several runs a side");
  command.Runs([flags] { return Compare(*flags); });
}

}  // namespace hone

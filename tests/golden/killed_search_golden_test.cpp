// Kills population searches (hone_search_tool sit) with SIGKILL at fifty random moments and resumes them each
// time, so that many kills hit a resume. The record and the files must equal those of an undisturbed run.
// population_golden_test.cpp kills at every step of the code. Here a kill may also hit a write to the store
// or a file, or occur between threads.
//
// A moment is a length of the request log plus some milliseconds. One in four is soon after the start. Each
// run of the test draws new moments. HONE_KILL_SEED=N repeats those of an earlier run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include "base/files.h"
#include "base/ids.h"
#include "base/text.h"
#include "kill_harness.h"
#include "search_world.h"
#include "store/sql.h"

namespace hone {
namespace {

using namespace search_world;

// For each of the searches; together more than fifty.
constexpr int kKills = 9;
// A world in which the searches come to all that they are asked for below.
constexpr uint64_t kWorldSeed = 14;

uint64_t KillSeed() {
  const char* given = std::getenv("HONE_KILL_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

int TimesIn(const std::map<std::string, int>& lines, const std::string& line) {
  const auto found = lines.find(line);
  return found == lines.end() ? 0 : found->second;
}

std::vector<std::string> Without(const std::multiset<std::string>& rows,
                                 const std::multiset<std::string>& others) {
  std::vector<std::string> left;
  std::set_difference(rows.begin(), rows.end(), others.begin(), others.end(), std::back_inserter(left));
  return left;
}

// One run and its sessions.
class Sittings {
 public:
  explicit Sittings(const RunOptions& options) : folder_(*TempFolder::Make("hone-killed-search-")) {
    words_ = {
        HONE_SEARCH_TOOL,       "sit", "workshop", fmt::format("{}", kWorldSeed), DumpJson(ToJson(options)),
        folder_.path().string()};
  }

  // Runs to the end.
  bool Sit() const {
    return !RunKilledOnceIt([] { return false; }, 0, words_);
  }
  // False if the run ended first. `whole` is the length of an undisturbed run's log.
  bool SitAndBeKilled(uintmax_t whole, Random* random) const {
    if (random->Below(4) == 0) return RunKilledOnceIt([] { return true; }, 0.05 * Uniform(random), words_);
    const uintmax_t now = LogLength();
    const uintmax_t end = std::max(whole, now + 1);
    const uintmax_t target = now + random->Below(end - now);
    return RunKilledOnceIt([&] { return LogLength() > target; }, 0.01 * Uniform(random), words_);
  }
  uintmax_t LogLength() const {
    std::error_code none_yet;
    const uintmax_t length = fs::file_size(log(), none_yet);
    return none_yet ? 0 : length;
  }

  bool begun() const {
    const std::unique_ptr<RunStore> store = Open();
    return store->FindRun("run").ok();
  }

  // The answered requests and verdicts so far, in the words of the log.
  std::set<std::string> Known() const {
    std::set<std::string> known;
    const std::unique_ptr<RunStore> store = Open();
    const Result<RunRecord> run = store->FindRun("run");
    if (!run.ok()) return known;
    const std::vector<CallRecord> calls = *store->CallSummaries(run->id);
    for (const CallRecord& one : calls)
      if (one.status == "answered") known.insert("call " + one.key);
    const std::vector<CandidateRecord> candidates = *store->CandidateSummaries(run->id);
    for (const CandidateRecord& one : candidates)
      if (one.judged()) known.insert("verdict on " + one.key);
    const std::vector<DecisionRecord> decisions = *store->Decisions(run->id);
    for (const DecisionRecord& one : decisions)
      if (StartsWith(one.key, "confirm:")) known.insert("second verdict on " + one.key.substr(8));
    return known;
  }

  // Checks the integrity of the database.
  std::string Integrity() const {
    const std::unique_ptr<RunStore> store = Open();
    Statement check(store->store().handle(), "PRAGMA integrity_check");
    if (!check.ok() || check.Step() != SQLITE_ROW) return "cannot be read";
    return check.Text(0);
  }

  // All requests, candidates and decisions, and every file of the run without a time of day.
  std::multiset<std::string> Rows() const {
    const std::unique_ptr<RunStore> store = Open();
    const RunRecord run = *store->FindRun("run");
    std::multiset<std::string> rows = {
        fmt::format("{} {} {:.6f} {} {}", run.status, run.best_key, run.vs_best, run.result, run.outcome)};
    const std::vector<CandidateRecord> candidates = *store->Candidates(run.id);
    for (const CandidateRecord& one : candidates)
      rows.insert(fmt::format("{} ({}) < {} + {}: {} {} {} {} {}", one.key, one.phase, one.parent_key,
                              one.other_parent_key, one.verdict, one.reason, one.vs_best, one.sha256,
                              Sha256(one.json)));
    const std::vector<CallRecord> calls = *store->Calls(run.id);
    for (const CallRecord& one : calls)
      rows.insert(fmt::format("{} {} {} {} {} ${}", one.key, one.status, Sha256(one.system + one.prompt),
                              Sha256(one.reply), one.total(), one.cost_usd));
    const std::vector<DecisionRecord> decisions = *store->Decisions(run.id);
    for (const DecisionRecord& one :
         decisions)  // those on the second judgement and the expert contain seconds
      rows.insert(one.key == "expert_time"
                      ? one.key
                      : one.key + " " + one.text + " " + (one.phase == "confirm" ? "" : one.json));
    rows.insert(fmt::format("${:.9f}", store->Usage(run.id)->cost_usd));
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder_.path() / "run"))
      if (file.is_regular_file()) rows.insert(FileRow(file.path()));
    return rows;
  }

  // All prompts in one text.
  std::string Prompts() const {
    const std::unique_ptr<RunStore> store = Open();
    const std::vector<CallRecord> calls = *store->Calls(store->FindRun("run")->id);
    std::string all;
    for (const CallRecord& one : calls) all += one.prompt + "\n";
    return all;
  }

  fs::path log() const { return folder_.path() / "asked.log"; }

 private:
  std::unique_ptr<RunStore> Open() const { return std::move(*RunStore::Open(folder_.path() / "hone.db")); }

  std::string FileRow(const fs::path& path) const {
    const std::string name = path.lexically_relative(folder_.path() / "run").string();
    const bool timed = name == "run.json" || name == "usage.csv" || name == "console.log";
    const std::string content = *ReadFile(path);
    if (timed) return name + (name == "usage.csv" ? fmt::format(" {} lines", Lines(content).size()) : "");
    return name + " " + Sha256(content);
  }

  const TempFolder folder_;
  std::vector<std::string> words_;
};

// Searches that make one call at a time up to a budget of calls or money, and searches that run three steps
// in parallel threads until nothing improves.
struct Search {
  const char* name;
  int breadth;
  int calls;
  double usd;
  int patience;
  const char* proposer;
  std::vector<std::string> seed_from;
  int replies;
  std::vector<std::string> has;  // text in rows of the undisturbed run
};
class KilledAtRandom : public testing::TestWithParam<Search> {};

INSTANTIATE_TEST_SUITE_P(
    Searches, KilledAtRandom,
    testing::Values(
        Search{"OneByOne", 1, 40, 0, 1000, "llm", {}, 1, {"(mended)", "(tuned)", "(combine)", "(mend)"}},
        Search{"SideBySide",
               3,
               0,
               0,
               9,
               "llm",
               {},
               1,
               {"(mended)", "(tuned)", "(combine)", "(mend)", "judged again with other seeds: rejected"}},
        Search{"Money", 1, 0, 0.6, 1000, "llm", {}, 1, {"the budget of $0.6 is spent", "(combine)"}},
        Search{"ExpertAndModel", 1, 20, 0, 1000, "expert+llm", {}, 1, {"(expert)", "(improve)"}},
        Search{"SeedFrom", 3, 0, 0, 6, "llm", {"earlier"}, 1, {"from.earlier.seed2 (inherited)"}},
        Search{"Replies", 1, 14, 0, 1000, "llm", {}, 3, {"~2 (", "~3 ("}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(KilledAtRandom, TheRecordIsThatOfAnUndisturbedRun) {
  RunOptions options;
  options.proposer = GetParam().proposer;
  options.search = "population";
  options.breadth = GetParam().breadth;
  options.budget.usd = GetParam().usd;
  options.seed_from = GetParam().seed_from;
  options.replies = GetParam().replies;
  options.patience = GetParam().patience;
  options.budget.calls = GetParam().calls;
  const Sittings undisturbed(options);
  ASSERT_TRUE(undisturbed.Sit());
  const std::multiset<std::string> wanted = undisturbed.Rows();
  ASSERT_EQ(AskedAgain(undisturbed.log()), 0);
  for (const std::string& kind : GetParam().has)
    EXPECT_TRUE(std::any_of(wanted.begin(), wanted.end(),
                            [&](const std::string& row) { return Contains(row, kind); }))
        << "the undisturbed run has nothing with " << kind;
  const std::string prompts = undisturbed.Prompts();
  EXPECT_TRUE(Contains(prompts, ", bound by memory, ") || Contains(prompts, ", near the floor, "))
      << "no kind is told from another by its bottleneck";

  const uint64_t seed = KillSeed();
  SCOPED_TRACE(fmt::format("HONE_KILL_SEED={}", seed));
  Random random(seed);
  int kills = 0;
  int in_a_resume = 0;
  int runs = 0;
  std::set<size_t> known_at_kills;
  for (; kills < kKills && !HasFailure(); ++runs) {
    const Sittings run(options);
    int killed = 0;
    std::map<std::string, int> asked;
    std::set<std::string> known;
    while (run.SitAndBeKilled(undisturbed.LogLength(), &random)) {
      ++killed;
      in_a_resume += killed > 1 && run.begun() ? 1 : 0;
      EXPECT_EQ(run.Integrity(), "ok");
      // The store's knowledge before this session must not be requested again.
      const std::map<std::string, int> now = CountLines(run.log());
      for (const std::string& what : known) EXPECT_EQ(TimesIn(now, what), TimesIn(asked, what)) << what;
      asked = now;
      known = run.Known();
      known_at_kills.insert(known.size());
    }
    kills += killed;
    const std::map<std::string, int> now = CountLines(run.log());
    for (const std::string& what : known) EXPECT_EQ(TimesIn(now, what), TimesIn(asked, what)) << what;
    const std::multiset<std::string> found = run.Rows();
    EXPECT_THAT(Without(found, wanted), testing::IsEmpty()) << "too much, after " << killed << " kills";
    EXPECT_THAT(Without(wanted, found), testing::IsEmpty()) << "missing, after " << killed << " kills";
    // Only requests that were pending at a kill, in as many threads as there are, may be repeated.
    EXPECT_LE(AskedAgain(run.log()),
              killed * std::max(options.breadth, options.breadth > 1 ? options.seeds : 1));
  }
  std::cout << fmt::format(
      "{} kills in {} runs, {} of them in a resume, at {} states of the store; HONE_KILL_SEED={}\n", kills,
      runs, in_a_resume, known_at_kills.size(), seed);
  EXPECT_GE(in_a_resume, 1);
  EXPECT_GE(known_at_kills.size(), 3u);
}

}  // namespace
}  // namespace hone

#include "store/retention.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/clock.h"

namespace hone {
namespace {

constexpr int64_t kNow = 1'800'000'000;
constexpr int64_t kDay = 86400;

struct KeptRun {
  int64_t days_old;
  const char* status;
  const char* task;
  const char* device;
  const char* best_key;
  double vs_best;
  int64_t suite_id;
};

std::vector<RunRecord> Runs(const std::vector<KeptRun>& rows) {
  std::vector<RunRecord> runs;
  for (const KeptRun& row : rows) {
    RunRecord run;
    run.id = static_cast<int64_t>(runs.size()) + 1;
    run.created = UtcTimestamp(kNow - row.days_old * kDay - 60);
    run.finished = run.created;
    run.status = row.status;
    run.task = row.task;
    run.device = row.device;
    run.best_key = row.best_key;
    run.vs_best = row.vs_best;
    run.suite_id = row.suite_id;
    runs.push_back(run);
  }
  return runs;
}

std::vector<std::string> Names(const std::vector<Kept>& plan) {
  std::vector<std::string> names;
  for (const Kept kept : plan) names.emplace_back(KeptName(kept));
  return names;
}

TEST(Retention, KeepsWhatRunsWhatIsYoungTheBestAndSuites) {
  const std::vector<RunRecord> runs = Runs({
      {90, "running", "gru", "cpu", "", 0, 0},
      {3, "done", "gru", "cpu", "", 0, 0},
      {90, "done", "gru", "cpu", "seed0", 2, 0},
      {90, "done", "gru", "cpu", "seed1", 3, 0},
      {90, "done", "gru", "H200", "seed0", 1.5, 0},
      {90, "done", "lstm", "cpu", "", 0, 0},
      {90, "done", "lstm", "cpu", "", 0, 7},
  });
  EXPECT_EQ(Names(PlanRuns(runs, {1}, {kNow, 30, false})),
            (std::vector<std::string>{"running", "too new", "", "best of its task and device",
                                      "best of its task and device", "", "member of a suite"}));
  EXPECT_EQ(PlanRuns(runs, {1}, {kNow, 30, true}).back(), Kept::kNot);
}

TEST(Retention, AMemberThatWasNotStartedYetIsNotTakenForLeftBehind) {
  const std::vector<RunRecord> runs = Runs(
      {{0, "running", "a", "", "", 0, 0}, {2, "running", "b", "", "", 0, 0}, {0, "done", "c", "", "", 0, 0}});
  EXPECT_EQ(PlanRuns(runs, {}, {kNow, 0, true}),
            (std::vector<Kept>{Kept::kUnfinished, Kept::kNot, Kept::kNot}));
}

TEST(Retention, ZeroDaysTakesWhatWasMadeThisVerySecond) {
  RunRecord run;
  run.id = 1;
  run.status = "done";
  run.created = run.finished = UtcTimestamp(kNow);
  EXPECT_EQ(PlanRuns({run}, {}, {kNow, 0, false}), std::vector<Kept>{Kept::kNot});
  VerdictRecord verdict;
  verdict.created = UtcTimestamp(kNow);
  EXPECT_EQ(PlanVerdicts({verdict}, {kNow, 0, false}), std::vector<Kept>{Kept::kNot});
}

TEST(Retention, OtherSourceUnderTheSameNameIsAnotherTask) {
  std::vector<RunRecord> runs =
      Runs({{90, "done", "t", "cpu", "seed0", 2, 0}, {90, "done", "t", "cpu", "seed0", 3, 0}});
  runs[0].task_sha256 = "one";
  runs[1].task_sha256 = "two";
  EXPECT_EQ(PlanRuns(runs, {}, {kNow, 30, false}), (std::vector<Kept>{Kept::kBest, Kept::kBest}));
}

TEST(Retention, OfVerdictsTheBestAcceptedOfEachTaskAndDeviceStays) {
  std::vector<VerdictRecord> verdicts;
  for (const auto& [days, verdict, speed] : std::vector<std::tuple<int, const char*, double>>{
           {90, "accepted", 2}, {90, "rejected", 9}, {90, "accepted", 1.5}, {1, "rejected", 0}}) {
    VerdictRecord one;
    one.created = UtcTimestamp(kNow - days * kDay);
    one.task = "gru";
    one.verdict = verdict;
    one.vs_best = speed;
    verdicts.push_back(one);
  }
  EXPECT_EQ(PlanVerdicts(verdicts, {kNow, 30, false}),
            (std::vector<Kept>{Kept::kBest, Kept::kNot, Kept::kNot, Kept::kYoung}));
}

TEST(Retention, CompactingGivesWayToWhoeverWrites) {
  const TempFolder folder = *TempFolder::Make("hone-retention-");
  const std::unique_ptr<RunStore> store = std::move(*RunStore::Open(folder.path() / "hone.db"));
  SuiteRecord suite;
  suite.name = "s";
  ASSERT_TRUE(store->AddSuite(suite).ok());
  EXPECT_EQ(*DeleteEmptySuites(*store, "2026"), 1);
  EXPECT_TRUE(*CompactStore(*store));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((folder.path() / "hone.db").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const Result<bool> gave_way = CompactStore(*store);
  ASSERT_TRUE(gave_way.ok()) << gave_way.error().message;
  EXPECT_FALSE(*gave_way);
  sqlite3_close(other);
  EXPECT_TRUE(*CompactStore(*store));
}

}  // namespace
}  // namespace hone

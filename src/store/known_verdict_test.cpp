#include "store/known_verdict.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "store/run_store.h"
#include "verdict/verdict.h"

namespace hone {
namespace {

const std::string kKey(64, 'a');
const std::string kOtherKey(64, 'b');

class KnownVerdictTest : public testing::Test {
 protected:
  KnownVerdictTest()
      : folder_(*TempFolder::Make("hone-known-")), store_(*Store::Open(folder_.path() / "hone.db")) {}

  int64_t Save(const std::string& task, const std::string& verdict, const std::string& reason,
               const Json& provenance) {
    VerdictRecord record;
    record.created = "2026-01-31T23:59:59Z";
    record.task = task;
    record.verdict = verdict;
    record.reason = reason;
    record.json = DumpJson(Json{{"verdict", verdict},
                                {"reason", reason},
                                {"speedup", {{"ci95", Json::array({0.98, 1.03})}}},
                                {"provenance", provenance}});
    return *store_.Save(record);
  }
  // Returns "V" and the id of the verdict found.
  std::string Found(const std::string& task, const std::string& key) {
    const Result<std::optional<KnownVerdict>> known = FindKnownAnywhere(store_, task, "bytes", key);
    EXPECT_TRUE(known.ok());
    return known.ok() && *known ? (*known)->where : "nothing";
  }

  TempFolder folder_;
  Store store_;
};

TEST_F(KnownVerdictTest, FindsTheNewestOfTheSameConditionsAndTask) {
  EXPECT_EQ(Found("gru", kKey), "nothing");
  Save("gru", "accepted", "faster", {{"conditions", kKey}});
  const int64_t newest = Save("gru", "no_difference", "no-difference", {{"conditions", kKey}});
  Save("gru", "accepted", "faster", {{"conditions", kOtherKey}});
  EXPECT_EQ(Found("gru", kKey), fmt::format("V{}", newest));
  EXPECT_EQ(Found("lstm", kKey), "nothing");
  EXPECT_EQ(Found("gru", std::string(64, 'c')), "nothing");
  EXPECT_EQ(Found("gru", ""), "nothing");
}

TEST_F(KnownVerdictTest, PassesOverWhatAnotherAttemptMayChange) {
  const int64_t settled = Save("gru", "rejected", "wrong-output", {{"conditions", kKey}});
  Save("gru", "rejected", "timeout", {{"conditions", kKey}});
  Save("gru", "inconclusive", "noisy", {{"conditions", kKey}});
  EXPECT_EQ(Found("gru", kKey), fmt::format("V{}", settled));
}

TEST_F(KnownVerdictTest, AHashInAnotherFieldIsNotTheConditions) {
  Save("gru", "accepted", "faster", {{"note", kKey}});
  Save("gru", "accepted", "faster", {});
  EXPECT_EQ(Found("gru", kKey), "nothing");
}

bool Settled(const std::string& verdict, const std::string& reason, const Json& speedup = nullptr) {
  return IsSettled(Json{{"verdict", verdict}, {"reason", reason}, {"speedup", speedup}});
}

TEST(IsSettled, OnlyWhatTheNextAttemptWouldRepeat) {
  EXPECT_TRUE(Settled("accepted", "faster"));
  for (const char* verdict : {"inconclusive", "cannot_judge", "void", ""})
    EXPECT_FALSE(Settled(verdict, "any"));
  for (const char* reason :
       {"timeout", "crashed", "out-of-memory", "unsynchronised", "too-fast", "escaped", "import-failed",
        "slower", "stale-result", "nondeterministic", "some-new-reason"})
    EXPECT_FALSE(Settled("rejected", reason)) << reason;
  int settled = 0;
  for (const std::string& reason : RejectReasons()) settled += Settled("rejected", reason) ? 1 : 0;
  EXPECT_EQ(settled, 9) << "a reason was renamed or added; decide whether it may be reused";
}

TEST(IsSettled, TheDocsNameEveryRejectionThatIsNotReused) {
  const Result<std::string> page = ReadFile(fs::path(HONE_SOURCE_DIR) / "docs" / "COMMANDS.md");
  ASSERT_TRUE(page.ok());
  const size_t begin = page->find("## Stored verdicts");
  const std::string section = page->substr(begin, page->find("\n## ", begin) - begin);
  for (const std::string& reason : RejectReasons())
    EXPECT_EQ(Contains(section, "`" + reason + "`"), !Settled("rejected", reason)) << reason;
  for (const char* verdict : {"inconclusive", "cannot_judge"})
    EXPECT_TRUE(Contains(section, std::string("`") + verdict + "`")) << verdict;
}

TEST(IsSettled, NoDifferenceCountsWhereItWasMeasuredPrecisely) {
  const auto interval = [](double low, double high) { return Json{{"ci95", Json::array({low, high})}}; };
  EXPECT_TRUE(Settled("no_difference", "no-difference", interval(0.97, 1.04)));
  EXPECT_FALSE(Settled("no_difference", "no-difference", interval(0.73, 1.96)));
  EXPECT_FALSE(Settled("no_difference", "no-difference"));
  EXPECT_TRUE(Settled("no_difference", "speed-not-judged"));
}

TEST_F(KnownVerdictTest, ARunsVerdictIsFoundByBytesAndConditionsAndNamesItsOrigin) {
  std::unique_ptr<RunStore> runs = std::move(*RunStore::Open(folder_.path() / "hone.db"));
  RunRecord run;
  run.name = "first";
  const int64_t id = *runs->AddRun(run);
  const auto keep = [&](const std::string& key, const std::string& verdict, const Json& more) {
    CandidateRecord one;
    one.run_id = id;
    one.key = key;
    one.created = "2026-01-31T23:59:59Z";
    one.sha256 = "bytes";
    Json record = {{"verdict", verdict}, {"provenance", {{"conditions", kKey}}}};
    record.update(more);
    one.json = DumpJson(record);
    ASSERT_TRUE(runs->SaveCandidate(one).ok());
  };
  const auto found = [&](const std::string& sha256, const std::string& key) {
    const Result<std::optional<KnownVerdict>> known = FindKnownAnywhere(store_, "gru", sha256, key);
    EXPECT_TRUE(known.ok());
    return known.ok() && *known ? (*known)->where : std::string();
  };
  keep("crashed", "rejected", {{"reason", "crashed"}});
  EXPECT_EQ(found("bytes", kKey), "") << "a crash is tried again";
  keep("seed0", "accepted", Json::object());
  EXPECT_EQ(found("bytes", kKey), fmt::format("R{} seed0", id));
  EXPECT_EQ(found("other bytes", kKey), "");
  EXPECT_EQ(found("bytes", kOtherKey), "");
  EXPECT_EQ(found("bytes", ""), "");
  keep("predicted", "rejected", {{"reason", "build-failed"}, {"gates", {{"lint", "fail"}}}});
  EXPECT_EQ(found("bytes", kKey), fmt::format("R{} predicted", id));
  const auto judged = FindKnownAnywhere(store_, "gru", "bytes", kKey, LintOnly::kDoesNot);
  ASSERT_TRUE(judged.ok() && *judged);
  EXPECT_EQ((*judged)->where, fmt::format("R{} seed0", id)) << "a prediction is no answer to `hone bench`";
  keep("seed1", "accepted", {{"from_store", {{"id", "R1 seed7"}, {"created", "then"}}}});
  EXPECT_EQ(found("bytes", kKey), "R1 seed7");
  const int64_t bench = Save("gru", "accepted", "faster", {{"conditions", kOtherKey}});
  EXPECT_EQ(found("bytes", kOtherKey), fmt::format("V{}", bench));
}

}  // namespace
}  // namespace hone

// Compares reports about recorded runs of every branch of the pipeline (reports/NAME.json, made by
// reports/freeze.py) byte by byte: NAME.txt, NAME.md, NAME.explain.json and NAME.zh.txt. HONE_UPDATE_GOLDEN=1
// writes them.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "report/comparison.h"
#include "report/counterfactual.h"
#include "report/explanation_words.h"
#include "report/html_report.h"
#include "report/record_facts.h"
#include "report/record_walk.h"
#include "store/record_io.h"

namespace hone {
namespace {

const fs::path kFolder = fs::path(HONE_SOURCE_DIR) / "tests" / "golden" / "reports";

RunStory ReadFrozen(const std::string& name) {
  const Result<std::string> text = ReadFile(kFolder / (name + ".json"));
  const Result<Json> json = ParseJson(text.ok() ? *text : "");
  EXPECT_TRUE(json.ok()) << name;
  RunStory story;
  if (!json.ok()) return story;
  // Rows as in the store. Columns that hold JSON are stored as JSON, so that people can read them.
  story.run = RecordFromJson<RunRecord>(GetMember(*json, "run"), Names::kColumns);
  for (const Json& row : GetMember(*json, "candidates"))
    story.candidates.push_back(RecordFromJson<CandidateRecord>(row, Names::kColumns));
  for (const Json& row : GetMember(*json, "calls"))
    story.calls.push_back(RecordFromJson<CallRecord>(row, Names::kColumns));
  for (const Json& row : GetMember(*json, "decisions"))
    story.decisions.push_back({GetString(row, "key"), GetString(row, "created"), GetString(row, "phase"),
                               GetString(row, "text"), DumpJson(GetMember(row, "json"))});
  for (const CallRecord& call : story.calls) AddCall(call, &story.usage);
  return story;
}

void ExpectGolden(const std::string& file, const std::string& found) {
  const fs::path path = kFolder / file;
  if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomic(path, found).ok());
    return;
  }
  const Result<std::string> expected = ReadFile(path);
  ASSERT_TRUE(expected.ok()) << path << ": write it with HONE_UPDATE_GOLDEN=1";
  EXPECT_EQ(found, *expected) << file << " differs; if it should, HONE_UPDATE_GOLDEN=1 writes it anew";
}

std::vector<std::string> FrozenRuns() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    if (EndsWith(name, ".json") && !EndsWith(name, ".explain.json"))
      names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class FrozenRun : public testing::TestWithParam<std::string> {};

TEST_P(FrozenRun, IsExplainedTheSameWayAgain) {
  const Explanation told = Explain(ReadFrozen(GetParam()));
  ExpectGolden(GetParam() + ".txt", ExplanationDocument(told, ReportLanguage::kEnglish).Text(Style(false)));
  ExpectGolden(GetParam() + ".md", ExplanationDocument(told, ReportLanguage::kEnglish).Markdown());
  ExpectGolden(GetParam() + ".zh.txt",
               ExplanationDocument(told, ReportLanguage::kChinese).Text(Style(false)));
  ExpectGolden(GetParam() + ".explain.json", DumpJson(ToJson(told, ReportLanguage::kEnglish), 2) + "\n");
}

// The counterfactuals rely on this: walking the run again with all parts on leads to what the run did.
TEST_P(FrozenRun, FollowsFromItsOwnOptions) {
  const RunStory story = ReadFrozen(GetParam());
  if (!StartsWith(story.run.proposer, "replay") && story.run.proposer != "llm")
    GTEST_SKIP() << "no such parts";
  Questions asked;
  const Walked walked = WalkOwnWay(story, RunOptionsFromJson(ParsedOrNull(story.run.options)), &asked);
  std::set<std::string> judged;
  for (const CandidateRecord& one : story.candidates)
    if (one.phase != "zero" && one.judged()) judged.insert(one.key);
  EXPECT_EQ(walked.candidates, judged);
  if (story.run.status == "done") {
    EXPECT_TRUE(walked.unknown.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Reports, FrozenRun, testing::ValuesIn(FrozenRuns()),
                         [](const auto& info) { return info.param; });

// What `hone show --verbose` and `hone report --md` print of operators, parents, repairs and cost.
TEST(FrozenRuns, ASearchIsShownTheSameWayAgain) {
  const RunStory story = ReadFrozen("population");
  ExpectGolden("population.show.txt", RunText(story, Style(false), true));
  ExpectGolden("population.report.md", RunMarkdown({story, story.calls}));
}

TEST(FrozenRuns, AreComparedTheSameWayAgain) {
  std::vector<RunStory> stories = {ReadFrozen("algorithm_fails"), ReadFrozen("algorithm_wins")};
  stories[1].run.id = 8;
  const RunComparison compared = CompareRuns(stories);
  ExpectGolden("compare_runs.txt", ComparisonDocument(compared, ReportLanguage::kEnglish).Text(Style(false)));
  ExpectGolden("compare_runs.zh.txt",
               ComparisonDocument(compared, ReportLanguage::kChinese).Text(Style(false)));
  const RunStory tuned = ReadFrozen("tuning");
  ASSERT_GE(tuned.candidates.size(), 4U);
  const CandidateComparison two =
      CompareCandidates(tuned.run, tuned.candidates[1], tuned.run, tuned.candidates[3]);
  ExpectGolden("compare_candidates.txt",
               ComparisonDocument(two, ReportLanguage::kEnglish).Text(Style(false)));
  ExpectGolden("compare_candidates.md", ComparisonDocument(two, ReportLanguage::kEnglish).Markdown());
}

}  // namespace
}  // namespace hone

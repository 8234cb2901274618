#include "report/mending_story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/run_options.h"
#include "report/explanation_words.h"
#include "report/html_report.h"
#include "report/report_fixture.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

// A hand-made run in which four candidates were repaired.
class MendedRun {
 public:
  MendedRun() {
    RunOptions options;
    options.proposer = "llm";
    options.repairs = 2;
    story_.run.options = DumpJson(ToJson(options));
    story_.run.task = "39_GRU";
    story_.run.proposer = "llm";
    story_.run.status = "done";
    Add("zero", "", "zero", 1);
    Add("seed0", "", "seed", 0);
    Mend("seed0", 1.5, {"unknown-triton-op", "name-not-defined"});
    Add("seed0~2", "", "seed", 0);
    Mend("seed0~2", 1.2, {"unknown-triton-op"});  // of the same call: one repair would have followed
    Add("seed1", "", "seed", 0);
    Mend("seed1", 0, {"syntax"});
    Add("seed1.repair1", "seed1.mended", "seed_repair", 0);
    Add("seed1.repair2", "seed1.repair1", "seed_repair", 0);
    Mend("seed1.repair2", 1.1, {"syntax"});  // no repair was left
    Add("gen1.improve", "seed0.mended", "improve", 0);
    Mend("gen1.improve", 2, {"unmasked-access"});  // the search might never have repaired it
  }
  const RunStory& story() const { return story_; }
  RunStory& story() { return story_; }

 private:
  void Add(const std::string& key, const std::string& parent, const std::string& phase, double speed) {
    const char* verdict = phase == "zero" ? "baseline" : speed > 1 ? "accepted" : "rejected";
    story_.candidates.push_back(
        FixtureCandidate(key, parent, phase, verdict, speed > 0 ? "faster" : "crashed", speed));
  }
  void Mend(const std::string& key, double speed, const std::vector<std::string>& rules) {
    Json fixes = Json::array();
    for (const std::string& rule : rules) fixes.push_back({{"rule", rule}, {"line", 3}});
    story_.decisions.push_back({key + ".mended", "", "mended", "mended", DumpJson(fixes)});
    Add(key + ".mended", key, "mended", speed);
  }

  RunStory story_;
};

MendingUse UseOf(const RunStory& story) {
  return MendingOf(story.run, story.candidates, story.decisions);
}

TEST(MendingStory, CountsCandidatesFixesAndCallsThatWereNotNeeded) {
  const MendedRun run;
  const MendingUse use = UseOf(run.story());
  EXPECT_EQ(use.mended, 5);
  EXPECT_EQ(use.right, 4);
  EXPECT_EQ(use.calls_saved, 1);
  EXPECT_EQ(MendingWords(use),
            "5 candidates mended, 4 of them right, 1 model call saved; fixes: syntax 2, "
            "unknown-triton-op 2, name-not-defined 1, unmasked-access 1");
  EXPECT_EQ(DumpJson(Json(ToJson(use))),
            R"({"calls_saved":1,"fixes":{"name-not-defined":1,"syntax":2,"unknown-triton-op":2,)"
            R"("unmasked-access":1},"mended":5,"right":4})");
}

TEST(MendingStory, WithoutRepairsNoCallWasSpared) {
  MendedRun run;
  RunOptions options;
  options.repairs = 0;
  run.story().run.options = DumpJson(ToJson(options));
  EXPECT_EQ(UseOf(run.story()).calls_saved, 0);
}

TEST(MendingStory, StandsInEveryReportOfTheRun) {
  const MendedRun run;
  EXPECT_THAT(RunText(run.story(), kOneLine, false),
              HasSubstr("mechanically: 5 candidates mended, 4 of them right"));
  EXPECT_THAT(RunHtml({run.story(), {}}), HasSubstr("5 candidates mended, 4 of them right"));
  EXPECT_THAT(RunMarkdown({run.story(), {}}), HasSubstr("Mechanical repair: 5 candidates mended"));
  const Explanation told = Explain(run.story());
  const std::string english = ExplanationDocument(told, ReportLanguage::kEnglish).Text(kOneLine);
  EXPECT_THAT(english, HasSubstr("Mechanical repair"));
  EXPECT_THAT(english, HasSubstr("Candidates mended without a model: 5. Right afterwards: 4. Model "
                                 "calls saved: 1."));
  EXPECT_THAT(english, testing::ContainsRegex("unknown-triton-op +2"));
  const std::string chinese = ExplanationDocument(told, ReportLanguage::kChinese).Text(kOneLine);
  EXPECT_THAT(chinese, HasSubstr("未经模型修复的候选：5 个；修复后正确：4 个；省去的模型调用：1 次。"));
  EXPECT_EQ(ToJson(told, ReportLanguage::kEnglish)["mending"]["fixes"]["syntax"], 2);
}

TEST(MendingStory, ARunWithoutMendingSaysNothingOfIt) {
  MendedRun run;
  std::erase_if(run.story().candidates, [](const CandidateRecord& one) { return one.phase == "mended"; });
  run.story().decisions.clear();
  EXPECT_FALSE(UseOf(run.story()).any());
  EXPECT_TRUE(ToJson(UseOf(run.story())).is_null());
  EXPECT_THAT(RunText(run.story(), kOneLine, false), Not(HasSubstr("mended")));
  EXPECT_THAT(RunHtml({run.story(), {}}), Not(HasSubstr("mechanical repair")));
  EXPECT_THAT(ExplanationDocument(Explain(run.story()), ReportLanguage::kEnglish).Text(kOneLine),
              Not(HasSubstr("Mechanical repair")));
}

}  // namespace
}  // namespace hone

// Reports about frozen runs of every branch of the pipeline (reports/NAME.json, made by reports/freeze.py),
// compared letter by letter: NAME.txt, NAME.md, NAME.explain.json and NAME.zh.txt. HONE_UPDATE_GOLDEN=1
// writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "report/comparison.h"
#include "report/counterfactual.h"
#include "report/explanation_words.h"
#include "report/record_facts.h"

namespace hone {
namespace {

const fs::path kFolder = fs::path(HONE_SOURCE_DIR) / "tests" / "golden" / "reports";

// Columns that hold JSON are frozen as JSON, for people to read.
std::string Column(const Json& row, const char* name) {
  const Json& value = GetMember(row, name);
  return value.is_string() ? value.get<std::string>() : DumpJson(value);
}

RunRecord ReadRun(const Json& row) {
  RunRecord run;
  run.id = GetInt(row, "id");
  for (const auto& [name, field] :
       std::initializer_list<std::pair<const char*, std::string*>>{{"name", &run.name},
                                                                   {"created", &run.created},
                                                                   {"finished", &run.finished},
                                                                   {"status", &run.status},
                                                                   {"task", &run.task},
                                                                   {"task_path", &run.task_path},
                                                                   {"task_sha256", &run.task_sha256},
                                                                   {"task_source", &run.task_source},
                                                                   {"target", &run.target},
                                                                   {"device", &run.device},
                                                                   {"proposer", &run.proposer},
                                                                   {"model", &run.model},
                                                                   {"folder", &run.folder},
                                                                   {"options", &run.options},
                                                                   {"card", &run.card},
                                                                   {"outcome", &run.outcome},
                                                                   {"best_key", &run.best_key}})
    *field = Column(row, name);
  run.vs_best = GetNumber(row, "vs_best");
  run.vs_eager = GetNumber(row, "vs_eager");
  run.seconds = GetNumber(row, "seconds");
  return run;
}

CandidateRecord ReadCandidate(const Json& row) {
  CandidateRecord one;
  for (const auto& [name, field] :
       std::initializer_list<std::pair<const char*, std::string*>>{{"key", &one.key},
                                                                   {"parent_key", &one.parent_key},
                                                                   {"phase", &one.phase},
                                                                   {"proposer", &one.proposer},
                                                                   {"title", &one.title},
                                                                   {"created", &one.created},
                                                                   {"source", &one.source},
                                                                   {"sha256", &one.sha256},
                                                                   {"kernel_class", &one.kernel_class},
                                                                   {"findings", &one.findings},
                                                                   {"facts", &one.facts},
                                                                   {"verdict", &one.verdict},
                                                                   {"reason", &one.reason},
                                                                   {"detail", &one.detail},
                                                                   {"kind", &one.kind},
                                                                   {"json", &one.json}})
    *field = Column(row, name);
  for (const auto& [name, field] :
       std::initializer_list<std::pair<const char*, double*>>{{"predicted_us", &one.predicted_us},
                                                              {"vs_best", &one.vs_best},
                                                              {"ci_low", &one.ci_low},
                                                              {"ci_high", &one.ci_high},
                                                              {"vs_eager", &one.vs_eager},
                                                              {"candidate_us", &one.candidate_us},
                                                              {"error", &one.error},
                                                              {"error_limit", &one.error_limit},
                                                              {"seconds", &one.seconds}})
    *field = GetNumber(row, name);
  return one;
}

CallRecord ReadCall(const Json& row) {
  CallRecord call;
  call.key = GetString(row, "key");
  call.created = GetString(row, "created");
  call.call_type = GetString(row, "call_type");
  call.status = GetString(row, "status");
  call.model = GetString(row, "model");
  call.reply = GetString(row, "reply");
  call.error = GetString(row, "error");
  call.prompt_tokens = GetInt(row, "prompt_tokens");
  call.completion_tokens = GetInt(row, "completion_tokens");
  call.estimated = GetInt(row, "estimated") != 0;
  call.cost_usd = GetNumber(row, "cost_usd");
  call.price_known = GetInt(row, "price_known") != 0;
  call.seconds = GetNumber(row, "seconds");
  return call;
}

RunStory ReadFrozen(const std::string& name) {
  const Result<std::string> text = ReadFile(kFolder / (name + ".json"));
  const Result<Json> json = ParseJson(text.ok() ? *text : "");
  EXPECT_TRUE(json.ok()) << name;
  RunStory story;
  if (!json.ok()) return story;
  story.run = ReadRun(GetMember(*json, "run"));
  for (const Json& row : GetMember(*json, "candidates")) story.candidates.push_back(ReadCandidate(row));
  for (const Json& row : GetMember(*json, "calls")) story.calls.push_back(ReadCall(row));
  for (const Json& row : GetMember(*json, "decisions"))
    story.decisions.push_back({GetString(row, "key"), GetString(row, "created"), GetString(row, "phase"),
                               GetString(row, "text"), Column(row, "json")});
  for (const CallRecord& call : story.calls) {
    ++story.usage.calls;
    story.usage.prompt_tokens += call.prompt_tokens;
    story.usage.completion_tokens += call.completion_tokens;
    story.usage.cost_usd += call.cost_usd;
    story.usage.estimated = story.usage.estimated || call.estimated;
    story.usage.price_known = story.usage.price_known && call.price_known;
  }
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
  ExpectGolden(GetParam() + ".txt", ExplanationDocument(told, Language::kEnglish).Text(Style(false)));
  ExpectGolden(GetParam() + ".md", ExplanationDocument(told, Language::kEnglish).Markdown());
  ExpectGolden(GetParam() + ".zh.txt", ExplanationDocument(told, Language::kChinese).Text(Style(false)));
  ExpectGolden(GetParam() + ".explain.json", DumpJson(ToJson(told, Language::kEnglish), 2) + "\n");
}

// What the counterfactuals rest on: walking again with nothing switched off leads to what the run did.
TEST_P(FrozenRun, FollowsFromItsOwnOptions) {
  const RunStory story = ReadFrozen(GetParam());
  if (!StartsWith(story.run.proposer, "replay") && story.run.proposer != "llm")
    GTEST_SKIP() << "no such parts";
  const Walked walked = WalkAgain(story, RunOptionsFromJson(ParsedOrNull(story.run.options)));
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

TEST(FrozenRuns, AreComparedTheSameWayAgain) {
  std::vector<RunStory> stories = {ReadFrozen("algorithm_fails"), ReadFrozen("algorithm_wins")};
  stories[1].run.id = 8;
  const RunComparison compared = CompareRuns(stories);
  ExpectGolden("compare_runs.txt", ComparisonDocument(compared, Language::kEnglish).Text(Style(false)));
  ExpectGolden("compare_runs.zh.txt", ComparisonDocument(compared, Language::kChinese).Text(Style(false)));
  const RunStory tuned = ReadFrozen("tuning");
  ASSERT_GE(tuned.candidates.size(), 4U);
  const CandidateComparison two =
      CompareCandidates(tuned.run, tuned.candidates[1], tuned.run, tuned.candidates[3]);
  ExpectGolden("compare_candidates.txt", ComparisonDocument(two, Language::kEnglish).Text(Style(false)));
  ExpectGolden("compare_candidates.md", ComparisonDocument(two, Language::kEnglish).Markdown());
}

}  // namespace
}  // namespace hone

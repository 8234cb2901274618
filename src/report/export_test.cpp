#include "report/export.h"
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report_fixture.h"

namespace hone {
namespace {

Json Results(const std::vector<ExportFile>& files) {
  return *ParseJson(files.back().content);
}

TEST(Export, ATaskFromKernelBenchSaysItsLevelAndNumber) {
  RunRecord run;
  run.task_path = "/k/KernelBench/level3/39_GRU.py";
  EXPECT_EQ(ProblemOf(run).level, 3);
  EXPECT_EQ(ProblemOf(run).problem, 39);
  run.task_path = "/tasks/small_gru.py";
  EXPECT_EQ(ProblemOf(run).level, 0);
  EXPECT_EQ(ProblemOf(run).problem, 0);
}

TEST(Export, SampleZeroIsTheRunsAnswer) {
  const std::vector<ExportFile> files = KernelBenchFiles(FixtureRun().story, {3, 39});
  ASSERT_EQ(files.size(), 6u);
  EXPECT_EQ(files[0].name, "level_3_problem_39_sample_0_kernel.py");
  EXPECT_THAT(files[0].content, testing::HasSubstr("# seed0.repair1"));
  EXPECT_EQ(files[1].name, "level_3_problem_39_sample_1_kernel.py");
  EXPECT_THAT(files[1].content, testing::HasSubstr("# seed0\n"));
  EXPECT_EQ(files.back().name, "eval_results.json");
}

TEST(Export, ResultsHaveTheFieldsThatKernelBenchReads) {
  const Json results = Results(KernelBenchFiles(FixtureRun().story, {3, 39}));
  const Json& samples = results["39"];
  ASSERT_EQ(samples.size(), 4u);  // candidates without a verdict have no result
  EXPECT_EQ(samples[0]["sample_id"], 0);
  EXPECT_EQ(samples[0]["compiled"], true);
  EXPECT_EQ(samples[0]["correctness"], true);
  // Milliseconds, the mean of the rounds: (98 + 100 + 104) / 3 us.
  EXPECT_NEAR(samples[0]["runtime"].get<double>(), 0.10067, 1e-5);
  EXPECT_EQ(samples[0]["runtime_stats"]["num_trials"], 3);
  EXPECT_NEAR(samples[0]["runtime_stats"]["min"].get<double>(), 0.098, 1e-9);
  EXPECT_EQ(samples[0]["metadata"]["hone_key"], "seed0.repair1");
  EXPECT_EQ(samples[1]["correctness"], false);
  EXPECT_EQ(samples[1]["runtime"], -1.0);
}

TEST(Export, ARoundWithoutATimeIsNoTrial) {
  RunStory story = FixtureRun().story;
  for (CandidateRecord& one : story.candidates) {
    Json record = *ParseJson(one.json.empty() ? "{}" : one.json);
    if (one.key != "seed0.repair1") continue;
    record["measurement"]["timing"]["contestants"][0]["round_us"] = {-2500.0, 98.0, 102.0};
    one.json = DumpJson(record);
  }
  const Json results = Results(KernelBenchFiles(story, {3, 39}));
  EXPECT_NEAR(results["39"][0]["runtime"].get<double>(), 0.1, 1e-9);
  EXPECT_EQ(results["39"][0]["runtime_stats"]["num_trials"], 2);
}

TEST(Export, ASlowerCandidateIsCorrectAllTheSame) {
  const Json results = Results(KernelBenchFiles(FixtureRun().story, {3, 39}));
  EXPECT_EQ(results["39"][2]["metadata"]["hone_reason"], "slower");
  EXPECT_EQ(results["39"][2]["correctness"], true);
}

TEST(Export, JsonHoldsEverything) {
  const Result<Json> json = ParseJson(DumpJson(RunExport(FixtureRun(), {"line one"})));
  ASSERT_TRUE(json.ok());
  EXPECT_EQ((*json)["candidates"].size(), 6u);
  EXPECT_EQ((*json)["candidates"][2]["record"]["gates"]["build"], "pass");
  EXPECT_EQ((*json)["calls"][0]["reply"], "a reply");
  EXPECT_EQ((*json)["decisions"].size(), 1u);
  EXPECT_EQ((*json)["console"][0], "line one");
  EXPECT_EQ((*json)["run"]["best_key"], "seed0.repair1");
  EXPECT_EQ((*json)["context"]["card"]["floor_us"], 20.0);
}

}  // namespace
}  // namespace hone

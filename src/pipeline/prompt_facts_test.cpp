// What prompts are told of candidates, and from whom.
#include "pipeline/prompt_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/spine_fixture.h"

namespace hone {
namespace {

using namespace spine_fixture;
using testing::HasSubstr;
using testing::Not;

CandidateRecord Accepted(const std::string& json) {
  CandidateRecord candidate;
  candidate.verdict = "accepted";
  candidate.reason = "faster";
  candidate.vs_best = 1.4;
  candidate.candidate_us = 300;
  candidate.json = json;
  return candidate;
}

constexpr char kOnAGpu[] = R"({"measurement": {"profile": {"launches": 9, "own_us": 70, "library_us": 30,
  "kernels": [{"name": "gemm", "count": 4, "time_us": 50}, {"name": "bias", "count": 1, "time_us": 20.2},
              {"name": "copy", "count": 3, "time_us": 15}, {"name": "fill", "count": 1, "time_us": 9}]}}})";

TEST(TimeFacts, NameTheThreeLargestKernelsAndWhoSaysSo) {
  const Json facts = TimeFacts(Accepted(kOnAGpu));
  EXPECT_EQ(GetString(facts, "largest kernels and their share of the time"),
            "gemm (x4) 50%, bias 20%, copy (x3) 15%");
  EXPECT_EQ(GetString(facts, "time of all kernels"), "100 us");
  EXPECT_THAT(GetString(facts, "source"), HasSubstr("the candidate's own process"));
}

TEST(TimeFacts, OnACpuTheyAreOperators) {
  const Json facts = TimeFacts(Accepted(R"({"provenance": {"target": "cpu"}, "measurement": {"profile":
    {"own_us": 75, "library_us": 25, "kernels": [{"name": "aten::mm", "count": 1, "time_us": 25},
     {"name": "own", "count": 1, "time_us": 75}]}}})"));
  EXPECT_EQ(GetString(facts, "largest operators and their share of the time"), "own 75%, aten::mm 25%");
}

TEST(TimeFacts, WhatIsNearlyNothingIsNotNamed) {
  const Json facts = TimeFacts(Accepted(R"({"measurement": {"profile": {"own_us": 1000, "library_us": 4,
    "kernels": [{"name": "own", "count": 1, "time_us": 1000}, {"name": "fill", "count": 9, "time_us": 4}]}}})"));
  EXPECT_EQ(GetString(facts, "largest kernels and their share of the time"), "own 100%");
}

TEST(TimeFacts, CountersComeFirst) {
  const KernelProfile counters{"", {KernelMetrics{"softmax", 1, 10, 1.0, 31, 20, 50, 70, 0.5}}};
  const Json facts = TimeFacts(Accepted(kOnAGpu), counters);
  EXPECT_EQ(GetString(facts, "largest kernels and their share of the time"), "softmax 100%");
  EXPECT_THAT(GetString(facts, "source"), HasSubstr("Nsight Compute"));
  EXPECT_EQ(TimeFacts(Accepted(kOnAGpu), KernelProfile{"there is no GPU", {}}), TimeFacts(Accepted(kOnAGpu)));
}

TEST(TimeFacts, AreNoneWhereNobodySawTimes) {
  for (const char* json :
       {"", "no json", "[]", "{}", R"({"measurement": {}})", R"({"measurement": {"profile": null}})",
        R"({"measurement": {"profile": {"own_us": 70, "library_us": 30, "kernels": []}}})",
        R"({"measurement": {"profile": {"own_us": 70, "kernels": [{"name": "gemm", "count": 4}]}}})",
        R"({"measurement": {"profile": {"own_us": 70, "kernels": [{"name": "gemm", "time_us": 0}]}}})"})
    EXPECT_EQ(TimeFacts(Accepted(json)), Json(nullptr)) << json;
}

TEST(ReachedFacts, SayHowFastAndHowFarFromTheFloor) {
  CandidateRecord candidate = Accepted("");
  EXPECT_EQ(ReachedFacts(candidate, 100),
            "1.40x of the best PyTorch baseline, 300 us per call, 3 times the floor");
  EXPECT_THAT(ReachedFacts(candidate, 0.016), HasSubstr(", 18750 times the floor"));
  EXPECT_EQ(ReachedFacts(candidate, 0), "1.40x of the best PyTorch baseline, 300 us per call");
  candidate.candidate_us = 0;
  EXPECT_EQ(ReachedFacts(candidate, 100), "1.40x of the best PyTorch baseline");
  candidate.verdict = "rejected";
  candidate.reason = "wrong-output";
  EXPECT_EQ(ReachedFacts(candidate, 100), "wrong-output");
}

// The prompts of a run whose judge saw kernels: which of them say so.
class PromptsOfARun : public SpineTest {
 protected:
  std::string PromptOf(const std::string& key) {
    const std::optional<CallRecord> call = *store_->Call(run_.id, key);
    EXPECT_TRUE(call.has_value()) << key;
    return call ? call->prompt : "";
  }
  void Choose(int number, const char* op, const std::vector<std::string>& parents) {
    const Json choice = {{"operator", op}, {"parents", parents}};
    ASSERT_TRUE(store_
                    ->SaveDecision(
                        run_.id, {fmt::format("gen{}", number), "now", "search", "chosen", DumpJson(choice)})
                    .ok());
  }
};

TEST_F(PromptsOfARun, AnalysisAndAlgorithmSeeTheKernels) {
  options_.tuning = false;
  Reply("seed", CandidateText("slower 0.5", "# kernel: scan_rows\n"));
  Reply("analysis", Analysis(true));
  Reply("algorithm", CandidateText("wrong-output", "# kernel: other\n"));
  Reply("algorithm_repair", CandidateText("accepted 2"));
  Run();
  const char* const kShares = "share of the time: scan_rows (x3) 60%, copy 40%";
  EXPECT_THAT(PromptOf("seed0.analysis"), HasSubstr(kShares));
  EXPECT_THAT(PromptOf("seed0.algorithm"), HasSubstr(kShares));
  EXPECT_THAT(PromptOf("seed0.algorithm.repair1"), HasSubstr("other (x3) 60%"))
      << "of the file that it shows";
  EXPECT_THAT(PromptOf("seed0.algorithm.repair1"), Not(HasSubstr("scan_rows")));
}

TEST_F(PromptsOfARun, ARepairOfAStageDoesNotSeeTheKernelsOfAnotherFile) {
  judge_.device = "cuda";
  judge_.sm_percent = 31;
  const std::string tunable =
      "import triton\nimport triton.language as tl\nHONE_TUNE = {\"BLOCK\": [16, 32]}\nBLOCK = 16\n"
      "@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n"
      "    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)\n"
      "def go(x, y):\n    k[(4,)](x, y, x.numel(), B=BLOCK)\n";
  Reply("seed", CandidateText("accepted 2", tunable + "# kernel: k\n"));
  Reply("stage_grid", CandidateText("wrong-output", tunable));
  Reply("stage_repair", CandidateText("accepted 3", tunable));
  Run();
  EXPECT_THAT(PromptOf("tune.grid"), HasSubstr("SM throughput %: 31"));
  EXPECT_THAT(PromptOf("tune.grid.repair1"), Not(HasSubstr("SM throughput")));
}

TEST_F(PromptsOfARun, CombiningShowsTimeAndKernelsOfBothAndWhatWasMadeOfEach) {
  options_.search = "population";
  options_.seeds = 2;
  options_.breadth = 1;
  options_.budget.calls = 5;
  Reply("seed", CandidateText("accepted 2", "# kernel: first_kernel\n"));
  Reply("seed", CandidateText("accepted 1.6", "# kernel: second_kernel\n"));
  Reply("improve", CandidateText("wrong-output", "# of the first\n"));
  Reply("improve", CandidateText("no_difference 1", "# of the second\n"));
  Reply("combine", CandidateText("accepted 3"));
  Choose(1, "improve", {"seed0"});
  Choose(2, "improve", {"seed1"});
  Choose(3, "combine", {"seed0", "seed1"});
  Run();
  const std::string improve = PromptOf("gen1.improve");
  EXPECT_THAT(improve,
              HasSubstr("This candidate is correct: 2.00x of the best PyTorch baseline, 50 us per call, "
                        "50 times the floor."));
  EXPECT_THAT(improve, HasSubstr("first_kernel (x3) 60%"));
  const std::string prompt = PromptOf("gen3.combine");
  EXPECT_THAT(prompt, HasSubstr("The first, 2.00x of the best PyTorch baseline, 50 us per call,"));
  EXPECT_THAT(prompt, HasSubstr("The second, 1.60x of the best PyTorch baseline, 62.5 us per call,"));
  EXPECT_THAT(prompt, HasSubstr("(the floor of this device is 1 us)"));
  EXPECT_THAT(prompt, HasSubstr("first_kernel (x3) 60%"));
  EXPECT_THAT(prompt, HasSubstr("second_kernel (x3) 60%"));
  EXPECT_THAT(prompt, HasSubstr("- from the first: none, wrong-output"));
  EXPECT_THAT(
      prompt,
      HasSubstr("- from the second: none, 1.00x of the best PyTorch baseline, 100 us per call, 100 times "
                "the floor"));
}

TEST_F(PromptsOfARun, ARestartSaysWhatTheDesignsAndPyTorchReach) {
  options_.search = "population";
  options_.breadth = 1;
  options_.budget.calls = 3;
  Reply("seed", CandidateText("accepted 2"));
  Reply("restart", CandidateText("accepted 1.6"));
  Reply("improve", CandidateText("accepted 3"));
  Choose(1, "restart", {});
  Choose(2, "improve", {"gen1.restart"});
  Run();
  const char* const kSeed = "- none, 2.00x of the best PyTorch baseline, 50 us per call, 50 times the floor";
  EXPECT_THAT(PromptOf("gen1.restart"), HasSubstr(kSeed));
  EXPECT_THAT(PromptOf("gen2.improve"), HasSubstr(kSeed)) << "as one that does better";
  const std::vector<CallRecord> calls = *store_->Calls(run_.id);
  ASSERT_EQ(calls.size(), 3u);
  for (const CallRecord& one : calls) {
    EXPECT_THAT(one.system, HasSubstr("- best of PyTorch: 100 us, 100 times the floor\n"));
    EXPECT_EQ(one.system, calls[0].system) << one.key << ": a cache knows the beginning";
  }
}

TEST_F(PromptsOfARun, OnlyACandidateToImproveIsCounted) {
  judge_.device = "cuda";
  judge_.sm_percent = 31;
  options_.search = "population";
  options_.seeds = 2;
  options_.breadth = 1;
  options_.budget.calls = 4;
  Reply("seed", CandidateText("accepted 2", "# kernel: first_kernel\n"));
  Reply("seed", CandidateText("accepted 1.6", "# kernel: second_kernel\n"));
  Reply("improve", CandidateText("wrong-output"));
  Reply("combine", CandidateText("accepted 3"));
  Choose(1, "improve", {"seed0"});
  Choose(2, "combine", {"seed0", "seed1"});
  Run();
  EXPECT_EQ(judge_.profiles, 1);
  const std::string prompt = PromptOf("gen2.combine");
  EXPECT_THAT(prompt, HasSubstr("SM throughput %: 31")) << "counted in an earlier step";
  EXPECT_THAT(prompt, HasSubstr("second_kernel (x3) 60%")) << "not counted, so the judge's own profile";
}

}  // namespace
}  // namespace hone

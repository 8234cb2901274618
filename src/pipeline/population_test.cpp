#include "pipeline/population.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/json.h"
#include "pipeline/operator_choice.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ArchiveMember Right(const std::string& key, double vs_best, const std::string& kind = "gemm") {
  ArchiveMember member;
  member.key = key;
  member.step = StepOf(key);
  member.kind = kind;
  member.right = true;
  member.vs_best = vs_best;
  member.speed = vs_best;
  return member;
}

ArchiveMember Failed(const std::string& key, double closeness, const std::string& parent = "") {
  ArchiveMember member;
  member.key = key;
  member.step = StepOf(key);
  member.parent = parent;
  member.closeness = closeness;
  return member;
}

SearchStep Made(int number, Operator op, double gain, std::vector<std::string> parents = {},
                double cost = 1) {
  SearchStep step;
  step.number = number;
  step.op = op;
  step.parents = std::move(parents);
  step.ended = true;
  step.gain = gain;
  step.cost = cost;
  return step;
}

std::vector<std::string> Keys(const std::vector<const ArchiveMember*>& members) {
  std::vector<std::string> keys;
  for (const ArchiveMember* one : members) keys.push_back(one->key);
  return keys;
}

double ScoreOf(const SearchArchive& archive, Operator op, const RunOptions& options = {}) {
  for (const OperatorScore& one : ScoreOperators(archive, options))
    if (one.op == op) return one.score;
  return -1;
}

TEST(Population, KeysNameTheirStep) {
  const std::map<std::string, int> kSteps = {{"gen1.improve", 1},     {"gen12", 12},    {"gen12.end", 12},
                                             {"gen7.tune.tuned1", 7}, {"seed0", 0},     {"gen", 0},
                                             {"gen0.x", 0},           {"gen-1.x", 0},   {"gen3x.improve", 0},
                                             {"general.improve", 0},  {"tune.grid", 0}, {"", 0}};
  for (const auto& [key, step] : kSteps) EXPECT_EQ(StepOf(key), step) << key;
}

TEST(Population, NamesOfOperatorsAreReadBack) {
  for (const Operator op : kOperators) EXPECT_EQ(OperatorFromName(NameOf(op)), op);
}

TEST(Population, TheKindSaysWhatBoundsACandidate) {
  CandidateRecord candidate;
  candidate.kernel_class = "gemm";
  candidate.candidate_us = 100;
  const Json card = {{"floor_us", 50.0}};
  EXPECT_EQ(KindOf(candidate, card), "gemm");
  candidate.json = R"({"launches": {"candidate": 40}})";
  EXPECT_EQ(KindOf(candidate, card), "gemm, bound by launches");
  candidate.candidate_us = 60;
  EXPECT_EQ(KindOf(candidate, card), "gemm, near the floor");
  candidate.candidate_us = 130;
  candidate.json.clear();
  EXPECT_EQ(KindOf(candidate, {{"floor_us", 50.0}, {"floor_bound", "memory"}}), "gemm, bound by memory");
  EXPECT_EQ(KindOf(candidate, {{"floor_us", 50.0}, {"floor_bound", "arithmetic"}}),
            "gemm, bound by arithmetic");
  EXPECT_EQ(KindOf(candidate, {{"floor_us", 20.0}, {"floor_bound", "memory"}}), "gemm")
      << "so far above the floor that neither rate is what its time goes into";
  candidate.json = "[1]";
  candidate.kernel_class.clear();
  candidate.candidate_us = 0;
  EXPECT_EQ(KindOf(candidate, Json()), "none");
}

KernelMetrics Kernel(double share, double sm_percent, double memory_percent) {
  KernelMetrics kernel;
  kernel.share = share;
  kernel.sm_percent = sm_percent;
  kernel.memory_percent = memory_percent;
  return kernel;
}

TEST(Population, AProfileKnowsBetterThanTheFloorWhatBoundsACandidate) {
  CandidateRecord candidate;
  candidate.candidate_us = 130;
  const Json card = {{"floor_us", 50.0}, {"floor_bound", "memory"}};
  const auto bound = [&](const std::vector<KernelMetrics>& kernels) {
    return BottleneckOf(candidate, card, KernelProfile{"", kernels});
  };
  EXPECT_EQ(bound({}), Bottleneck::kMemory) << "nobody took one";
  EXPECT_EQ(bound({Kernel(1, 70, 30)}), Bottleneck::kArithmetic);
  EXPECT_EQ(bound({Kernel(0.6, 40, 70), Kernel(0.4, 50, 20)}), Bottleneck::kMemory) << "50 against 44";
  EXPECT_EQ(bound({Kernel(0.6, 40, 70), Kernel(0.4, 90, 20)}), Bottleneck::kArithmetic) << "50 against 60";
  EXPECT_EQ(bound({Kernel(1, 20, 15)}), Bottleneck::kUnknown) << "it waits for something else";
  candidate.candidate_us = 60;
  EXPECT_EQ(bound({Kernel(1, 70, 30)}), Bottleneck::kFloor);
  candidate.candidate_us = 130;
  candidate.json = R"({"launches": {"candidate": 60}})";
  EXPECT_EQ(bound({Kernel(1, 70, 30)}), Bottleneck::kLaunches);
}

TEST(Population, ASmallErrorIsNearerToWorkingThanALargeOne) {
  CandidateRecord candidate;
  candidate.verdict = "rejected";
  candidate.reason = "wrong-output";
  candidate.error_limit = 1e-6;
  double before = 1;
  for (const double error : {2e-6, 1e-4, 1e-2, 1.0}) {
    candidate.error = error;
    EXPECT_LT(Closeness(candidate), before) << error;
    before = Closeness(candidate);
  }
  candidate.reason = "stale-result";
  EXPECT_EQ(Closeness(candidate), 0) << "a cheat is not mended";
  candidate.verdict = "accepted";
  EXPECT_EQ(Closeness(candidate), 0);
}

TEST(Population, ParentsAreTheTwoFastestOfEachKind) {
  SearchArchive archive;
  archive.members = {Right("a", 1.0),         Right("b", 3.0),  Right("c", 2.0),
                     Right("d", 0.5, "conv"), Failed("e", 0.7), Right("f", 2.5)};
  EXPECT_THAT(Keys(Parents(archive)), ElementsAre("b", "f", "d"));
  EXPECT_EQ(BestOf(archive.members), 3.0);
  EXPECT_EQ(BestOf({Failed("e", 0.7)}), kNothingRight);
}

CandidateRecord Timed(const std::string& verdict, double vs_best, double low) {
  CandidateRecord candidate;
  candidate.verdict = verdict;
  candidate.reason = verdict == "rejected" ? "slower" : verdict;
  candidate.vs_best = vs_best;
  candidate.ci_low = low;
  return candidate;
}

TEST(Population, ACandidateCountsWithTheSpeedThatItsMeasurementEnsures) {
  EXPECT_EQ(SureSpeed(Timed("accepted", 2, 1.9)), 1.9);
  EXPECT_EQ(SureSpeed(Timed("accepted", 5, 1.1)), 1.1) << "a wide interval";
  EXPECT_EQ(SureSpeed(Timed("no_difference", 1.01, 0.98)), 0.98);
  EXPECT_EQ(SureSpeed(Timed("no_difference", 3, 2.9)), 1) << "a single call takes as long as PyTorch's";
  EXPECT_EQ(SureSpeed(Timed("inconclusive", 5, 0.8)), 0.8);
  EXPECT_EQ(SureSpeed(Timed("inconclusive", 5, 4)), 1) << "PyTorch ran slower than alone";
  EXPECT_EQ(SureSpeed(Timed("inconclusive", 5, 0)), kNothingRight) << "hardly a measurement";
  EXPECT_EQ(SureSpeed(Timed("rejected", 0.8, 0.7)), 0.7);
  EXPECT_EQ(SureSpeed(Timed("rejected", 0.1, 0)), 0.1) << "slow, but a parent if there is no other";
  CandidateRecord wrong = Timed("rejected", 3, 2.9);
  wrong.reason = "wrong-output";
  EXPECT_EQ(SureSpeed(wrong), 0);
}

TEST(Population, AnInconclusiveCandidateMayBeAParentAndHidesNothing) {
  SearchArchive archive;
  for (const auto& [key, record] :
       {std::pair{"sure", Timed("accepted", 1.3, 1.25)}, std::pair{"noise", Timed("inconclusive", 5, 0.8)}}) {
    CandidateRecord one = record;
    one.key = key;
    one.kernel_class = key;
    archive.members.push_back(MemberOf(one, {}, Json()));
  }
  EXPECT_EQ(BestOf(archive.members), 1.25) << "a real gain over it is one";
  EXPECT_THAT(Keys(Parents(archive)), ElementsAre("sure", "noise"));
  EXPECT_DOUBLE_EQ(ParentWeight(archive.members[0], archive), 1);
  EXPECT_NEAR(ParentWeight(archive.members[1], archive), 0.168, 0.001) << "(0.8 / 1.25)^4";
  archive.members.erase(archive.members.begin());
  EXPECT_EQ(BestOf(archive.members), kNothingRight);
  EXPECT_EQ(ParentWeight(archive.members[0], archive), 1) << "the only one";
}

TEST(Population, AFailedDesignIsOneOfWhichNoFileWorks) {
  SearchArchive archive;
  const auto add = [&](ArchiveMember member, const char* phase, const char* parent = "") {
    member.phase = phase;
    member.parent = parent;
    archive.members.push_back(member);
  };
  add(Failed("seed0", 0.7), "seed");
  add(Failed("seed0.mended", 0.7), "mended", "seed0");
  add(Failed("seed0.repair1", 0.7), "seed_repair", "seed0.mended");
  add(Failed("seed0.algorithm", 0.7), "algorithm", "seed0.repair1");
  add(Failed("seed1", 0.7), "seed");
  add(Right("seed1.repair1", 0.5), "seed_repair", "seed1");
  add(Failed("gen1.improve", 0.7), "improve", "seed1.repair1");
  add(Failed("gen2.restart", 0.7), "restart");
  add(Failed("gen3.mend", 0.7), "mend", "gen2.restart");
  add(Failed("gen4.restart", 0.7), "restart");
  add(Right("gen5.mend", 0.5), "mend", "gen4.restart");
  add(Failed("lost", 0.7), "mend", "not in the store");
  std::vector<std::string> found;
  for (const FailedDesign& one : FailedDesigns(archive))
    found.push_back(one.first->key + " " + one.last->key + " " + std::to_string(one.repairs));
  EXPECT_THAT(found, ElementsAre("seed0 seed0.repair1 2", "seed0.algorithm seed0.algorithm 0",
                                 "gen2.restart gen3.mend 1"));
  archive.members = {Failed("a", 0.9, "b"), Failed("b", 0.9, "a")};
  for (ArchiveMember& one : archive.members) one.phase = "mend";
  EXPECT_THAT(FailedDesigns(archive), IsEmpty());
}

TEST(Population, AParentThatPaidIsLikelierThanOneThatWasUsedInVain) {
  SearchArchive archive;
  archive.members = {Right("a", 2.0), Right("b", 2.0, "conv"), Right("c", 2.0, "other"),
                     Right("d", 1.0, "x")};
  archive.steps = {Made(1, Operator::kImprove, 0.3, {"a"}), Made(2, Operator::kImprove, 0, {"b"})};
  const auto weight = [&](size_t i) { return ParentWeight(archive.members[i], archive); };
  EXPECT_DOUBLE_EQ(weight(0), 1.0);
  EXPECT_DOUBLE_EQ(weight(1), 0.5);
  EXPECT_DOUBLE_EQ(weight(2), 1.0);
  EXPECT_DOUBLE_EQ(weight(3), 1.0 / 16) << "half as fast, to the fourth power";
}

TEST(Population, ParentsOfOneKindShareItsWeight) {
  SearchArchive archive;
  archive.members = {Right("a", 2.0), Right("b", 2.0, "conv"), Right("c", 2.0), Right("d", 1.0)};
  const auto weight = [&](size_t i) { return ParentWeight(archive.members[i], archive); };
  EXPECT_DOUBLE_EQ(weight(0), 0.5);
  EXPECT_DOUBLE_EQ(weight(1), 1.0) << "the only one of its kind";
  EXPECT_DOUBLE_EQ(weight(2), 0.5);
}

TEST(Population, WhatIsMendedIsCloseAndWasNotTriedBefore) {
  SearchArchive archive;
  archive.members = {Right("seed0", 2.0),
                     Failed("gen1.improve", 0.7, "seed0"),
                     Failed("gen2.restart", 0.7),
                     Failed("gen3.mend", 0.7, "gen2.restart"),
                     Failed("gen4.improve", 0.1, "seed0"),
                     Failed("gen5.improve", 0.6, "seed0")};
  archive.steps = {Made(6, Operator::kMend, 0, {"gen5.improve"})};
  std::map<std::string, double> weights;
  for (const Weighted& one : Mendable(archive)) weights[one.member->key] = one.weight;
  EXPECT_THAT(weights, testing::SizeIs(2));
  EXPECT_DOUBLE_EQ(weights["gen1.improve"], 0.7) << "made from the fastest";
  EXPECT_DOUBLE_EQ(weights["gen3.mend"], 0.35 * 0.49) << "the second attempt, made from nothing";
}

TEST(Population, ACircleOfParentsEnds) {
  SearchArchive archive;
  archive.members = {Failed("a", 0.9, "b"), Failed("b", 0.9, "a"), Failed("c", 0.9, "c")};
  EXPECT_THAT(Mendable(archive), IsEmpty());
}

TEST(Population, DrawsFollowTheWeights) {
  const ArchiveMember a = Right("a", 1), b = Right("b", 1);
  int first = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    first += Draw({{&a, 3}, {&b, 1}}, &random) == &a ? 1 : 0;
  }
  EXPECT_NEAR(first, 1500, 100);
  Random random(1);
  EXPECT_EQ(Draw({{&a, 0}, {&b, 0}}, &random), nullptr);
  EXPECT_EQ(Draw({}, &random), nullptr);
}

TEST(OperatorChoice, WhatPaidComesAgainAndWhatDidNotGivesWay) {
  SearchArchive archive;
  archive.members = {Right("seed0", 1.5)};
  RunOptions options;
  EXPECT_EQ(ChooseStep(archive, options, 1).op, Operator::kImprove) << "trusted most";
  archive.steps = {Made(1, Operator::kImprove, 0.5, {"seed0"})};
  EXPECT_EQ(ChooseStep(archive, options, 2).op, Operator::kImprove);
  archive.steps = {Made(1, Operator::kImprove, 0, {"seed0"}), Made(2, Operator::kImprove, 0, {"seed0"})};
  EXPECT_EQ(ChooseStep(archive, options, 3).op, Operator::kRestart);
}

TEST(OperatorChoice, TheScoreIsGainPerCallAndForgets) {
  SearchArchive archive;
  archive.members = {Right("seed0", 1.5)};
  archive.steps = {Made(1, Operator::kImprove, 0.3, {"seed0"}, 2)};
  EXPECT_DOUBLE_EQ(ScoreOf(archive, Operator::kImprove), (0.20 + 0.3) / (1 + 2));
  archive.steps.push_back(Made(2, Operator::kRestart, 0, {}, 4));
  EXPECT_DOUBLE_EQ(ScoreOf(archive, Operator::kImprove), (0.20 + 0.9 * 0.3) / (1 + 0.9 * 2));
  EXPECT_DOUBLE_EQ(ScoreOf(archive, Operator::kRestart), 0.14 / 5);
}

ArchiveMember OfOpening(const std::string& key, const std::string& phase, bool right,
                        const std::string& parent = "") {
  ArchiveMember member = right ? Right(key, 1) : Failed(key, 0.5, parent);
  member.parent = parent;
  member.phase = phase;
  return member;
}

TEST(OperatorChoice, HowNewFilesAndRepairsDidInTheOpeningIsWhatTheyAreTrustedWith) {
  SearchArchive archive;
  EXPECT_DOUBLE_EQ(ScoreOf(archive, Operator::kRestart), 0.14);
  EXPECT_DOUBLE_EQ(ScoreOf(archive, Operator::kMend), 0.16);
  archive.members = {
      OfOpening("seed0", "seed", false), OfOpening("seed0.repair1", "seed_repair", false, "seed0"),
      OfOpening("seed0.repair2", "seed_repair", true, "seed0.repair1"),
      OfOpening("seed0.algorithm", "algorithm", false, "seed0.repair2"), OfOpening("seed1", "seed", false)};
  EXPECT_DOUBLE_EQ(ScoreOf(archive, Operator::kRestart), 0.14 * 2 / 5) << "none of three";
  EXPECT_DOUBLE_EQ(ScoreOf(archive, Operator::kMend), 0.16 * 2 * 2 / 4) << "one of two";
  EXPECT_DOUBLE_EQ(ScoreOf(archive, Operator::kImprove), 0.20) << "nothing was improved";
  archive.members.push_back(OfOpening("seed1.mended", "mended", true, "seed1"));
  EXPECT_DOUBLE_EQ(ScoreOf(archive, Operator::kRestart), 0.14 * 2 * 2 / 5) << "it counts for its file";
  archive.members.push_back(OfOpening("gen1.restart", "restart", true));
  archive.members.back().step = 1;
  EXPECT_DOUBLE_EQ(ScoreOf(archive, Operator::kRestart), 0.14 * 2 * 2 / 5) << "the score has the steps";
}

TEST(OperatorChoice, AStepThatIsUnderWayCountsWithItsCost) {
  SearchArchive archive;
  archive.members = {Right("seed0", 1.5)};
  archive.steps = {Made(1, Operator::kImprove, 0, {"seed0"})};
  archive.steps[0].ended = false;
  EXPECT_DOUBLE_EQ(ScoreOf(archive, Operator::kImprove), 0.10);
}

TEST(OperatorChoice, MendingSharesItsGainWithTheStepThatMadeTheCandidate) {
  SearchArchive archive;
  archive.steps = {Made(1, Operator::kRestart, 0), Made(2, Operator::kMend, 0, {"gen1.restart"}),
                   Made(3, Operator::kMend, 0.4, {"gen2.mend"})};
  EXPECT_THAT(SharedGains(archive), ElementsAre(0.1, 0.1, 0.2));
}

TEST(OperatorChoice, OnlyWhatIsPossibleIsChosen) {
  RunOptions options;
  SearchArchive archive;
  EXPECT_EQ(ChooseStep(archive, options, 1).op, Operator::kRestart) << "nothing is there";
  archive.members = {Failed("seed0", 0.7)};
  EXPECT_EQ(ChooseStep(archive, options, 1).op, Operator::kMend);
  EXPECT_THAT(ChooseStep(archive, options, 1).parents, ElementsAre("seed0"));
  options.repairs = 0;
  EXPECT_EQ(ChooseStep(archive, options, 1).op, Operator::kRestart) << "repairs are switched off";
}

TEST(OperatorChoice, CombiningTakesAnotherKindWhereThereIsOne) {
  SearchArchive archive;
  archive.members = {Right("a", 2), Right("b", 1.9), Right("c", 1.5, "conv")};
  for (int i = 1; i <= 12; ++i) {
    archive.steps.push_back(Made(3 * i, Operator::kImprove, 0));
    archive.steps.push_back(Made(3 * i + 1, Operator::kRestart, 0));
  }
  for (int number = 1; number < 40; ++number) {
    const StepChoice choice = ChooseStep(archive, {}, number);
    ASSERT_EQ(choice.op, Operator::kCombine);
    ASSERT_EQ(choice.parents.size(), 2u);
    EXPECT_EQ((choice.parents[0] == "c") + (choice.parents[1] == "c"), 1) << number;
  }
}

TEST(OperatorChoice, TheSameRecordGivesTheSameChoice) {
  SearchArchive archive;
  archive.members = {Right("a", 2), Right("b", 1.9, "conv"), Right("c", 1.5, "other")};
  RunOptions options;
  std::map<std::string, int> parents;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    options.search_seed = seed;
    const StepChoice one = ChooseStep(archive, options, 3);
    EXPECT_EQ(one.parents, ChooseStep(archive, options, 3).parents);
    ++parents[one.parents.at(0)];
  }
  EXPECT_EQ(parents.size(), 3u) << "and another seed draws other parents";
}

TEST(OperatorChoice, TheSearchEndsWithItsPatienceOrInSilence) {
  RunOptions options;
  options.patience = 3;
  SearchArchive archive;
  EXPECT_EQ(WhySearchEnds(archive, options), "");
  archive.steps = {Made(1, Operator::kImprove, 0.2), Made(2, Operator::kImprove, 0.005),
                   Made(3, Operator::kImprove, 0)};
  EXPECT_EQ(WhySearchEnds(archive, options), "");
  archive.steps.push_back(Made(4, Operator::kRestart, 0));
  EXPECT_EQ(WhySearchEnds(archive, options), "3 steps in a row brought no gain of 1%");
  options.patience = 100;
  for (SearchStep& step : archive.steps) step.answered = step.number == 1;
  EXPECT_EQ(WhySearchEnds(archive, options), "the last 3 steps got no answer");
}

}  // namespace
}  // namespace hone

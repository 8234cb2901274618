// Tests the budgets of a run: calls, evaluations, tokens, money and minutes, with seeds in turn and side by
// side.
#include "pipeline/spine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/text.h"
#include "model/replay.h"
#include "pipeline/spine_fixture.h"

namespace hone {
namespace {

using testing::ElementsAre;
using namespace spine_fixture;

TEST_F(SpineTest, ABudgetOfCallsIsNeverExceeded) {
  options_.budget.calls = 3;
  options_.seeds = 5;
  for (int i = 0; i < 5; ++i) Reply("seed", CandidateText("accepted 2.0"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "stopped");
  EXPECT_THAT(end.outcome, testing::HasSubstr("the budget of 3 calls is spent"));
  EXPECT_EQ(store_->Usage(run_.id)->calls, 3);
}

TEST_F(SpineTest, ABudgetOfEvaluationsEndsTheRunWithItsBest) {
  options_.seeds = 3;
  options_.budget.evaluations = 2;
  Reply("seed", CandidateText("accepted 1.5"));
  Reply("seed", CandidateText("accepted 1.8", "# later: accepted 1.7\n"));
  Reply("seed", CandidateText("accepted 9"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "stopped");
  EXPECT_EQ(end.best->key, "seed1");
  EXPECT_EQ(
      end.outcome,
      "the budget of 2 evaluations is spent; so far: seed1 is 1.80x as fast as the best PyTorch baseline "
      "(1.80x eager); it is not confirmed by a second judgement");
  EXPECT_TRUE(judge_.confirmed.empty());
}

TEST_F(SpineTest, ABudgetForTheModelEndsTheRunWithAConfirmedWinner) {
  options_.seeds = 3;
  options_.budget.calls = 2;
  Reply("seed", CandidateText("accepted 1.5", "# later: accepted 1.4\n"));
  Reply("seed", CandidateText("accepted 1.8", "# later: no_difference 1.0\n"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "stopped");
  EXPECT_THAT(judge_.confirmed, ElementsAre("seed1", "seed0")) << "the fastest loses its place";
  EXPECT_EQ(end.best->key, "seed0");
  EXPECT_EQ(end.outcome,
            "the budget of 2 calls is spent; so far: seed0 is 1.50x as fast as the best PyTorch baseline "
            "(1.50x eager)");
  EXPECT_EQ(Run().best->key, "seed0");
  EXPECT_EQ(judge_.confirmed.size(), 2u) << "resume with the same budget judges nothing again";
}

TEST_F(SpineTest, OneEvaluationIsSingularAndConfirmingTheWinnerIsNotCounted) {
  options_.tuning = false;
  options_.budget.evaluations = 1;
  Reply("seed", CandidateText("accepted 1.5", "# later: accepted 1.4\n"));
  Reply("seed", CandidateText("accepted 1.8"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "done");
  EXPECT_THAT(judge_.confirmed, ElementsAre("seed0"));
  EXPECT_THAT(end.outcome, testing::Not(testing::HasSubstr("not confirmed")));
  options_.seeds = 2;
  EXPECT_THAT(Run().outcome, testing::StartsWith("the budget of 1 evaluation is spent; so far: seed0 is "));
}

// Answers every seed at once, as a server does, so that seeds run in parallel.
class PromptModel : public Model {
 public:
  ModelReply Ask(const ModelRequest&, const ModelProgress&) override {
    ModelReply reply;
    reply.text = CandidateText("accepted 1.5");
    reply.usage = {60, 40, false, 0.25, true};
    ++asked;
    if (pause_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    return reply;
  }
  std::string name() const override { return "prompt"; }
  bool order_matters() const override { return false; }

  std::atomic<int> asked{0};
  int pause_ms = 0;
};

TEST_F(SpineTest, SeedsSideBySideNeverMakeAnEvaluationTooMany) {
  options_.seeds = 16;
  options_.tuning = false;
  options_.budget.evaluations = 5;
  judge_.pause_ms = 20;
  PromptModel model;
  for (const size_t session : {1u, 2u}) {
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    const Result<RunEnd> end = Spine(recorder, judge_, &model, task_, options_).Run();
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->status, "stopped");
    EXPECT_EQ(judge_.judged.size(), 5u) << "session " << session;
  }
  options_.budget.evaluations = 7;
  Recorder recorder(*store_, *store_->FindRun("run"), {});
  ASSERT_TRUE(Spine(recorder, judge_, &model, task_, options_).Run().ok());
  EXPECT_EQ(judge_.judged.size(), 7u) << "a budget holds for all sessions together";
}

TEST_F(SpineTest, SeedsSideBySideMakeAllCallsOfTheBudget) {
  options_.seeds = 24;
  options_.tuning = false;
  options_.budget.calls = 20;
  PromptModel model;
  for (const int session : {1, 2}) {
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    const Result<RunEnd> end = Spine(recorder, judge_, &model, task_, options_).Run();
    ASSERT_TRUE(end.ok());
    EXPECT_THAT(end->outcome, testing::HasSubstr("20 calls is spent"));
    EXPECT_EQ(store_->Usage(run_.id)->calls, 20) << "session " << session;
    EXPECT_EQ(model.asked, 20) << "session " << session;
  }
}

TEST_F(SpineTest, AVerdictFromTheStoreCostsNoEvaluationAndTheWinnerIsJudgedAfresh) {
  options_.seeds = 2;
  options_.tuning = false;
  options_.budget.evaluations = 2;
  Reply("seed", CandidateText("crashed", "# known: 2.5\n# later: accepted 2.4\n"));
  Reply("seed", CandidateText("accepted 1.5"));
  const RunEnd end = Run();
  EXPECT_EQ(end.status, "done");
  EXPECT_EQ(end.best->key, "seed0");
  EXPECT_EQ(end.best->vs_best, 2.5);
  EXPECT_EQ(end.best->ci_low, 2.5 * 0.99);
  EXPECT_EQ(end.best->error_limit, 1e-6);
  EXPECT_THAT(judge_.confirmed, ElementsAre("seed0"));
  EXPECT_THAT(judge_.judged, ElementsAre("seed1", "seed0"));
  const Json record = *ParseJson((*store_->Candidate(run_.id, "seed0"))->json);
  EXPECT_EQ(GetString(GetMember(record, "from_store"), "id"), "R1 seed0");
  EXPECT_TRUE(GetBool(GetMember(record, "measurement"), "kept")) << "the measurement of that verdict stays";
  EXPECT_THAT(*ReadFile(folder_.path() / "run" / "console.log"),
              testing::HasSubstr("seed0: this verdict is taken from the store: R1 seed0 of then"));
  // A second session does not count it either, and judges nothing again.
  EXPECT_EQ(Run().status, "done");
  EXPECT_EQ(judge_.judged.size(), 2u);
}

TEST_F(SpineTest, SeedsSideBySideOverspendByOneCallAtMost) {
  options_.seeds = 12;
  options_.tuning = false;
  PromptModel model;
  model.pause_ms = 5;
  options_.budget.tokens = 350;  // a call takes 100
  for (const int session : {1, 2}) {
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    const Result<RunEnd> end = Spine(recorder, judge_, &model, task_, options_).Run();
    ASSERT_TRUE(end.ok());
    EXPECT_THAT(end->outcome, testing::HasSubstr("350 tokens is spent"));
    EXPECT_EQ(model.asked, 4) << "session " << session;
  }
  options_.budget.tokens = 0;
  options_.budget.usd = 1.6;  // a call takes 0.25
  Recorder recorder(*store_, *store_->FindRun("run"), {});
  const Result<RunEnd> end = Spine(recorder, judge_, &model, task_, options_).Run();
  ASSERT_TRUE(end.ok());
  EXPECT_THAT(end->outcome, testing::HasSubstr("$1.6 is spent"));
  EXPECT_EQ(model.asked, 7);
}

TEST_F(SpineTest, AnEvaluationThatHoneCouldNotMakeIsGivenBack) {
  options_.seeds = 2;
  options_.budget.evaluations = 1;
  Reply("seed", CandidateText("accepted 1.5"));
  Reply("seed", CandidateText("accepted 1.8"));
  judge_.fail_after = 0;
  {
    std::unique_ptr<Model> model = std::move(*OpenReplay(folder_.path() / "replies"));
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    EXPECT_FALSE(Spine(recorder, judge_, model.get(), task_, options_).Run().ok());
  }
  judge_.fail_after = -1;
  EXPECT_EQ(Run().best->key, "seed0");
}

TEST_F(SpineTest, ASpentBudgetOfTimeIsNamedAsAPersonWouldWriteIt) {
  judge_.hangs_in = "context";
  Reply("seed", CandidateText("accepted 2"));
  const std::vector<std::pair<double, std::string>> cases = {
      {1, "1 minute"}, {90, "90 minutes"}, {1.0 / 60, "1 s"}, {1.5, "90 s"}, {10.0 / 6, "1 min 40 s"}};
  for (const auto& [minutes, words] : cases) {
    ASSERT_TRUE(store_->DeleteRun(run_.id).ok());
    options_.budget.minutes = minutes;
    run_.seconds = 60 * minutes - 0.1;
    run_.id = *store_->AddRun(run_);
    EXPECT_THAT(Run().outcome, testing::StartsWith("the budget of " + words + " is spent")) << minutes;
  }
}

// Uses the run's own clock: earlier sessions spent the two minutes except for several times the duration of a
// whole run here, so that a busy machine reaches each of the places too.
TEST_F(SpineTest, TheBudgetOfMinutesReachesIntoWhateverIsGoingOn) {
  options_.budget.minutes = 2;
  judge_.device = "cuda";
  Reply("seed", CandidateText("accepted 2", kTunable));
  Reply("stage_grid", CandidateText("accepted 3", kTunable + std::string("# later: accepted 3\n")));
  const Stopwatch whole;
  ASSERT_TRUE(Run().best.has_value());
  const double left = 0.2 + 10 * whole.seconds();
  ASSERT_LT(left, 60);
  for (const char* where : {"context", "judge", "profile", "look", "confirm"}) {
    ASSERT_TRUE(store_->DeleteRun(run_.id).ok());
    run_.seconds = 120 - left;
    run_.id = *store_->AddRun(run_);
    judge_.hangs_in = where;
    const Stopwatch watch;
    const RunEnd end = Run();
    EXPECT_LT(watch.seconds(), left + 30) << where;
    // The judge was told what is left of the budget, and nothing began after the step that took until then.
    EXPECT_LE(judge_.given_s, left) << where;
    EXPECT_GT(judge_.given_s, left - watch.seconds()) << where;
    EXPECT_EQ(judge_.hung, 1) << where;
    EXPECT_EQ(judge_.begun_after, 0) << where;
    EXPECT_EQ(end.status, "stopped") << where;
    EXPECT_THAT(end.outcome, testing::StartsWith("the budget of 2 minutes is spent; so far: ")) << where;
    EXPECT_EQ(end.best.has_value(), std::string(where) != "context" && std::string(where) != "judge");
  }
  EXPECT_THAT(store_->FindRun("run")->outcome, testing::HasSubstr("not confirmed"));
  // Interrupted steps are not on record, so the run continues there with more time.
  judge_.hangs_in.clear();
  options_.budget.minutes = 10;
  EXPECT_EQ(Run().best->vs_best, 3);
  EXPECT_EQ(judge_.confirmed.back(), "tune.grid");
}

}  // namespace
}  // namespace hone

// Tests how several replies to one prompt become candidates: which are used, which continues, what is
// dropped, and what an interrupted run does later.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/replies.h"
#include "pipeline/spine_fixture.h"

namespace hone {
namespace {

using namespace spine_fixture;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A file needs some text of its own to count as one.
std::string File(const std::string& fate, const std::string& name) {
  return CandidateText(fate, "# " + name + "\n");
}

class Proposing : public SpineTest {
 protected:
  Proposing() {
    options_.replies = 3;
    options_.tuning = false;
    options_.analysis = false;
  }
  std::string ParentOf(const std::string& key) { return (*store_->Candidate(run_.id, key))->parent_key; }
  // Makes Hone fail at this judgement, as if the machine was switched off.
  void BreakOffAt(int judgement) {
    judge_.fail_after = judgement;
    std::unique_ptr<Model> model = std::move(*OpenReplay(folder_.path() / "replies"));
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    EXPECT_FALSE(Spine(recorder, judge_, model.get(), task_, options_).Run().ok());
    judge_.fail_after = -1;
  }
};

TEST_F(Proposing, EveryReplyWithAFileIsACandidateAndTheBestWins) {
  Reply("seed", File("accepted 1.5", "a"));
  Reply("seed", File("wrong-output", "b"));
  Reply("seed", File("accepted 2.5", "c"));
  EXPECT_EQ(Run().best->key, "seed0~3");
  EXPECT_THAT(Keys(), ElementsAre("seed0:faster", "seed0~2:wrong-output", "seed0~3:faster"));
  const std::vector<CallRecord> calls = *store_->Calls(run_.id);
  ASSERT_EQ(calls.size(), 1U) << "one call, and nothing is repaired while a sibling is right";
  EXPECT_EQ(RepliesFrom(calls[0].more_replies).size(), 2U);
  const std::string reply = *ReadFile(folder_.path() / "run" / "llm" / "seed0.reply.txt");
  EXPECT_THAT(reply, HasSubstr("===== 1 of 3 =====\n```python\nimport torch\n# fate: accepted 1.5"));
  EXPECT_THAT(reply, HasSubstr("===== 3 of 3 =====\n```python\nimport torch\n# fate: accepted 2.5"));
  EXPECT_TRUE(fs::exists(folder_.path() / "run" / "code" / "seed0_3.py"));
}

TEST_F(Proposing, OfBrokenOnesTheNearestToWorkingIsRepaired) {
  Reply("seed", File("timeout", "a"));
  Reply("seed", File("build-failed", "b"));
  Reply("seed", File("out-of-memory", "c"));
  Reply("seed_repair", File("accepted 2", "d"));
  Reply("seed_repair", File("accepted 9", "e"));
  EXPECT_EQ(Run().best->key, "seed0.repair1");
  EXPECT_EQ(ParentOf("seed0.repair1"), "seed0~2");
  EXPECT_THAT(Keys(), testing::Contains("seed0.repair1:faster"));
  EXPECT_THAT(*ReadFile(folder_.path() / "run" / "llm" / "seed0.repair1.prompt.txt"), HasSubstr("# b\n"));
  EXPECT_EQ((*store_->Candidates(run_.id)).size(), 5U) << "a repair is asked for once";
}

TEST_F(Proposing, RepeatsAndRepliesWithoutAFileAreDroppedAndNamed) {
  Reply("seed", "I would rather not write a file.");
  Reply("seed", File("accepted 2", "a"));
  Reply("seed", "The same again:\n" + File("accepted 2", "a"));
  EXPECT_EQ(Run().best->key, "seed0~2");
  EXPECT_THAT(Keys(), ElementsAre("seed0~2:faster"));
  EXPECT_THAT(Decisions(), HasSubstr("seed0: 1 of 3 replies are candidates; reply 1 has no file that can be "
                                     "judged, reply 3 repeats reply 2\n"));
  EXPECT_EQ((*store_->Calls(run_.id)).size(), 1U);
}

TEST_F(Proposing, IfNoReplyHasAFileTheModelIsAskedOnceMore) {
  for (int i = 0; i < 3; ++i) Reply("seed", fmt::format("Prose {}.", i));
  Reply("seed", File("accepted 2", "a"));
  Reply("seed", File("accepted 9", "of nobody"));
  EXPECT_EQ(Run().best->key, "seed0");
  EXPECT_THAT(Keys(), ElementsAre("seed0:faster")) << "once more means for one reply";
  EXPECT_EQ((*store_->Calls(run_.id)).size(), 2U);
}

TEST_F(Proposing, AStepOfTheSearchHasSeveralTooAndItsParentIsNoCandidate) {
  options_.search = "population";
  options_.replies = 2;
  options_.budget.calls = 2;
  Reply("seed", File("accepted 2", "a"));
  Reply("seed", File("wrong-output", "b"));
  Reply("improve", File("accepted 2", "a"));
  Reply("improve", File("accepted 3", "c"));
  EXPECT_EQ(Run().best->key, "gen1.improve~2");
  EXPECT_THAT(Keys(), ElementsAre("seed0:faster", "seed0~2:wrong-output", "gen1.improve~2:faster"));
  EXPECT_EQ(ParentOf("gen1.improve~2"), "seed0");
  EXPECT_THAT(Decisions(), HasSubstr("reply 1 is the file that it was asked to change"));
  EXPECT_THAT(Decisions(), HasSubstr("gen1: gen1.improve~2 is 3.00x, the best so far"));
}

TEST_F(Proposing, ARunThatBrokeOffBetweenRepliesGoesOnWithTheNext) {
  Reply("seed", File("wrong-output", "a"));
  Reply("seed", File("accepted 1.5", "b"));
  Reply("seed", File("accepted 2.5", "c"));
  BreakOffAt(0);
  EXPECT_THAT(Keys(), ElementsAre("seed0:", "seed0~2:", "seed0~3:")) << "all of them are there, none judged";
  BreakOffAt(2);
  EXPECT_EQ(Run().best->key, "seed0~3");
  EXPECT_THAT(Keys(), ElementsAre("seed0:wrong-output", "seed0~2:faster", "seed0~3:faster"));
  EXPECT_EQ((*store_->Calls(run_.id)).size(), 1U);
  EXPECT_THAT(judge_.judged, ElementsAre("seed0", "seed0", "seed0_2", "seed0_2", "seed0_3"));
}

TEST_F(Proposing, WithoutRepliesARunIsWhatItWas) {
  options_.replies = 1;
  Reply("seed", File("accepted 1.5", "a"));
  Reply("seed", File("accepted 2.5", "b"));
  EXPECT_EQ(Run().best->key, "seed0");
  EXPECT_EQ((*store_->Call(run_.id, "seed0"))->more_replies, "");
  EXPECT_EQ(*ReadFile(folder_.path() / "run" / "llm" / "seed0.reply.txt"), File("accepted 1.5", "a"));
}

// A model that returns one reply at a time. Each request costs 100 tokens and a quarter of a dollar.
class OneAtATime : public Model {
 public:
  ModelReply Ask(const ModelRequest& request, const ModelProgress&) override {
    keys.push_back(request.key);
    ModelReply reply;
    reply.text = File("accepted 1.5", request.key);
    reply.finish_reason = "stop";
    reply.usage.prompt_tokens = 60;
    reply.usage.completion_tokens = 40;
    reply.usage.cost_usd = 0.25;
    reply.usage.price_known = true;
    return reply;
  }
  std::string name() const override { return "one at a time"; }
  bool order_matters() const override { return true; }

  std::vector<std::string> keys;
};

TEST_F(Proposing, ACallWithSeveralRepliesIsOneCallAndBilledInFull) {
  options_.seeds = 8;
  options_.budget.calls = 2;
  OneAtATime model;
  Recorder recorder(*store_, *store_->FindRun("run"), {});
  const Result<RunEnd> end = Spine(recorder, judge_, &model, task_, options_).Run();
  ASSERT_TRUE(end.ok());
  EXPECT_THAT(end->outcome, HasSubstr("2 calls is spent"));
  EXPECT_THAT(model.keys, ElementsAre("seed0", "seed0~2", "seed0~3", "seed1", "seed1~2", "seed1~3"));
  const UsageTotals usage = *store_->Usage(run_.id);
  EXPECT_EQ(usage.calls, 2);
  EXPECT_EQ(usage.total(), 600);
  EXPECT_DOUBLE_EQ(usage.cost_usd, 1.5);
}

TEST_F(Proposing, OnlyOneCallOverspendsHoweverManyRepliesItHas) {
  options_.seeds = 8;
  options_.budget.usd = 0.8;  // a call takes 0.75
  OneAtATime model;
  Recorder recorder(*store_, *store_->FindRun("run"), {});
  const Result<RunEnd> end = Spine(recorder, judge_, &model, task_, options_).Run();
  ASSERT_TRUE(end.ok());
  EXPECT_THAT(end->outcome, HasSubstr("$0.8 is spent"));
  EXPECT_EQ(store_->Usage(run_.id)->calls, 2);
}

}  // namespace
}  // namespace hone

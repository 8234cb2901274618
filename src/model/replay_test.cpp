#include "model/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace hone {
namespace {

using testing::HasSubstr;

class ReplayFolder : public testing::Test {
 protected:
  fs::path path() const { return folder_->path() / "replay"; }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(MakeFolders(path()).ok());
    ASSERT_TRUE(WriteFileAtomic(path() / name, text).ok());
  }
  std::unique_ptr<Model> Open() {
    Result<std::unique_ptr<Model>> model = OpenReplay(path());
    EXPECT_TRUE(model.ok()) << model.error().message;
    return model.ok() ? *std::move(model) : nullptr;
  }
  std::string OpenError() {
    Result<std::unique_ptr<Model>> model = OpenReplay(path());
    return model.ok() ? "" : model.error().message;
  }
  static ModelReply Ask(Model& model, const std::string& type, const std::string& key = "") {
    ModelRequest request;
    request.call_type = type;
    request.key = key;
    request.prompt = "some prompt";
    return model.Ask(request, {});
  }
  Result<TempFolder> folder_ = TempFolder::Make("hone-replay-test");
};

TEST_F(ReplayFolder, MadeByHandPlaysInOrderWithinEachCallType) {
  Write("10_seed.txt", "third");
  Write("001_seed.txt", "first");
  Write("2_analysis.txt", "analysis");
  Write("2_seed.txt", "second");
  Write("README.txt", "no reply");
  const auto model = Open();
  EXPECT_TRUE(model->order_matters());
  EXPECT_EQ(Ask(*model, "seed", "any key").text, "first");
  EXPECT_EQ(Ask(*model, "analysis").text, "analysis");
  EXPECT_EQ(Ask(*model, "seed").text, "second");
  const ModelReply last = Ask(*model, "seed");
  EXPECT_EQ(last.text, "third");
  EXPECT_TRUE(last.usage.estimated);
  EXPECT_GT(last.usage.total(), 0);
  EXPECT_EQ(last.usage.cost_usd, 0);
}

TEST_F(ReplayFolder, ThatIsUsedUpSaysOfWhatAndHowMany) {
  Write("1_seed.txt", "only");
  const auto model = Open();
  ASSERT_TRUE(Ask(*model, "seed").ok());
  const ModelReply none = Ask(*model, "seed");
  EXPECT_EQ(none.failure, ModelFailure::kExhausted);
  EXPECT_THAT(none.message, HasSubstr("has 1 reply to seed calls"));
  EXPECT_THAT(Ask(*model, "stage_grid").message, HasSubstr("no reply to a stage_grid call"));
  EXPECT_FALSE(StopsTheRun(none.failure));
}

TEST_F(ReplayFolder, PlaysBackWhatTheWriterWrote) {
  RecordedCall good{"seed", "seed/0", {}};
  good.reply.text = "code \xc3\xa9\n";
  good.reply.thinking = "a thought";
  good.reply.model = "m-1";
  good.reply.finish_reason = "length";
  good.reply.usage = {11, 22, false, 0.5, true};
  RecordedCall bad{"seed_repair", "seed/0/repair/1", {}};
  bad.reply.failure = ModelFailure::kContextTooLong;
  bad.reply.message = "does not fit";
  ASSERT_TRUE(WriteReplay(path(), {good, bad}).ok());
  EXPECT_TRUE(fs::exists(path() / "001_seed.txt"));
  EXPECT_TRUE(fs::exists(path() / "002_seed_repair.txt"));

  const auto model = Open();
  EXPECT_FALSE(model->order_matters());
  const ModelReply first = Ask(*model, "seed", "seed/0");
  EXPECT_EQ(first.text, good.reply.text);
  EXPECT_EQ(first.thinking, good.reply.thinking);
  EXPECT_EQ(first.model, "m-1");
  EXPECT_EQ(first.finish_reason, "length");
  EXPECT_EQ(first.usage.prompt_tokens, 11);
  EXPECT_EQ(first.usage.completion_tokens, 22);
  EXPECT_FALSE(first.usage.estimated);
  EXPECT_EQ(first.usage.cost_usd, 0) << "playing back costs nothing";
  const ModelReply second = Ask(*model, "seed_repair", "seed/0/repair/1");
  EXPECT_EQ(second.failure, ModelFailure::kContextTooLong);
  EXPECT_EQ(second.message, "does not fit");
  EXPECT_FALSE(ReplayWriter::Make(path()).ok()) << "a recording is never written into another";
}

TEST_F(ReplayFolder, KeepsTheRepliesOfOtherCallsWhereOnlyTheRecordedOneWillDo) {
  RecordedCall one{"mend", "gen2.mend", {}};
  one.reply.text = "of gen2";
  ASSERT_TRUE(WriteReplay(path(), {one}).ok());
  const auto model = Open();
  ModelRequest request{"mend", "", "", "gen1.mend"};
  request.only_as_recorded = true;
  const ModelReply none = model->Ask(request, {});
  EXPECT_EQ(none.failure, ModelFailure::kNotOnRecord);
  EXPECT_THAT(none.message, HasSubstr("no reply to gen1.mend"));
  request.key = "gen2.mend";
  EXPECT_EQ(model->Ask(request, {}).text, "of gen2");
}

TEST_F(ReplayFolder, GivesEachKeyItsOwnReplyWhicheverThreadAsksFirst) {
  std::vector<RecordedCall> calls;
  for (int i = 0; i < 40; ++i) {
    calls.push_back({"seed", "seed/" + std::to_string(i), {}});
    calls.back().reply.text = "reply " + std::to_string(i);
  }
  ASSERT_TRUE(WriteReplay(path(), calls).ok());
  const auto model = Open();
  std::vector<std::string> got(40);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 39 - t; i >= 0; i -= 4) got[i] = Ask(*model, "seed", "seed/" + std::to_string(i)).text;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 40; ++i) EXPECT_EQ(got[i], "reply " + std::to_string(i));
}

TEST_F(ReplayFolder, LeavesKeyedRepliesToTheirKeys) {
  Write("1_seed.txt", "for a");
  Write("2_seed.txt", "for anybody");
  Write("index.json", R"({"calls": [{"file": "1_seed.txt", "key": "a"}]})");
  const auto model = Open();
  EXPECT_EQ(Ask(*model, "seed", "b").text, "for anybody");
  EXPECT_EQ(Ask(*model, "seed", "a").text, "for a");
}

TEST_F(ReplayFolder, SkipsWhatWasAnsweredBeforeAResume) {
  Write("1_seed.txt", "first");
  Write("2_seed.txt", "second");
  const auto model = Open();
  model->MarkAnswered("seed", "x");
  EXPECT_EQ(Ask(*model, "seed").text, "second");
}

TEST_F(ReplayFolder, ThatIsBrokenIsRefusedWithAReason) {
  EXPECT_THAT(OpenError(), HasSubstr("no folder of recorded replies"));
  ASSERT_TRUE(MakeFolders(path()).ok());
  EXPECT_THAT(OpenError(), HasSubstr("001_seed.txt"));
  Write("1_sead.txt", "");
  EXPECT_THAT(OpenError(), HasSubstr("did you mean seed?"));
  fs::remove(path() / "1_sead.txt");
  Write("1_seed.txt", "");
  Write("index.json", "[]");
  EXPECT_THAT(OpenError(), HasSubstr("list of calls"));
  Write("index.json", R"({"calls": [{"file": "2_seed.txt"}]})");
  EXPECT_THAT(OpenError(), HasSubstr("2_seed.txt"));
  Write("index.json", R"({"calls": [{"file": "1_seed.txt", "thinking_file": "../../etc/passwd"}]})");
  EXPECT_THAT(OpenError(), HasSubstr("in the folder itself"));
}

}  // namespace
}  // namespace hone

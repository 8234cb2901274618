#include "store/run_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/overview.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RunNotesTest : public testing::Test {
 protected:
  RunNotesTest() : folder_(*TempFolder::Make("hone-notes-")) {
    store_ = std::move(*RunStore::Open(folder_.path() / "hone.db"));
    for (const char* task : {"a", "b"}) {
      RunRecord run;
      run.name = run.task = task;
      run.status = "done";
      run.target = "cpu";
      run.proposer = "expert";
      run.folder = "/f";
      run.options = "{}";
      EXPECT_TRUE(store_->AddRun(run).ok());
    }
  }
  std::vector<int64_t> Found(const RunQuery& query) {
    std::vector<int64_t> ids;
    const RunList list = *ListRuns(*store_, query);
    for (const RunRow& row : list.rows) ids.push_back(row.run.id);
    return ids;
  }
  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
};

TEST_F(RunNotesTest, ANoteIsKeptReplacedAndRemoved) {
  EXPECT_TRUE(ReadRunNote(*store_, 1)->empty());
  ASSERT_TRUE(SaveRunNote(*store_, 1, {"try bf16 next", {"nightly", "baseline", "nightly"}}).ok());
  EXPECT_EQ(ReadRunNote(*store_, 1)->text, "try bf16 next");
  EXPECT_THAT(ReadRunNote(*store_, 1)->tags, ElementsAre("baseline", "nightly"));
  ASSERT_TRUE(SaveRunNote(*store_, 1, {"done", {}}).ok());
  EXPECT_THAT(ReadRunNote(*store_, 1)->tags, IsEmpty());
  ASSERT_TRUE(SaveRunNote(*store_, 1, {}).ok());
  EXPECT_TRUE(ReadRunNotes(*store_)->empty());
}

TEST_F(RunNotesTest, RunsAreFoundByTagAndByWordsOfTheNote) {
  ASSERT_TRUE(SaveRunNote(*store_, 1, {"the slow machine", {"night", "cpu"}}).ok());
  ASSERT_TRUE(SaveRunNote(*store_, 2, {"", {"nightly"}}).ok());
  RunQuery by_tag;
  by_tag.tag = "night";
  EXPECT_THAT(Found(by_tag), ElementsAre(1)) << "a tag is matched whole";
  by_tag.tag = "n_ght";
  EXPECT_THAT(Found(by_tag), IsEmpty()) << "and literally";
  RunQuery by_words;
  by_words.words = "slow";
  EXPECT_THAT(Found(by_words), ElementsAre(1));
  EXPECT_THAT(*AllTags(*store_), ElementsAre("cpu", "night", "nightly"));
}

TEST_F(RunNotesTest, ANoteGoesWithItsRunAndNeedsOne) {
  ASSERT_TRUE(SaveRunNote(*store_, 1, {"x", {}}).ok());
  ASSERT_TRUE(store_->DeleteRun(1).ok());
  EXPECT_TRUE(ReadRunNotes(*store_)->empty());
  EXPECT_FALSE(SaveRunNote(*store_, 99, {"x", {}}).ok());
}

TEST_F(RunNotesTest, TagsArePlainWords) {
  EXPECT_THAT(*ParseTags("b, a  b\tc/1"), ElementsAre("a", "b", "c/1"));
  EXPECT_THAT(*ParseTags("基线"), ElementsAre("基线"));
  EXPECT_THAT(*ParseTags(""), IsEmpty());
  for (const char* bad : {"<b>", "a'b", "a\x1b", "a%b"}) EXPECT_FALSE(ParseTags(bad).ok()) << bad;
  EXPECT_FALSE(ParseTags(std::string(41, 'x')).ok());
  std::string many;
  for (int i = 0; i < 21; ++i) many += " t" + std::to_string(i);
  EXPECT_FALSE(ParseTags(many).ok());
  EXPECT_FALSE(SaveRunNote(*store_, 1, {std::string(9000, 'x'), {}}).ok());
}

}  // namespace
}  // namespace hone

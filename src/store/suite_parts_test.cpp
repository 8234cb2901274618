#include "store/suite_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SuiteParts, SurviveTheSuitesOptions) {
  SuiteParts parts;
  parts.tasks = {"1_a", "2_b"};
  parts.sha256 = "abc";
  parts.shards = 4;
  Json options = {{"folder", "/x"}};
  AddParts(parts, &options);
  SuiteRecord suite;
  suite.options = DumpJson(options);
  const SuiteParts read = PartsOf(suite);
  EXPECT_THAT(read.tasks, ElementsAre("1_a", "2_b"));
  EXPECT_EQ(read.sha256, "abc");
  EXPECT_EQ(read.shards, 4);
  suite.options = "{\"jobs\":1}";
  EXPECT_THAT(PartsOf(suite).tasks, IsEmpty());
  suite.options = "not JSON";
  EXPECT_THAT(PartsOf(suite).tasks, IsEmpty());
}

TEST(SuiteParts, EveryTaskIsInOneShardAndShardsDifferByOneTaskAtMost) {
  for (const int shards : {1, 2, 3, 7, 16, 250}) {
    std::vector<int> sizes(static_cast<size_t>(shards), 0);
    for (size_t task = 0; task < 100; ++task) {
      const int shard = ShardOf(task, shards);
      ASSERT_GE(shard, 1);
      ASSERT_LE(shard, shards);
      ++sizes[static_cast<size_t>(shard - 1)];
    }
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    EXPECT_LE(*most - *least, 1) << shards;
  }
}

TEST(SuiteParts, AShardIsKOfN) {
  const ShardChoice choice = *ParseShard("3/16");
  EXPECT_EQ(choice.shard, 3);
  EXPECT_EQ(choice.shards, 16);
  for (const char* bad : {"", "3", "3/", "/16", "17/16", "-1/4", "1/0", "3/16x", "a/b", "1/100001"})
    EXPECT_THAT(ParseShard(bad).error().message, HasSubstr("is not K/N")) << bad;
  EXPECT_THAT(ParseShard("0/16").error().message, HasSubstr("numbered from 1"));
}

TEST(SuiteParts, NamesTheShardsOfWhichNothingIsHere) {
  SuiteParts parts;
  parts.tasks = {"a", "b", "c", "d", "e"};  // shards 1 2 3 1 2
  parts.shards = 3;
  MissingParts missing = FindMissing(parts, {"b", "d"});
  EXPECT_THAT(missing.tasks, ElementsAre("a", "c", "e"));
  EXPECT_THAT(missing.shards, ElementsAre(3));
  parts.shards = 9;
  missing = FindMissing(parts, {"a", "b", "c", "d", "e"});
  EXPECT_FALSE(missing.any());
  EXPECT_THAT(missing.shards, IsEmpty());
  parts.shards = 0;
  missing = FindMissing(parts, {"a"});
  EXPECT_THAT(missing.tasks, ElementsAre("b", "c", "d", "e"));
  EXPECT_THAT(missing.shards, IsEmpty());
}

}  // namespace
}  // namespace hone

#include "evaluation/timed_memory.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hone {
namespace {

std::vector<std::byte> Bytes(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(TimedMemory, KeptAnswersAreThoseOfTheMomentAndNotOfLater) {
  TimedMemory memory;
  std::shared_ptr<TimedRegion> got = *memory.Make("got", 8), want = *memory.Make("want", 8);
  ASSERT_TRUE(memory.Put(*got, 0, Bytes({1, 2})).ok());
  ASSERT_TRUE(memory.Put(*want, 0, Bytes({1, 3})).ok());
  const KeptAnswers early = *memory.Keep(got), right = *memory.Keep(want);
  ASSERT_TRUE(memory.Put(*got, 0, Bytes({1, 3})).ok());  // too late
  EXPECT_GT(memory.Compare(Dtype::kF32, early, right, 0, 8)->relative, 0.1);
  EXPECT_EQ(memory.Compare(Dtype::kF32, *memory.Keep(got), right, 0, 8)->relative, 0);
  EXPECT_EQ(memory.Compare(Dtype::kF32, early, right, 0, 4)->relative, 0);
}

TEST(TimedMemory, SeesWhetherInputsWereChanged) {
  TimedMemory memory;
  const std::shared_ptr<TimedRegion> region = *memory.Make("inputs", 16);
  ASSERT_TRUE(memory.Put(*region, 8, Bytes({4, 5})).ok());
  EXPECT_TRUE(*memory.Holds(*region, 8, Bytes({4, 5})));
  ASSERT_TRUE(memory.Fill(*region, kPoisonByte).ok());
  EXPECT_FALSE(*memory.Holds(*region, 8, Bytes({4, 5})));
  EXPECT_TRUE(*memory.Holds(*region, 8, {}));
}

TEST(TimedMemory, NothingIsASize) {
  TimedMemory memory;
  const std::shared_ptr<TimedRegion> region = *memory.Make("empty", 0);
  EXPECT_TRUE(memory.Fill(*region, 1).ok());
  EXPECT_TRUE(memory.Put(*region, 0, {}).ok());
  EXPECT_TRUE(memory.Keep(region).ok());
}

}  // namespace
}  // namespace hone

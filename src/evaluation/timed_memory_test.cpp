#include "evaluation/timed_memory.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hone {
namespace {

// A region on the host with these numbers.
std::shared_ptr<TimedRegion> Holding(TimedMemory& memory, const std::vector<float>& values) {
  std::shared_ptr<TimedRegion> region = *memory.Make("test", values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(region->host->bytes().data(), values.data(), region->bytes);
  return region;
}

TEST(TimedMemory, KeptAnswersAreThoseOfTheMomentAndNotOfLater) {
  TimedMemory memory;
  const std::shared_ptr<TimedRegion> got = Holding(memory, {1, 2}), want = Holding(memory, {1, 3});
  const KeptAnswers early = *memory.Keep(got), right = *memory.Keep(want);
  ASSERT_TRUE(memory.Put(*got, 0, *want, 0, 8).ok());  // too late
  const KeptAnswers later = *memory.Keep(got);
  EXPECT_GT(memory.Compare(Dtype::kF32, {early}, {right}, 8)->relative, 0.1);
  EXPECT_EQ(memory.Compare(Dtype::kF32, {later}, {right}, 8)->relative, 0);
  EXPECT_EQ(memory.Compare(Dtype::kF32, {early}, {right}, 4)->relative, 0);
}

TEST(TimedMemory, SeesWhetherInputsWereChanged) {
  TimedMemory memory;
  const std::shared_ptr<TimedRegion> region = *memory.Make("inputs", 16), drawn = Holding(memory, {3, 4, 5});
  ASSERT_TRUE(memory.Put(*region, 8, *drawn, 4, 8).ok());
  EXPECT_TRUE(*memory.Holds(*region, 8, *drawn, 4, 8));
  ASSERT_TRUE(memory.Fill(*region, kPoisonByte).ok());
  EXPECT_FALSE(*memory.Holds(*region, 8, *drawn, 4, 8));
  EXPECT_TRUE(*memory.Holds(*region, 8, *drawn, 4, 0));
}

TEST(TimedMemory, NothingIsASize) {
  TimedMemory memory;
  const std::shared_ptr<TimedRegion> region = *memory.Make("empty", 0);
  EXPECT_TRUE(memory.Fill(*region, 1).ok());
  EXPECT_TRUE(memory.Put(*region, 0, *region, 0, 0).ok());
  EXPECT_TRUE(memory.Keep(region).ok());
}

}  // namespace
}  // namespace hone

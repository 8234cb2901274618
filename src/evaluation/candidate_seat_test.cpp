#include "evaluation/candidate_seat.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(CandidateMemoryLimit, FollowsTheReferenceBetweenItsBounds) {
  EXPECT_EQ(CandidateMemoryLimit(16e9, 1e9), int64_t{8'000'000'000}) << "compilers need room";
  EXPECT_EQ(CandidateMemoryLimit(64e9, 1e9), int64_t{16'000'000'000}) << "a quarter of a large machine";
  EXPECT_EQ(CandidateMemoryLimit(64e9, 5e9), int64_t{20'000'000'000}) << "four times the reference";
  EXPECT_EQ(CandidateMemoryLimit(64e9, 50e9), int64_t{38'400'000'000}) << "Hone and the reference stay";
  EXPECT_EQ(CandidateMemoryLimit(10e9, 1e9), int64_t{6'000'000'000}) << "also on a small machine";
}

}  // namespace
}  // namespace hone

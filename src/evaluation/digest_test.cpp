#include "evaluation/digest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "evaluation/bytes_fixture.h"

namespace hone {
namespace {

constexpr uint64_t kKey = 0x123456789ABCDEF0ULL;

std::vector<float> Normal(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> draw;
  std::vector<float> values(count);
  for (float& value : values) value = draw(generator);
  return values;
}

Digest F32(const std::vector<float>& values, uint64_t key = kKey) {
  return DigestOf(Dtype::kF32, BytesOf(values), key);
}

TEST(Digest, RepeatsAndDependsOnTheKey) {
  const std::vector<float> values = Normal(100000, 1);
  EXPECT_EQ(F32(values).hash, F32(values).hash);
  EXPECT_EQ(F32(values).projections, F32(values).projections);
  EXPECT_NE(F32(values).hash, F32(values, kKey + 1).hash);
  EXPECT_NE(F32(values).projections, F32(values, kKey + 1).projections);
  EXPECT_EQ(F32(values).squares, F32(values, kKey + 1).squares);
}

TEST(Digest, HashSeesEveryBitOfEveryLength) {
  for (const size_t size : {1, 3, 4, 15, 16, 17, 31, 4095, 16384, 16385, 40001}) {
    std::vector<unsigned char> bytes(size, 0);
    const Digest plain = DigestOf(Dtype::kU8, BytesOf(bytes), kKey);
    for (size_t at = 0; at < size; at += size < 100 ? 1 : 997)
      for (int bit = 0; bit < 8; ++bit) {
        bytes[at] ^= static_cast<unsigned char>(1 << bit);
        EXPECT_FALSE(SameBytes(plain, DigestOf(Dtype::kU8, BytesOf(bytes), kKey))) << size << " " << at;
        bytes[at] = 0;
      }
    bytes.push_back(0);
    EXPECT_FALSE(SameBytes(plain, DigestOf(Dtype::kU8, BytesOf(bytes), kKey))) << "a zero more than " << size;
  }
}

TEST(Digest, HashSeesValuesThatChangePlaces) {
  std::vector<float> values = Normal(50000, 2);
  const Digest plain = F32(values);
  for (const size_t distance : {1, 2, 4, 1024, 4096, 30000}) {
    std::swap(values[5], values[5 + distance]);
    EXPECT_FALSE(SameBytes(plain, F32(values))) << distance;
    std::swap(values[5], values[5 + distance]);
  }
}

TEST(Digest, IntegersHaveNoProjections) {
  const std::vector<int64_t> values = {1, 2, 3};
  const Digest digest = DigestOf(Dtype::kI64, BytesOf(values), kKey);
  EXPECT_FALSE(digest.projected);
  const std::vector<int64_t> others = {1, 2, 4};
  EXPECT_TRUE(std::isinf(EstimateDifference(DigestOf(Dtype::kI64, BytesOf(others), kKey), digest)));
  EXPECT_EQ(EstimateDifference(digest, digest), 0);
}

TEST(Digest, SumOfSquaresIsExact) {
  const std::vector<float> values = {1, -2, 3, 0.5F, 4};
  EXPECT_EQ(F32(values).squares, 1 + 4 + 9 + 0.25 + 16);
  const std::vector<double> wide = {1e100, -1};
  EXPECT_EQ(DigestOf(Dtype::kF64, BytesOf(wide), kKey).squares, 1e200 + 1);
}

// Errors that repeat with the period of vectors or tiles must not vanish in all projections.
TEST(Digest, EstimatesTheDifferenceForEveryPatternOfErrors) {
  const size_t count = 6011;
  const std::vector<float> want = Normal(count, 3);
  const std::function<float(size_t)> patterns[] = {
      [](size_t) { return 1e-3F; },
      [](size_t i) { return i % 2 == 0 ? 1e-3F : -1e-3F; },
      [](size_t i) { return i % 4 == 3 ? 1e-3F : 0; },
      [](size_t i) { return i % 4 == 0 || i % 4 == 3 ? 1e-3F : -1e-3F; },
      [](size_t i) { return i % 8 == 5 ? 1e-3F : 0; },
      [](size_t i) { return i == 1234 ? 10.0F : 0; },
      [](size_t i) { return i > 5800 ? 1e-1F : 0; },
  };
  for (size_t p = 0; p < std::size(patterns); ++p) {
    std::vector<float> got = want;
    double difference = 0, norm = 0;
    for (size_t i = 0; i < count; ++i) {
      got[i] += patterns[p](i);
      difference += std::pow(static_cast<double>(got[i]) - want[i], 2);
      norm += std::pow(static_cast<double>(want[i]), 2);
    }
    const double truth = std::sqrt(difference / norm);
    double mean_square = 0;
    const int keys = 100;
    for (int key = 0; key < keys; ++key) {
      const double estimate = EstimateDifference(F32(got, kKey * (key + 1)), F32(want, kKey * (key + 1)));
      mean_square += estimate * estimate / keys;
      EXPECT_GT(estimate, 0.05 * truth) << "pattern " << p << " key " << key;
      EXPECT_LT(estimate, 4 * truth) << "pattern " << p << " key " << key;
    }
    // The standard deviation of the estimate is sqrt(2 / 4 / 100) / 2, or 3.5%.
    EXPECT_NEAR(std::sqrt(mean_square), truth, 0.13 * truth) << "pattern " << p;
  }
}

TEST(Digest, EveryFloatProjectsTheSameValues) {
  // 1.5, -2, 0.25 and 96 in every format, with one NaN in addition.
  const std::vector<uint16_t> half = {0x3E00, 0xC000, 0x3400, 0x5600, 0x3E00, 0xC000, 0x3400, 0x5600};
  const std::vector<uint16_t> brain = {0x3FC0, 0xC000, 0x3E80, 0x42C0, 0x3FC0, 0xC000, 0x3E80, 0x42C0};
  const std::vector<float> single = {1.5F, -2, 0.25F, 96, 1.5F, -2, 0.25F, 96};
  const std::vector<double> wide(single.begin(), single.end());
  const double squares = F32(single).squares;
  EXPECT_EQ(squares, 2 * (2.25 + 4 + 0.0625 + 9216));
  EXPECT_EQ(DigestOf(Dtype::kF16, BytesOf(half), kKey).squares, squares);
  EXPECT_EQ(DigestOf(Dtype::kBf16, BytesOf(brain), kKey).squares, squares);
  EXPECT_EQ(DigestOf(Dtype::kF64, BytesOf(wide), kKey).squares, squares);
  EXPECT_EQ(DigestOf(Dtype::kF16, BytesOf(half), kKey).projections,
            DigestOf(Dtype::kBf16, BytesOf(brain), kKey).projections);
  EXPECT_EQ(F32(single).projections, DigestOf(Dtype::kC64, BytesOf(single), kKey).projections);
}

TEST(Digest, InfinityAndNanCountByPlaceAndKind) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> want = Normal(10000, 4);
  want[77] = -inf;
  want[8000] = nan;
  const Digest truth = F32(want);
  EXPECT_EQ(truth.non_finite, 2U);
  EXPECT_TRUE(std::isfinite(truth.squares));
  std::vector<float> got = want;
  got[5] += 1e-3F;
  EXPECT_LT(EstimateDifference(F32(got), truth), 1e-3);
  EXPECT_GT(EstimateDifference(F32(got), truth), 0);
  for (const auto& [at, value] :
       std::vector<std::pair<size_t, float>>{{77, inf}, {77, nan}, {77, 0}, {78, -inf}}) {
    got = want;
    got[at] = value;
    EXPECT_TRUE(std::isinf(EstimateDifference(F32(got), truth))) << at << " " << value;
  }
  got = want;
  std::swap(got[77], got[78]);
  EXPECT_TRUE(std::isinf(EstimateDifference(F32(got), truth)));
}

TEST(Digest, SumsThatOverflowAreNotClose) {
  const std::vector<double> want = {1e300, 1, 2, 3}, got = {1e300, 1, 2, 4};
  EXPECT_TRUE(std::isinf(EstimateDifference(DigestOf(Dtype::kF64, BytesOf(got), kKey),
                                            DigestOf(Dtype::kF64, BytesOf(want), kKey))));
}

TEST(Digest, OfNothingIsTheSameAsOfNothing) {
  const std::vector<float> none;
  EXPECT_TRUE(SameBytes(F32(none), F32(none)));
  EXPECT_EQ(F32(none).squares, 0);
}

}  // namespace
}  // namespace hone

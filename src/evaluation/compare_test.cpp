#include "evaluation/compare.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "evaluation/bytes_fixture.h"

namespace hone {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<std::byte> Bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Distance CompareF32(const std::vector<float>& got, const std::vector<double>& truth) {
  return Compare(Dtype::kF32, Bytes(got), Dtype::kF64, Bytes(truth));
}

Distance CompareF64(const std::vector<double>& got, const std::vector<double>& truth) {
  return Compare(Dtype::kF64, Bytes(got), Dtype::kF64, Bytes(truth));
}

// The bytes of 0, 1, -2 and 100 (for unsigned and boolean types 0, 1, 1, 1) as the standards define them.
struct DtypeRow {
  Dtype dtype;
  std::vector<std::byte> bytes;
  std::vector<double> values;
};

std::vector<DtypeRow> DtypeRows() {
  return {
      {Dtype::kF16, Bytes<uint16_t>({0, 0x3C00, 0xC000, 0x5640}), {0, 1, -2, 100}},
      {Dtype::kBf16, Bytes<uint16_t>({0, 0x3F80, 0xC000, 0x42C8}), {0, 1, -2, 100}},
      {Dtype::kF32, Bytes<float>({0, 1, -2, 100}), {0, 1, -2, 100}},
      {Dtype::kF64, Bytes<double>({0, 1, -2, 100}), {0, 1, -2, 100}},
      {Dtype::kC64, Bytes<float>({0, 9, 1, 9, -2, 9, 100, 9}), {0, 1, -2, 100}},
      {Dtype::kC128, Bytes<double>({0, 9, 1, 9, -2, 9, 100, 9}), {0, 1, -2, 100}},
      {Dtype::kU8, Bytes<uint8_t>({0, 1, 200, 255}), {0, 1, 200, 255}},
      {Dtype::kI8, Bytes<int8_t>({0, 1, -2, 100}), {0, 1, -2, 100}},
      {Dtype::kI16, Bytes<int16_t>({0, 1, -2, 30000}), {0, 1, -2, 30000}},
      {Dtype::kI32, Bytes<int32_t>({0, 1, -2, 2000000000}), {0, 1, -2, 2000000000}},
      {Dtype::kI64, Bytes<int64_t>({0, 1, -2, 1'000'000'000'000}), {0, 1, -2, 1e12}},
      {Dtype::kBool, Bytes<uint8_t>({0, 1, 1, 0}), {0, 1, 1, 0}},
  };
}

TEST(ElementAt, ReadsEveryDtype) {
  for (const DtypeRow& row : DtypeRows())
    for (size_t i = 0; i < row.values.size(); ++i)
      EXPECT_EQ(ElementAt(row.dtype, row.bytes, i), row.values[i]) << DtypeName(row.dtype) << " " << i;
}

TEST(ElementAt, ReadsTheEdgesOfTheSmallFloats) {
  struct Row {
    Dtype dtype;
    uint16_t bits;
    double value;
  };
  for (const Row& row : std::vector<Row>{
           {Dtype::kF16, 0x0001, std::ldexp(1, -24)},     // the smallest subnormal
           {Dtype::kF16, 0x03FF, std::ldexp(1023, -24)},  // the largest subnormal
           {Dtype::kF16, 0x0400, std::ldexp(1, -14)},     // the smallest normal
           {Dtype::kF16, 0x7BFF, 65504},
           {Dtype::kF16, 0x3555, 0.333251953125},
           {Dtype::kF16, 0xFC00, -kInf},
           {Dtype::kF16, 0x7C00, kInf},
           {Dtype::kBf16, 0x0001, std::ldexp(1, -133)},
           {Dtype::kBf16, 0x0080, std::ldexp(1, -126)},
           {Dtype::kBf16, 0x7F7F, std::ldexp(255, 120)},
           {Dtype::kBf16, 0x3EAB, 0.333984375},
           {Dtype::kBf16, 0xFF80, -kInf},
       })
    EXPECT_EQ(ElementAt(row.dtype, Bytes<uint16_t>({row.bits}), 0), row.value) << std::hex << row.bits;
  for (const auto& [dtype, bits] : std::vector<std::pair<Dtype, uint16_t>>{
           {Dtype::kF16, 0x7C01}, {Dtype::kF16, 0xFE00}, {Dtype::kBf16, 0x7FC0}, {Dtype::kBf16, 0xFF81}})
    EXPECT_TRUE(std::isnan(ElementAt(dtype, Bytes<uint16_t>({bits}), 0))) << std::hex << bits;
  EXPECT_TRUE(std::signbit(ElementAt(Dtype::kF16, Bytes<uint16_t>({0x8000}), 0)));
}

TEST(ElementAt, ReadsFromAnyAddress) {
  std::vector<std::byte> shifted = Bytes<double>({3.5, 7.25});
  shifted.insert(shifted.begin(), std::byte{0});
  EXPECT_EQ(ElementAt(Dtype::kF64, std::span<const std::byte>(shifted).subspan(1), 1), 7.25);
}

TEST(Compare, FindsNoDistanceBetweenEqualTensorsOfAnyDtype) {
  for (const DtypeRow& row : DtypeRows()) {
    const Distance same = Compare(row.dtype, row.bytes, row.dtype, row.bytes);
    EXPECT_EQ(same.relative, 0) << DtypeName(row.dtype);
    EXPECT_EQ(same.worst, 0) << DtypeName(row.dtype);
    EXPECT_EQ(same.non_finite, 0u) << DtypeName(row.dtype);
    EXPECT_EQ(same.poisoned, 0u) << DtypeName(row.dtype);
    EXPECT_EQ(same.elements, 4u) << DtypeName(row.dtype);
  }
}

TEST(Compare, SeesOneChangedElementInEveryDtypeAndSaysWhichOne) {
  for (const DtypeRow& row : DtypeRows()) {
    const size_t size = DtypeSize(row.dtype);
    for (size_t i = 0; i < 4; ++i) {
      std::vector<std::byte> changed = row.bytes;
      // Changes the sign of signed types and the highest bit of others; for a complex number, in the
      // imaginary part.
      changed[(i + 1) * size - 1] ^= row.dtype == Dtype::kBool ? std::byte{1} : std::byte{0x80};
      if (row.values[i] == 0 && IsFloating(row.dtype) && size < 8) continue;  // -0 equals 0
      if (row.values[i] == 0 && row.dtype == Dtype::kF64) continue;
      const Distance distance = Compare(row.dtype, changed, row.dtype, row.bytes);
      EXPECT_GT(distance.relative, 0) << DtypeName(row.dtype) << " " << i;
      EXPECT_GT(distance.worst, 0) << DtypeName(row.dtype) << " " << i;
      EXPECT_EQ(distance.worst_at, i) << DtypeName(row.dtype);
    }
  }
}

TEST(Compare, MatchesDistancesComputedByHand) {
  const float one_ulp_up = std::nextafter(1.0f, 2.0f);
  struct Row {
    const char* what;
    std::vector<float> got;
    std::vector<double> truth;
    double relative, worst;
  };
  for (const Row& row : std::vector<Row>{
           {"one ulp at 1", {one_ulp_up}, {1}, std::ldexp(1, -23), std::ldexp(1, -23)},
           {"one ulp in one of four",
            {one_ulp_up, 1, 1, 1},
            {1, 1, 1, 1},
            std::ldexp(1, -24),
            std::ldexp(1, -23)},
           {"half an ulp of rounding",
            {1},
            {1 + std::ldexp(1, -25)},
            std::ldexp(1, -25) / (1 + std::ldexp(1, -25)),
            std::ldexp(1, -25) / (1 + std::ldexp(1, -25))},
           {"3-4-5", {3, 0}, {3, 4}, 4.0 / 5, 4 / std::sqrt(12.5)},
           {"the sign", {-1, 1}, {1, 1}, std::sqrt(2.0), 2},
           {"zeros", {0, 0, 0}, {1, -2, 2}, 1, 2 / std::sqrt(3.0)},
           {"a truth of zeros is measured absolutely", {3, 4}, {0, 0}, 5, 4},
           {"nothing off", {0, 0}, {0, 0}, 0, 0},
       }) {
    const Distance distance = CompareF32(row.got, row.truth);
    EXPECT_DOUBLE_EQ(distance.relative, row.relative) << row.what;
    EXPECT_DOUBLE_EQ(distance.worst, row.worst) << row.what;
    EXPECT_EQ(distance.non_finite, 0u) << row.what;
  }
}

TEST(Compare, OneElementOfAMillionShowsInTheWorstAndNotInTheNorm) {
  std::vector<float> got(1'000'000, 1);
  const std::vector<double> truth(got.size(), 1);
  got[777'777] = 1.5;
  const Distance distance = CompareF32(got, truth);
  EXPECT_DOUBLE_EQ(distance.relative, 0.5e-3);
  EXPECT_DOUBLE_EQ(distance.worst, 0.5);
  EXPECT_EQ(distance.worst_at, 777'777u);
}

TEST(Compare, AddsUpWithoutLosingSmallErrorsBesideALargeOne) {
  std::vector<double> got(1000), truth(1000, 1);
  for (size_t i = 0; i < got.size(); ++i) got[i] = 1 + 1e-9;
  got[0] = 1 + 1e-6;
  const double expected = std::sqrt((1e-12 + 999 * 1e-18) / 1000);
  EXPECT_NEAR(CompareF64(got, truth).relative, expected, 1e-6 * expected);
}

TEST(Compare, ComplexNumbersAreOffByEitherPart) {
  const std::vector<std::byte> truth = Bytes<double>({3, 4, 0, 0});
  const Distance real = Compare(Dtype::kC64, Bytes<float>({0, 4, 0, 0}), Dtype::kC128, truth);
  const Distance imaginary = Compare(Dtype::kC64, Bytes<float>({3, 4, 0, 5}), Dtype::kC128, truth);
  EXPECT_DOUBLE_EQ(real.relative, 0.6);
  EXPECT_EQ(real.worst_at, 0u);
  EXPECT_DOUBLE_EQ(imaginary.relative, 1);
  EXPECT_EQ(imaginary.worst_at, 1u) << "counted in elements, not in parts";
  EXPECT_EQ(imaginary.elements, 2u);
}

TEST(Compare, IntegersCountAsEqualOrDifferent) {
  const Distance distance = Compare(Dtype::kI32, Bytes<int32_t>({1, 2, 3, 1000000}), Dtype::kI32,
                                    Bytes<int32_t>({1, 2, 4, -1000000}));
  EXPECT_DOUBLE_EQ(distance.relative, 0.5);
  EXPECT_EQ(distance.worst_at, 3u);
  EXPECT_GT(distance.worst, 0);
}

TEST(Compare, TellsLargeIntegersApartThatADoubleCannotHold) {
  const int64_t large = (int64_t{1} << 53) + 1;
  const Distance distance =
      Compare(Dtype::kI64, Bytes<int64_t>({large, large}), Dtype::kI64, Bytes<int64_t>({large, large - 1}));
  EXPECT_DOUBLE_EQ(distance.relative, 0.5);
}

TEST(Compare, NanAndInfinityMustBeWhereTheTruthHasThem) {
  struct Row {
    const char* what;
    double got, truth;
    size_t non_finite;
  };
  for (const Row& row : std::vector<Row>{{"NaN for a number", kNan, 1, 1},
                                         {"infinity for a number", kInf, 1, 1},
                                         {"minus infinity for a number", -kInf, 1, 1},
                                         {"a number for infinity", 1, kInf, 1},
                                         {"a number for NaN", 1, kNan, 1},
                                         {"NaN for infinity", kNan, kInf, 1},
                                         {"the other infinity", -kInf, kInf, 1},
                                         {"the same infinity", kInf, kInf, 0},
                                         {"the same minus infinity", -kInf, -kInf, 0},
                                         {"NaN for NaN", kNan, kNan, 0},
                                         {"minus NaN for NaN", -kNan, kNan, 0}}) {
    for (const Distance& distance : {CompareF64({2, row.got, 3}, {2, row.truth, 3}),
                                     CompareF32({2, static_cast<float>(row.got), 3}, {2, row.truth, 3})}) {
      EXPECT_EQ(distance.non_finite, row.non_finite) << row.what;
      EXPECT_EQ(distance.relative, 0) << row.what << ": the rest is right and must not turn into NaN";
      if (row.non_finite > 0) {
        EXPECT_EQ(distance.worst_at, 1u) << row.what;
      }
    }
  }
}

TEST(Compare, PointsAtTheFirstElementThatIsNotFinite) {
  const Distance distance =
      CompareF32({1, static_cast<float>(kNan), 1, static_cast<float>(kInf), 9}, {1, 1, 1, 1, 1});
  EXPECT_EQ(distance.non_finite, 2u);
  EXPECT_EQ(distance.worst_at, 1u) << "the report says: first at flat index";
}

TEST(Compare, NeverAnswersWithANumberThatIsNoneAndIsNotFooledByTheRange) {
  // Squares of these values leave the range of a double; their distance does not.
  struct Row {
    const char* what;
    std::vector<double> got, truth;
    double relative;
  };
  const double tiny = 1e-200, huge = 1e200;
  for (const Row& row : std::vector<Row>{{"huge and half of it", {huge, 0}, {huge, huge}, std::sqrt(0.5)},
                                         {"huge and none of it", {0, 0}, {huge, huge}, 1},
                                         {"tiny and half of it", {tiny, 0}, {tiny, tiny}, std::sqrt(0.5)},
                                         {"tiny and none of it", {0, 0}, {tiny, tiny}, 1}}) {
    const Distance distance = CompareF64(row.got, row.truth);
    EXPECT_NEAR(distance.relative, row.relative, 1e-9) << row.what;
    EXPECT_GE(distance.worst, row.relative - 1e-9) << row.what;
  }
  const Distance absurd = CompareF64({1e300}, {1});
  EXPECT_GT(absurd.relative, 1e100);
  EXPECT_GT(absurd.worst, 1e100);
}

TEST(Compare, CountsTheElementsThatStillHoldThePoison) {
  for (const DtypeRow& row : DtypeRows()) {
    const size_t size = DtypeSize(row.dtype);
    std::vector<std::byte> got = row.bytes;
    std::memset(got.data() + size, kPoisonByte, 2 * size);
    const Distance distance = Compare(row.dtype, got, row.dtype, row.bytes);
    // 127 and 32639 are common values in short integer types, so they show only a wrong answer.
    const bool tellable = IsFloating(row.dtype) || size >= 4;
    EXPECT_EQ(distance.poisoned, tellable ? 2u : 0u) << DtypeName(row.dtype);
    EXPECT_TRUE(distance.relative > 0 || distance.non_finite > 0) << DtypeName(row.dtype);
  }
}

TEST(Compare, ASingleWrittenByteIsNoPoisonAnyMore) {
  for (const DtypeRow& row : DtypeRows()) {
    const size_t size = DtypeSize(row.dtype);
    for (size_t byte = 0; byte < size; ++byte) {
      std::vector<std::byte> got(size, std::byte{kPoisonByte});
      got[byte] = std::byte{0x7E};
      EXPECT_EQ(Compare(row.dtype, got, row.dtype, got).poisoned, 0u) << DtypeName(row.dtype) << " " << byte;
    }
  }
}

TEST(Compare, APoisonThatStraddlesTwoElementsIsNone) {
  std::vector<std::byte> got = Bytes<float>({1, 2});
  std::memset(got.data() + 2, kPoisonByte, 4);
  EXPECT_EQ(Compare(Dtype::kF32, got, Dtype::kF32, got).poisoned, 0u);
}

TEST(Compare, AnEmptyTensorIsRight) {
  const Distance distance = CompareF32({}, {});
  EXPECT_EQ(distance.elements, 0u);
  EXPECT_EQ(distance.relative, 0);
  EXPECT_EQ(distance.poisoned, 0u);
}

TEST(Compare, TheTruthMayHaveAnotherDtype) {
  const std::vector<std::byte> third = Bytes<uint16_t>({0x3555});
  const double value = 0.333251953125;
  EXPECT_DOUBLE_EQ(Compare(Dtype::kF16, third, Dtype::kF64, Bytes<double>({value})).relative, 0);
  EXPECT_DOUBLE_EQ(Compare(Dtype::kF16, third, Dtype::kF64, Bytes<double>({2 * value})).relative, 0.5);
  EXPECT_DOUBLE_EQ(Compare(Dtype::kF32, Bytes<float>({2}), Dtype::kI64, Bytes<int64_t>({4})).relative, 0.5);
}

// Rows of 32 elements, each with its own scale.
TEST(CompareShaped, MeasuresAnErrorAgainstItsRowAndItsChannel) {
  std::vector<double> truth(32 * 32), got;
  for (size_t i = 0; i < truth.size(); ++i) truth[i] = (i / 32 == 0 ? 1e4 : 1.0) * (i % 2 == 0 ? 1 : -1);
  got = truth;
  got[5 * 32 + 3] += 1e-3;
  const Distance distance = CompareShaped(Dtype::kF64, BytesOf(got), Dtype::kF64, BytesOf(truth), {32, 32});
  EXPECT_NEAR(distance.scaled, 1e-3, 1e-5);
  EXPECT_EQ(distance.scaled_at, 5U * 32 + 3);
  EXPECT_LT(distance.worst, 1e-6) << "the large row hides it";
}

TEST(CompareShaped, ShortRowsHaveNoScaleOfTheirOwn) {
  const std::vector<double> truth = {1, 1, 1e-9, 1}, got = {1, 1, 2e-9, 1};
  EXPECT_LT(CompareShaped(Dtype::kF64, BytesOf(got), Dtype::kF64, BytesOf(truth), {4, 1}).scaled, 1e-8);
}

TEST(CountFar, CountsElementsOutsideOfTheTolerance) {
  const std::vector<float> truth = {1, 100, INFINITY, 0}, got = {1.005F, 102, INFINITY, 0.02F};
  EXPECT_EQ(CountFar(Dtype::kF32, BytesOf(got), Dtype::kF32, BytesOf(truth), 0.01, 0.01), 2U);
}

}  // namespace
}  // namespace hone

#include "evaluation/device_scales.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "evaluation/bytes_fixture.h"
#include "evaluation/device_fixture.h"
#include "evaluation/device_plane.h"

namespace hone {
namespace {

TEST(Divisor, DividesExactly) {
  const uint64_t values[] = {
      1, 2, 3, 5, 7, 16, 127, 128, 1000003, (1ULL << 32) - 1, 1ULL << 32, (1ULL << 40) + 7};
  std::mt19937_64 generator(1);
  for (const uint64_t by : values) {
    const kernels::Divisor divisor = kernels::MakeDivisor(by);
    for (const uint64_t at : values)
      for (const uint64_t number :
           {at - 1, at, at * by - 1, at * by, at * by + 1, generator(), generator() >> 30})
        EXPECT_EQ(kernels::Divide(number, divisor), number / by) << number << " / " << by;
  }
}

std::vector<uint64_t> Counts(std::initializer_list<std::pair<double, uint64_t>> values) {
  std::vector<uint64_t> counts(kernels::kExponents);
  for (const auto& [value, count] : values) counts[kernels::ExponentOf(value)] += count;
  return counts;
}

TEST(GiantsFrom, FindsAGroupApart) {
  EXPECT_EQ(GiantsFrom(Counts({{1, 900}, {0.3, 50}, {-1e9, 50}})), std::ldexp(1, 29));
  EXPECT_TRUE(std::isinf(GiantsFrom(Counts({{1, 900}, {500, 100}}))));
  EXPECT_TRUE(std::isinf(GiantsFrom(Counts({{1, 1000}, {1e-9, 5}}))));  // outliers near zero are no group
  EXPECT_TRUE(std::isinf(GiantsFrom(Counts({}))));
}

TEST(ViewOf, KnowsRowsAndChannels) {
  const ShapeView image = ViewOf(Dtype::kF32, 2 * 3 * 8 * 32, {2, 3, 8, 32});
  EXPECT_EQ(image.row_length, 32U);
  EXPECT_EQ(image.outer, 2U);
  EXPECT_EQ(image.channels, 3U);
  EXPECT_EQ(image.inner, 256U);
  EXPECT_EQ(ViewOf(Dtype::kF32, 10 * 8, {10, 8}).row_length, 0U);  // short rows
  EXPECT_EQ(ViewOf(Dtype::kF32, 10 * 8, {10, 8}).channels, 0U);    // ten values a channel
  EXPECT_EQ(ViewOf(Dtype::kC64, 10 * 16, {10, 8}).row_length, 16U);
  EXPECT_EQ(ViewOf(Dtype::kI32, 4096, {64, 64}).row_length, 0U);
  EXPECT_EQ(ViewOf(Dtype::kF32, 64, {64}).channels, 0U);
}

// Computes every element directly from the definition.
struct Scaled {
  double worst = 0;
  size_t at = 0;
};
Scaled WorstScaled(const std::vector<float>& got, const std::vector<double>& truth, const ShapeView& view,
                   double giant) {
  const auto rms = [&](const std::function<bool(size_t)>& member, double otherwise) {
    double squares = 0;
    size_t count = 0;
    for (size_t i = 0; i < truth.size(); ++i)
      if (member(i) && std::isfinite(truth[i]) && std::abs(truth[i]) < giant) {
        squares += truth[i] * truth[i];
        ++count;
      }
    return count < 8 ? otherwise : std::sqrt(squares / static_cast<double>(count));
  };
  const double typical = rms([](size_t) { return true; }, 0);
  std::vector<double> rows, channels;
  if (view.row_length > 0)
    for (size_t row = 0; row < truth.size() / view.row_length; ++row)
      rows.push_back(rms([&](size_t i) { return i / view.row_length == row; }, typical));
  for (size_t channel = 0; channel < view.channels; ++channel)
    channels.push_back(rms([&](size_t i) { return i / view.inner % view.channels == channel; }, typical));
  Scaled found;
  for (size_t i = 0; i < truth.size(); ++i) {
    if (!std::isfinite(truth[i]) || !std::isfinite(got[i])) continue;
    double scale = typical;
    if (!rows.empty()) scale = std::min(scale, rows[i / view.row_length]);
    if (!channels.empty()) scale = std::min(scale, channels[i / view.inner % view.channels]);
    scale = std::max({scale, 1e-4 * typical, std::abs(truth[i])});
    const double off = std::abs(got[i] - truth[i]) / (scale > 0 ? scale : 1);
    if (off > found.worst) found = {off, i};
  }
  return found;
}

struct ScaleCase {
  std::vector<int64_t> shape;
  std::vector<double> truth;
  std::vector<float> got;
};

// Rows and channels of very different sizes, a mask, and one infinity.
ScaleCase MakeCase(const std::vector<int64_t>& shape) {
  ScaleCase made;
  made.shape = shape;
  size_t numbers = 1;
  for (const int64_t extent : shape) numbers *= static_cast<size_t>(extent);
  std::mt19937 generator(static_cast<unsigned>(numbers));
  std::normal_distribution<double> draw;
  for (size_t i = 0; i < numbers; ++i) {
    const double row = std::exp2(static_cast<double>(i / static_cast<size_t>(shape.back()) % 7));
    double value = draw(generator) * row;
    if (i % 11 == 3) value = -1e9;
    if (i == numbers / 2) value = -INFINITY;
    made.truth.push_back(value);
    made.got.push_back(static_cast<float>(value * (1 + 1e-5 * draw(generator))));
  }
  return made;
}

const std::vector<int64_t> kShapes[] = {{1},          {40},        {16, 16},    {5, 1000},    {1000, 5},
                                        {300, 17},    {33, 100},   {4, 20, 50}, {2, 3, 7, 9}, {20000},
                                        {3, 2, 9001}, {64, 40, 3}, {700, 2, 16}};

TEST(ScalesOnHost, FindTheWorstElementOfItsRowAndChannel) {
  for (const std::vector<int64_t>& shape : kShapes) {
    const ScaleCase made = MakeCase(shape);
    const HostScales scales = ScalesOnHost(Dtype::kF32, Dtype::kF64, BytesOf(made.truth), shape);
    if (made.truth.size() > 100) {
      EXPECT_EQ(scales.giant, std::ldexp(1, 29)) << ShapeText(shape);
    }
    const ComparedSums sums =
        CompareOnHost(Dtype::kF32, BytesOf(made.got), Dtype::kF64, BytesOf(made.truth), {&scales, -1, 0});
    const Scaled expected = WorstScaled(made.got, made.truth, scales.view, scales.giant);
    EXPECT_NEAR(sums.partial.scaled, expected.worst, 1e-11 * expected.worst) << ShapeText(shape);
    if (expected.worst > 0) {
      EXPECT_EQ(sums.partial.scaled_at, expected.at) << ShapeText(shape);
    }
    EXPECT_EQ(sums.partial.truth_non_finite, 1U);
  }
}

TEST(ScalesOnHost, AreOfTheTensorThatIsCompared) {
  const ScaleCase made = MakeCase({33, 100}), other = MakeCase({40});
  const HostScales scales = ScalesOnHost(Dtype::kF32, Dtype::kF64, BytesOf(other.truth), {40});
  EXPECT_EQ(CompareOnHost(Dtype::kF32, BytesOf(made.got), Dtype::kF64, BytesOf(made.truth), {&scales, -1, 0})
                .numbers,
            0U);
}

TEST(CompareOnHost, CountsWhatIsFar) {
  const float nan = std::nanf("");
  const std::vector<float> got = {1, 1.1F, 2, nan, nan, INFINITY, 0.5F},
                           truth = {1, 1, 1, 1, nan, INFINITY, 0};
  const ComparedSums sums =
      CompareOnHost(Dtype::kF32, BytesOf(got), Dtype::kF32, BytesOf(truth), {nullptr, 0.1, 0.05});
  EXPECT_EQ(sums.partial.far, 3U);  // 2 for 1, NaN for 1, 0.5 for 0
  EXPECT_EQ(sums.partial.truth_non_finite, 2U);
  EXPECT_EQ(sums.partial.scaled, 0);
}

TEST(DevicePlane, PreparesTheScalesThatTheHostPrepares) {
  FakeDevice device;
  const Driver driver = FakeDriver(&device);
  {
    const auto plane = std::move(*DevicePlane::Open(0, &driver));
    for (const std::vector<int64_t>& shape : kShapes) {
      const ScaleCase made = MakeCase(shape);
      DeviceBuffer got = std::move(*plane->Allocate(made.got.size() * 4, true));
      DeviceBuffer truth = std::move(*plane->Allocate(made.truth.size() * 8, false));
      ASSERT_TRUE(plane->Upload(got.span(), BytesOf(made.got)).ok());
      ASSERT_TRUE(plane->Upload(truth.span(), BytesOf(made.truth)).ok());
      const auto scales = plane->PrepareScales(Dtype::kF32, Dtype::kF64, truth.span(), shape);
      ASSERT_TRUE(scales.ok()) << scales.error().message;
      const HostScales on_host = ScalesOnHost(Dtype::kF32, Dtype::kF64, BytesOf(made.truth), shape);
      const auto sums =
          plane->CompareSums(Dtype::kF32, got.span(), Dtype::kF64, truth.span(), {&*scales, 1e-3, 1e-3});
      ASSERT_TRUE(sums.ok()) << sums.error().message;
      const ComparedSums expected = CompareOnHost(Dtype::kF32, BytesOf(made.got), Dtype::kF64,
                                                  BytesOf(made.truth), {&on_host, 1e-3, 1e-3});
      EXPECT_EQ(sums->partial.scaled, expected.partial.scaled) << ShapeText(shape);
      EXPECT_EQ(sums->partial.scaled_at, expected.partial.scaled_at) << ShapeText(shape);
      EXPECT_EQ(sums->partial.far, expected.partial.far) << ShapeText(shape);
    }
    DeviceBuffer other = std::move(*plane->Allocate(64, false));
    const auto scales = plane->PrepareScales(Dtype::kF32, Dtype::kF32, other.span(), {16});
    EXPECT_FALSE(
        plane->Compare(Dtype::kF32, other.span().Part(0, 32), Dtype::kF32, other.span().Part(0, 32), &*scales)
            .ok());
    EXPECT_FALSE(plane->PrepareScales(Dtype::kI32, Dtype::kI32, other.span(), {16}).ok());
    EXPECT_TRUE(plane->PrepareScales(Dtype::kF32, Dtype::kF32, other.span().Part(0, 0), {0}).ok());
  }
  EXPECT_TRUE(device.IsClean());
}

}  // namespace
}  // namespace hone

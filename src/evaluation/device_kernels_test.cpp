#include "evaluation/device_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "evaluation/bytes_fixture.h"
#include "evaluation/device_fixture.h"
#include "evaluation/device_plane.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Dtype kAllDtypes[] = {Dtype::kF16, Dtype::kBf16, Dtype::kF32, Dtype::kF64,
                                Dtype::kC64, Dtype::kC128, Dtype::kU8,  Dtype::kI8,
                                Dtype::kI16, Dtype::kI32,  Dtype::kI64, Dtype::kBool};

std::vector<std::byte> RandomBytes(size_t count, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator() >> 56);
  return bytes;
}

// Random bits include NaN, infinity, subnormal numbers and numbers of every size. Some elements are poison.
void SpoilSome(Dtype dtype, std::vector<std::byte>* bytes) {
  const size_t size = DtypeSize(dtype);
  for (size_t element = 3; (element + 1) * size <= bytes->size(); element += 701)
    std::memset(bytes->data() + element * size, kPoisonByte, size);
}

void ExpectSame(const Distance& got, const Distance& want, const std::string& what) {
  const auto near = [&](double a, double b, const char* name) {
    if (std::isfinite(b)) {
      EXPECT_NEAR(a, b, 1e-12 * std::abs(b)) << what << " " << name;
    } else {
      EXPECT_EQ(std::isnan(a), std::isnan(b)) << what << " " << name;
    }
  };
  near(got.relative, want.relative, "relative");
  near(got.worst, want.worst, "worst");
  EXPECT_EQ(got.non_finite, want.non_finite) << what;
  EXPECT_EQ(got.poisoned, want.poisoned) << what;
  EXPECT_EQ(got.elements, want.elements) << what;
  EXPECT_EQ(got.worst_at, want.worst_at) << what;
}

TEST(CompareOnHost, GivesWhatCompareGivesForEveryDtypeAndSize) {
  for (const Dtype dtype : kAllDtypes)
    for (const size_t elements : {0, 1, 2, 3, 7, 255, 511, 512, 1023, 2047, 2048, 2049, 5000, 20011}) {
      const std::string what = std::string(DtypeName(dtype)) + " " + std::to_string(elements);
      std::vector<std::byte> got = RandomBytes(elements * DtypeSize(dtype), 1);
      const std::vector<std::byte> truth = RandomBytes(elements * DtypeSize(dtype), 2);
      SpoilSome(dtype, &got);
      ExpectSame(DistanceOf(dtype, CompareOnHost(dtype, got, dtype, truth)),
                 Compare(dtype, got, dtype, truth), what);
      ExpectSame(DistanceOf(dtype, CompareOnHost(dtype, got, dtype, got)), Compare(dtype, got, dtype, got),
                 what);
      const Dtype wide = dtype == Dtype::kC64 || dtype == Dtype::kC128 ? Dtype::kC128 : Dtype::kF64;
      const std::vector<std::byte> exact = RandomBytes(elements * DtypeSize(wide), 3);
      ExpectSame(DistanceOf(dtype, CompareOnHost(dtype, got, wide, exact)), Compare(dtype, got, wide, exact),
                 what);
    }
}

TEST(CompareOnHost, TakesTheFirstOfEqualWorstElements) {
  std::vector<float> got(6000, 0), truth(6000, 1);
  EXPECT_EQ(
      DistanceOf(Dtype::kF32, CompareOnHost(Dtype::kF32, BytesOf(got), Dtype::kF32, BytesOf(truth))).worst_at,
      0U);
  got.assign(6000, 1);
  got[5999] = got[2100] = got[4097] = 3;
  EXPECT_EQ(
      DistanceOf(Dtype::kF32, CompareOnHost(Dtype::kF32, BytesOf(got), Dtype::kF32, BytesOf(truth))).worst_at,
      2100U);
}

TEST(CompareOnHost, SeesIntegersThatDoublesCannotTellApart) {
  const int64_t large = (int64_t{1} << 60) + 1;
  const std::vector<int64_t> got(3000, large), truth(3000, large - 1);
  EXPECT_EQ(
      DistanceOf(Dtype::kI64, CompareOnHost(Dtype::kI64, BytesOf(got), Dtype::kI64, BytesOf(truth))).relative,
      1);
}

TEST(ComparedSums, OfPiecesJoinToTheWhole) {
  std::mt19937 generator(5);
  std::normal_distribution<double> draw;
  std::vector<double> truth(10000), got(10000);
  for (size_t i = 0; i < truth.size(); ++i) {
    truth[i] =
        draw(generator) * (i < 5000 ? 1e-200 : 1e150);  // the squares of neither half fit into a double
    got[i] = truth[i] * (1 + 1e-6 * draw(generator));
  }
  got[7777] = std::numeric_limits<double>::quiet_NaN();
  const Distance whole = Compare(Dtype::kF64, BytesOf(got), Dtype::kF64, BytesOf(truth));
  ComparedSums sums;
  for (size_t at = 0; at < truth.size(); at += 2500) {
    const auto piece = [&](const std::vector<double>& all) { return BytesOf(all).subspan(at * 8, 2500 * 8); };
    sums = Join(sums, CompareOnHost(Dtype::kF64, piece(got), Dtype::kF64, piece(truth)));
  }
  ExpectSame(DistanceOf(Dtype::kF64, sums), whole, "pieces");
  EXPECT_EQ(whole.worst_at, 7777U);
}

struct Plane {
  FakeDevice device;
  Driver driver = FakeDriver(&device);
  std::unique_ptr<DevicePlane> plane;
  Plane() { plane = std::move(*DevicePlane::Open(0, &driver)); }
};

TEST(DevicePlane, ComparesAndDigestsWhatIsOnTheDevice) {
  Plane made;
  for (const Dtype dtype : kAllDtypes)
    for (const size_t elements : {1, 2049, 30001}) {
      const std::string what = std::string(DtypeName(dtype)) + " " + std::to_string(elements);
      std::vector<std::byte> got = RandomBytes(elements * DtypeSize(dtype), 6);
      const std::vector<std::byte> truth = RandomBytes(elements * DtypeSize(dtype), 7);
      SpoilSome(dtype, &got);
      DeviceBuffer a = std::move(*made.plane->Allocate(got.size(), true));
      DeviceBuffer b = std::move(*made.plane->Allocate(got.size(), false));
      ASSERT_TRUE(made.plane->Upload(a.span(), got).ok());
      ASSERT_TRUE(made.plane->Upload(b.span(), truth).ok());
      ExpectSame(*made.plane->Compare(dtype, a.span(), dtype, b.span()), Compare(dtype, got, dtype, truth),
                 what);
      const Digest digest = *made.plane->DigestOf(dtype, a.span(), 99), expected = DigestOf(dtype, got, 99);
      EXPECT_EQ(digest.hash, expected.hash) << what;
      EXPECT_EQ(0, std::memcmp(&digest.projections, &expected.projections, sizeof digest.projections))
          << what;
      EXPECT_FALSE(*made.plane->Equal(a.span(), b.span())) << what;
      ASSERT_TRUE(made.plane->Copy(b.span(), a.span()).ok());
      EXPECT_TRUE(*made.plane->Equal(a.span(), b.span())) << what;
    }
}

TEST(DevicePlane, FillsEveryByteAndNoMore) {
  Plane made;
  DeviceBuffer buffer = std::move(*made.plane->Allocate(64, false));
  ASSERT_TRUE(made.plane->Fill(buffer.span(), 0).ok());
  ASSERT_TRUE(made.plane->Fill(buffer.span().Part(16, 7), kPoisonByte).ok());
  ASSERT_TRUE(made.plane->Fill(buffer.span().Part(33, 2), kPoisonByte).ok());
  std::vector<std::byte> bytes(64);
  ASSERT_TRUE(made.plane->Download(bytes, buffer.span()).ok());
  for (size_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(std::to_integer<int>(bytes[i]), (i >= 16 && i < 23) || i == 33 || i == 34 ? kPoisonByte : 0)
        << i;
}

TEST(DevicePlane, LoadsItsOwnKernelsOnce) {
  Plane made;
  EXPECT_EQ(made.device.modules, 1);
  EXPECT_THAT(made.device.image, HasSubstr(".target sm_75"));
  for (const char* kernel : fake::kKernels)
    EXPECT_THAT(made.device.image, HasSubstr(std::string(".entry ") + kernel + "("));
  DeviceBuffer buffer = std::move(*made.plane->Allocate(4096, false));
  made.device.launched.clear();
  ASSERT_TRUE(made.plane->DigestOf(Dtype::kF32, buffer.span(), 1).ok());
  EXPECT_THAT(made.device.launched, ElementsAre("hone_digest_f32", "hone_merge_digest"));
}

TEST(DevicePlane, RefusesSpansThatDoNotFitTogether) {
  Plane made;
  DeviceBuffer buffer = std::move(*made.plane->Allocate(4096, false));
  const DeviceSpan all = buffer.span();
  EXPECT_FALSE(made.plane->Compare(Dtype::kF32, all, Dtype::kF64, all).ok());
  EXPECT_FALSE(made.plane->Compare(Dtype::kC64, all, Dtype::kF32, all).ok());
  EXPECT_FALSE(made.plane->Compare(Dtype::kF32, all.Part(4, 64), Dtype::kF32, all.Part(0, 64)).ok());
  EXPECT_FALSE(made.plane->DigestOf(Dtype::kF32, all.Part(8, 64), 1).ok());
  EXPECT_FALSE(made.plane->Copy(all, all.Part(0, 64)).ok());
  EXPECT_FALSE(*made.plane->Equal(all, all.Part(0, 64)));
  EXPECT_TRUE(*made.plane->Equal(all.Part(0, 0), all.Part(0, 0)));
  EXPECT_EQ(made.plane->Compare(Dtype::kF32, all.Part(0, 0), Dtype::kF64, all.Part(0, 0))->elements, 0U);
}

TEST(DevicePlane, ADriverThatFailsIsAnErrorAndLeavesNothing) {
  for (const char* step : {"Init", "DeviceGetCount", "PrimaryCtxRetain", "MemCreate", "ModuleLoadData"}) {
    FakeDevice device;
    const Driver driver = FakeDriver(&device);
    device.failing = step;
    EXPECT_FALSE(DevicePlane::Open(0, &driver).ok()) << step;
    EXPECT_TRUE(device.IsClean()) << step;
  }
  FakeDevice device;
  const Driver driver = FakeDriver(&device);
  {
    auto plane = std::move(*DevicePlane::Open(0, &driver));
    DeviceBuffer buffer = std::move(*plane->Allocate(4096, false));
    for (const char* step : {"LaunchKernel", "CtxSynchronize", "CtxPushCurrent"}) {
      device.failing = step;
      EXPECT_FALSE(plane->DigestOf(Dtype::kF32, buffer.span(), 1).ok()) << step;
      EXPECT_FALSE(plane->Compare(Dtype::kF32, buffer.span(), Dtype::kF32, buffer.span()).ok()) << step;
      EXPECT_FALSE(plane->Equal(buffer.span(), buffer.span()).ok()) << step;
    }
    device.failing.clear();
  }
  EXPECT_TRUE(device.IsClean());
}

}  // namespace
}  // namespace hone

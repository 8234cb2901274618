// Tests Student's t against its density, integrated by Simpson's rule.
#include "base/student.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

// The probability that |t| exceeds `limit`.
double TailsBeyond(double limit, double degrees) {
  const auto density = [&](double t) { return std::pow(1 + t * t / degrees, -(degrees + 1) / 2); };
  const double scale = std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2)) /
                       std::sqrt(degrees * std::acos(-1.0));
  constexpr int kSteps = 2000;
  const double step = limit / kSteps;
  double sum = density(0) + density(limit);
  for (int i = 1; i < kSteps; ++i) sum += (i % 2 == 1 ? 4 : 2) * density(i * step);
  return 1 - 2 * scale * sum * step / 3;
}

TEST(Student, ExceedsItsValueWithFivePercent) {
  for (size_t degrees = 1; degrees <= 200; ++degrees)
    EXPECT_NEAR(TailsBeyond(Student95(degrees), static_cast<double>(degrees)), 0.05,
                degrees <= 16 ? 1e-5 : 1e-3)
        << degrees;
}

TEST(Student, IsInfiniteWithoutDegreesAndNormalWithMany) {
  EXPECT_TRUE(std::isinf(Student95(0)));
  EXPECT_NEAR(Student95(1000000), kNormal95, 1e-5);
  EXPECT_NEAR(std::erfc(kNormal95 / std::sqrt(2.0)), 0.05, 1e-6);
}

TEST(Student, FallsWithTheDegrees) {
  for (size_t degrees = 1; degrees < 200; ++degrees) EXPECT_GT(Student95(degrees), Student95(degrees + 1));
}

}  // namespace
}  // namespace hone

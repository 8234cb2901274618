#include "evaluation/fma_peak.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(FmaPeak, IsARateThatACoreCanHaveAndWiderNumbersHalve) {
  const std::map<std::string, double> peak = MeasureFmaPeak(1);
  EXPECT_GT(peak.at("float32"), 1e8);
  EXPECT_LT(peak.at("float32"), 1e13);
  EXPECT_GT(peak.at("float32"), peak.at("float64"));
}

TEST(FmaPeak, NoThreadsAreOne) {
  EXPECT_GT(MeasureFmaPeak(0).at("float32"), 1e8);
}

}  // namespace
}  // namespace hone

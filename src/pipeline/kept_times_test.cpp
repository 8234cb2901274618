#include "pipeline/kept_times.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(KeptTimes, ASingleMeasurementIsNotUsedAgain) {
  const TempFolder folder = *TempFolder::Make("hone-kept-");
  const fs::path path = folder.path() / "looks" / "one.json";
  struct Row {
    double us;
    std::optional<double> agreed;
  };
  for (const Row& row : {Row{100, std::nullopt}, Row{110, 100.0}, Row{200, std::nullopt}, Row{190, 190.0},
                         Row{0.3, std::nullopt}, Row{0.3, std::nullopt}}) {
    KeptTimes(path).Add(row.us);
    EXPECT_EQ(KeptTimes(path).Agreed(), row.agreed) << row.us;
  }
}

TEST(KeptTimes, AFileThatHoldsNoTimesIsLikeNone) {
  const TempFolder folder = *TempFolder::Make("hone-kept-");
  const fs::path path = folder.path() / "one.json";
  EXPECT_FALSE(KeptTimes(path).Agreed());
  for (const char* text : {"", "{", "[]", R"({"call_us": 50})", R"({"times_us": 7})",
                           R"({"times_us": ["50", "50"]})", R"({"times_us": [50]})"}) {
    ASSERT_TRUE(WriteFileAtomic(path, text).ok());
    EXPECT_FALSE(KeptTimes(path).Agreed()) << text;
  }
}

}  // namespace
}  // namespace hone

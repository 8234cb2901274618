#include "cli/common.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace hone {
namespace {

// scripts/setup.sh looks for /dev/nvidia[0-9]* and /dev/dxg.
TEST(HasGpu, AnyNumberedDeviceCountsAndControlFilesDoNot) {
  struct {
    const char* file;
    bool gpu;
  } const kRows[] = {{"nvidia0", true}, {"nvidia3", true},    {"nvidia12", true},   {"dxg", true},
                     {"null", false},   {"nvidiactl", false}, {"nvidia-uvm", false}};
  for (const auto& row : kRows) {
    const TempFolder folder = *TempFolder::Make("hone-dev-");
    ASSERT_TRUE(WriteFileAtomic(folder.path() / row.file, "").ok());
    EXPECT_EQ(HasGpuIn(folder.path()), row.gpu) << row.file;
  }
  EXPECT_FALSE(HasGpuIn("/no/such/folder"));
}

TEST(AskForJson, IsKnownBeforeTheLineIsUnderstood) {
  EXPECT_TRUE(AskForJson({"bnech", "--json", "--nonsense"}));
  EXPECT_FALSE(AskForJson({"bench", "json"}));
}

}  // namespace
}  // namespace hone

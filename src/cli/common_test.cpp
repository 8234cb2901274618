#include "cli/common.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"

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

TEST(Report, AFailureIsJsonWhateverItsKind) {
  const std::pair<ErrorKind, int> kinds[] = {
      {ErrorKind::kUsage, 2}, {ErrorKind::kIo, 3}, {ErrorKind::kInterrupted, 130}};
  for (const auto& [kind, exit_code] : kinds) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(Report(Error{kind, "why"}, true), exit_code);
    const Json said = *ParseJson(testing::internal::GetCapturedStdout());
    EXPECT_EQ(GetInt(said, "exit_code"), exit_code);
    EXPECT_EQ(GetString(GetMember(said, "error"), "message"), "why");
  }
}

}  // namespace
}  // namespace hone

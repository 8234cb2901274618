#include "evaluation/task_folder_blame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;

const Json& Beside() {
  static const Json kFound = Json::array({Json{{"name", "helper.py"}, {"text", "t.py:2 imports helper.py"}}});
  return kFound;
}

std::string Told(const std::string& type, const std::string& message, const Json& beside) {
  WorkerFailure failure{FailureKind::kException, type, message, ""};
  BlameTaskFolder(beside, &failure);
  return failure.message;
}

TEST(BlameTaskFolder, NamesTheLineOfTheTaskThatNeedsTheFile) {
  EXPECT_THAT(Told("ModuleNotFoundError", "No module named 'helper'", Beside()),
              HasSubstr("'helper'; t.py:2 imports helper.py, and a candidate cannot"));
}

TEST(BlameTaskFolder, IsRecognisedInAVerdictWhateverTheFailureWas) {
  const Json reads = Json::array({Json{{"name", "table.txt"}, {"text", "t.py:5 reads table.txt"}}});
  for (const char* type : {"FileNotFoundError", "PermissionError"}) {
    const std::string detail =
        std::string(type) + ": " + Told(type, "'/home/me/table.txt'", reads) + " (while: build)\nmore";
    EXPECT_TRUE(BlamesTaskFolder(detail)) << detail;
    EXPECT_EQ(BlamedLine(detail), std::string(type) + ": '/home/me/table.txt'; t.py:5 reads table.txt");
  }
  EXPECT_FALSE(BlamesTaskFolder("FileNotFoundError: 'table.txt'"));
  EXPECT_EQ(BlamedLine("FileNotFoundError: 'table.txt'"), "");
}

TEST(BlameTaskFolder, SaysNothingAboutOtherFailures) {
  EXPECT_EQ(Told("ValueError", "helper", Beside()), "helper");
  EXPECT_EQ(Told("ModuleNotFoundError", "No module named 'numba'", Beside()), "No module named 'numba'");
  EXPECT_EQ(Told("ModuleNotFoundError", "No module named 'helper'", Json()), "No module named 'helper'");
}

}  // namespace
}  // namespace hone

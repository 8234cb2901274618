#include "pipeline/run_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace hone {
namespace {

class RunLockTest : public testing::Test {
 protected:
  RunLockTest() : folder_(*TempFolder::Make("hone-lock-")) {
    const char* before = std::getenv("HONE_DATA");
    if (before != nullptr) before_ = before;
    setenv("HONE_DATA", folder_.path().c_str(), 1);
    run_.id = 7;
    run_.status = "running";
  }
  ~RunLockTest() override {
    if (before_.empty())
      unsetenv("HONE_DATA");
    else
      setenv("HONE_DATA", before_.c_str(), 1);
  }

  TempFolder folder_;
  std::string before_;
  RunRecord run_;
};

TEST_F(RunLockTest, ARunIsAbandonedUnlessSomebodyHoldsItsLock) {
  EXPECT_TRUE(IsAbandoned(run_));
  {
    const Result<UniqueFd> lock = LockRun(run_.id, 0);
    ASSERT_TRUE(lock.ok());
    EXPECT_FALSE(IsAbandoned(run_));
    EXPECT_FALSE(LockRun(run_.id, 0).ok());
  }
  EXPECT_TRUE(IsAbandoned(run_));
}

TEST_F(RunLockTest, ARunThatEndedIsNotAbandoned) {
  run_.status = "done";
  EXPECT_FALSE(IsAbandoned(run_));
}

TEST_F(RunLockTest, TheKernelSaysWhoWorksOnIt) {
  EXPECT_EQ(WorkerOf(run_.id), 0);
  const Result<UniqueFd> lock = LockRun(run_.id, 0);
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(WorkerOf(run_.id), getpid());
}

}  // namespace
}  // namespace hone

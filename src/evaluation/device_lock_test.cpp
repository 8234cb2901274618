#include "evaluation/device_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace hone {
namespace {

using testing::HasSubstr;

class DeviceLockTest : public testing::Test {
 protected:
  DeviceLockTest() {
    // As /tmp is: everybody may write, nobody may remove what belongs to others.
    EXPECT_EQ(chmod(folder_.path().c_str(), 01777), 0);
  }
  fs::path shared() const { return folder_.path() / "hone-cpu.lock"; }

  // What was said, or the Error.
  std::string Take(double seconds, std::optional<DeviceLock>* kept = nullptr) {
    std::string said;
    Result<DeviceLock> lock = DeviceLock::Take(
        "cpu", Deadline::After(seconds), [&](const std::string& what, int, int) { said += what + "\n"; },
        folder_.path());
    if (!lock.ok()) return said + "ERROR " + lock.error().message;
    if (kept != nullptr) kept->emplace(std::move(*lock));
    return said;
  }

  // The same in a process of another user; needs root.
  std::string AsNobody(const std::function<std::string()>& run) {
    int answer[2];
    EXPECT_EQ(pipe(answer), 0);
    const pid_t child = fork();
    if (child == 0) {
      std::string said = "cannot become another user";
      if (setgid(65534) == 0 && setuid(65534) == 0) said = run();
      (void)!write(answer[1], said.data(), said.size());
      _exit(0);
    }
    close(answer[1]);
    char said[2000] = {};
    EXPECT_GE(read(answer[0], said, sizeof said - 1), 0);
    close(answer[0]);
    waitpid(child, nullptr, 0);
    return said;
  }

  TempFolder folder_ = *TempFolder::Make("hone-lock-");
};

TEST_F(DeviceLockTest, KeepsASecondOneWaitingAndLetsItGoOnAfterwards) {
  std::optional<DeviceLock> first;
  EXPECT_EQ(Take(5, &first), "");
  const std::string second = Take(0.2);
  EXPECT_THAT(second, HasSubstr("waiting for another Hone process"));
  EXPECT_THAT(second, HasSubstr("ERROR the time for this work is over"));
  first.reset();
  EXPECT_EQ(Take(5), "");
}

TEST_F(DeviceLockTest, IsReadableForOthersWhateverTheUmask) {
  const mode_t before = umask(0077);
  Take(1);
  umask(before);
  struct stat info {};
  ASSERT_EQ(stat(shared().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
}

TEST_F(DeviceLockTest, LocksAFileThatAnotherUserMade) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to be two users";
  std::optional<DeviceLock> ours;
  ASSERT_EQ(Take(5, &ours), "");
  EXPECT_THAT(AsNobody([&] { return Take(0.2); }), HasSubstr("waiting for another Hone process"));
  ours.reset();
  EXPECT_EQ(AsNobody([&] { return Take(5); }), "");
}

TEST_F(DeviceLockTest, SaysSoAndLocksAFileOfItsOwnWhereTheSharedOneIsClosed) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to be two users";
  Take(1);
  ASSERT_EQ(chmod(shared().c_str(), 0600), 0);
  const std::string said = AsNobody([&] {
    std::optional<DeviceLock> own;
    const std::string first = Take(1, &own);
    return first + Take(0.2);
  });
  EXPECT_THAT(said, HasSubstr("will not wait for timings of other users"));
  EXPECT_THAT(said, HasSubstr("waiting for another Hone process")) << "its own file is not locked";
}

TEST_F(DeviceLockTest, FailsWithASentenceWhereNothingCanBeLocked) {
  std::string said;
  const Result<DeviceLock> lock = DeviceLock::Take(
      "cpu", Deadline::After(1), [](const std::string&, int, int) {}, folder_.path() / "not" / "there");
  ASSERT_FALSE(lock.ok());
  EXPECT_THAT(lock.error().message, HasSubstr("cannot keep other processes from timing"));
}

TEST_F(DeviceLockTest, DoesNotFollowALink) {
  ASSERT_EQ(symlink("/etc/passwd", shared().c_str()), 0);
  EXPECT_THAT(Take(1), HasSubstr("will not wait for timings of other users"));
}

}  // namespace
}  // namespace hone

#include "evaluation/device_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "evaluation/visible_gpus.h"

namespace hone {
namespace {

using testing::HasSubstr;

class DeviceLockTest : public testing::Test {
 protected:
  DeviceLockTest() {
    // Like /tmp: all users may write, but nobody may remove other users' files.
    EXPECT_EQ(chmod(folder_.path().c_str(), 01777), 0);
  }
  fs::path shared() const { return folder_.path() / "hone-cpu.lock"; }

  // Returns the progress messages, or the Error.
  std::string Take(double seconds, std::optional<DeviceLock>* kept = nullptr) {
    std::string said;
    Result<DeviceLock> lock = DeviceLock::Take(
        "cpu", Deadline::After(seconds), [&](const std::string& what, int, int) { said += what + "\n"; },
        folder_.path());
    if (!lock.ok()) return said + "ERROR " + lock.error().message;
    if (kept != nullptr) kept->emplace(std::move(*lock));
    return said;
  }

  // Runs the same in a process of another user. Needs root.
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

// A separate process, forked before anything is locked, because an inherited descriptor would keep the lock.
// It uses the GPU from Begin to End.
class Neighbour {
 public:
  explicit Neighbour(const fs::path& folder) {
    int told[2], done[2];
    EXPECT_EQ(pipe(told), 0);
    EXPECT_EQ(pipe(done), 0);
    child_ = fork();
    if (child_ == 0) {
      close(done[1]);
      char word = 0;
      if (read(done[0], &word, 1) != 1) _exit(0);
      const auto silent = [](const std::string&, int, int) {};
      const Result<DeviceUse> use = DeviceUse::Begin("cuda", Deadline::After(20), silent, folder);
      word = use.ok() ? 'y' : 'n';
      (void)!write(told[1], &word, 1);
      (void)!read(done[0], &word, 1);
      _exit(0);
    }
    close(told[1]);
    close(done[0]);
    told_ = UniqueFd(told[0]);
    done_ = UniqueFd(done[1]);
  }
  ~Neighbour() { End(); }
  void Begin() { EXPECT_EQ(write(done_.get(), "b", 1), 1); }
  bool Uses() {
    char word = 'n';
    return read(told_.get(), &word, 1) == 1 && word == 'y';
  }
  void End() {
    done_.Close();
    if (child_ > 0) waitpid(std::exchange(child_, 0), nullptr, 0);
  }

 private:
  pid_t child_ = 0;
  UniqueFd told_, done_;
};

class DeviceUseTest : public testing::Test {
 protected:
  Result<DeviceLock> Take(double seconds) {
    return DeviceLock::Take(
        "cuda", Deadline::After(seconds), [](const std::string&, int, int) {}, folder_.path());
  }
  Result<DeviceUse> Use(double seconds) {
    return DeviceUse::Begin(
        "cuda", Deadline::After(seconds), [](const std::string&, int, int) {}, folder_.path());
  }
  TempFolder folder_ = *TempFolder::Make("hone-lock-");
};

TEST_F(DeviceUseTest, ATimingWaitsForUsesOfOtherProcesses) {
  Neighbour neighbour(folder_.path());
  neighbour.Begin();
  ASSERT_TRUE(neighbour.Uses());
  ASSERT_TRUE(Use(5).ok()) << "two processes may use a device at once";
  EXPECT_FALSE(Take(0.2).ok());
  neighbour.End();
  EXPECT_TRUE(Take(5).ok());
}

TEST_F(DeviceUseTest, SaysThatItsUseCouldNotBeTakenBackAfterATiming) {
  for (const bool broken : {false, true}) {
    const TempFolder folder = *TempFolder::Make("hone-lock-");
    std::string told;
    const Progress tell = [&](const std::string& what, int, int) { told += what + "\n"; };
    const Result<DeviceUse> use = DeviceUse::Begin("cuda", Deadline::After(5), tell, folder.path());
    ASSERT_TRUE(use.ok());
    std::optional<Result<DeviceLock>> alone =
        DeviceLock::Take("cuda", Deadline::After(5), tell, folder.path());
    ASSERT_TRUE(alone->ok());
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.path()))
      files.push_back(entry.path());
    ASSERT_EQ(files.size(), 2U) << "the gate and the lock";
    for (const fs::path& file : broken ? files : std::vector<fs::path>()) {
      const fs::path own = file.parent_path() / (file.stem().string() + "-" + std::to_string(geteuid()) +
                                                 file.extension().string());
      fs::remove(file);
      fs::create_symlink("nowhere", file);  // what is behind a link is never opened
      fs::create_symlink("nowhere", own);
    }
    EXPECT_EQ(told, "");
    alone.reset();
    if (broken)
      EXPECT_THAT(told, HasSubstr("this work may disturb the timings of other Hone processes"));
    else
      EXPECT_EQ(told, "");
  }
}

TEST_F(DeviceUseTest, AProcessThatUsesTheDeviceMayTimeOnIt) {
  Neighbour neighbour(folder_.path());
  const Result<DeviceUse> outer = Use(5), inner = Use(5);
  ASSERT_TRUE(outer.ok() && inner.ok());
  {
    const Result<DeviceLock> alone = Take(5);
    ASSERT_TRUE(alone.ok());
    EXPECT_TRUE(Use(5).ok()) << "a use within a timing waits for nobody";
    neighbour.Begin();  // waits until the timing is over
  }
  ASSERT_TRUE(neighbour.Uses());
  EXPECT_FALSE(Take(0.2).ok());
  neighbour.End();
  EXPECT_TRUE(Take(5).ok());
}

TEST_F(DeviceUseTest, AUseGivenUpForATimingIsTakenBack) {
  const Result<DeviceUse> use = Use(5);
  ASSERT_TRUE(use.ok());
  ASSERT_TRUE(Take(5).ok());
  const UniqueFd file(open((folder_.path() / ("hone-" + NameOfUsedGpu() + ".lock")).c_str(), O_RDONLY));
  EXPECT_NE(flock(file.get(), LOCK_EX | LOCK_NB), 0) << "another process need not wait";
}

TEST_F(DeviceUseTest, WhoWaitsForATimingGoesBeforeLaterUses) {
  ASSERT_TRUE(Use(5).ok());  // creates the files
  UniqueFd gate(open((folder_.path() / ("hone-" + NameOfUsedGpu() + ".gate")).c_str(), O_RDONLY));
  ASSERT_TRUE(gate.valid());
  ASSERT_EQ(flock(gate.get(), LOCK_EX), 0) << "as a process does that waits for a timing";
  EXPECT_FALSE(Use(0.2).ok());
  gate.Close();
  EXPECT_TRUE(Use(5).ok());
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

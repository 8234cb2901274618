#include "cli/suite_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<VisibleGpu> kTwoGpus = {{"GPU-aa", "Fake A", "GPU-aa"}, {"GPU-bb", "Fake B", "7"}};

// Simulated members. Each runs for as many checks as its id says.
class SuiteScheduleTest : public testing::Test {
 protected:
  class Member : public RunningMember {
   public:
    Member(SuiteScheduleTest* world, const RunRecord& run, std::string slot)
        : world_(world), run_(run), slot_(std::move(slot)) {
      EXPECT_TRUE(world_->occupied_.insert(slot_).second) << "two members on " << slot_;
    }
    ~Member() override { world_->occupied_.erase(slot_); }
    bool running() override { return !interrupted_ && world_->looks_ < started_ + run_.seconds; }
    void Interrupt() override {
      interrupted_ = true;
      world_->interrupted_.push_back(run_.task);
    }

   private:
    SuiteScheduleTest* world_;
    RunRecord run_;
    std::string slot_;
    bool interrupted_ = false;
    double started_ = world_->looks_;
  };

  SuiteScheduleTest() {
    hooks_.start = [this](const RunRecord& run,
                          const SuiteSlot& slot) -> Result<std::unique_ptr<RunningMember>> {
      if (run.status == "unstartable") return Error{ErrorKind::kIo, "no more processes"};
      where_[run.task] = slot.visible;
      return std::unique_ptr<RunningMember>(new Member(this, run, slot.visible));
    };
    hooks_.ended = [this](const RunRecord& run, RunningMember* member, const Error* why) -> Status {
      EXPECT_EQ(member == nullptr, why != nullptr);
      (why == nullptr ? ended_ : failed_).push_back(run.task);
      return Ok();
    };
    hooks_.wait = [this](const std::vector<const RunRecord*>& running, size_t begun) {
      if (begun < members_.size()) {
        EXPECT_EQ(running.size(), slots_.size()) << "a slot is idle although members wait";
      }
      ++looks_;
      return looks_ != interrupt_at_;
    };
    hooks_.patience_s = 1;
  }

  void Add(const std::string& task, double looks, const std::string& status = "running") {
    RunRecord run;
    run.task = task;
    run.seconds = looks;
    run.status = status;
    members_.push_back(run);
  }

  std::vector<RunRecord> members_;
  std::vector<SuiteSlot> slots_ = *DeviceSlots({"0", "1"}, kTwoGpus);
  ScheduleHooks hooks_;
  int looks_ = 0;
  int interrupt_at_ = -1;
  std::set<std::string> occupied_;
  std::map<std::string, std::string> where_;
  std::vector<std::string> ended_, failed_, interrupted_;
};

TEST_F(SuiteScheduleTest, NeverTwoOnOneDeviceAndNoDeviceIdleWhileMembersWait) {
  for (int i = 0; i < 40; ++i) Add("t" + std::to_string(i), 1 + (i * 7) % 5);
  EXPECT_TRUE(*RunOnSlots(members_, slots_, hooks_));
  EXPECT_EQ(ended_.size(), 40u);
  EXPECT_EQ(std::set<std::string>(ended_.begin(), ended_.end()).size(), 40u);
  std::set<std::string> used;
  for (const auto& [task, device] : where_) used.insert(device);
  EXPECT_THAT(used, ElementsAre("7", "GPU-aa"));
  EXPECT_THAT(occupied_, IsEmpty());
}

TEST_F(SuiteScheduleTest, AMemberThatCannotStartDoesNotStopTheOthers) {
  Add("a", 2);
  Add("b", 1, "unstartable");
  Add("c", 1, "unstartable");
  Add("d", 3);
  Add("e", 1);
  EXPECT_TRUE(*RunOnSlots(members_, slots_, hooks_));
  EXPECT_THAT(failed_, ElementsAre("b", "c"));
  EXPECT_THAT(ended_, testing::UnorderedElementsAre("a", "d", "e"));
}

TEST_F(SuiteScheduleTest, CtrlCIsPassedOnAndTheRestIsNotStarted) {
  for (const char* task : {"a", "b", "c", "d"}) Add(task, 10);
  interrupt_at_ = 3;
  EXPECT_FALSE(*RunOnSlots(members_, slots_, hooks_));
  EXPECT_THAT(interrupted_, ElementsAre("a", "b"));
  EXPECT_THAT(ended_, IsEmpty());  // their rows in the store do not change, so that they can be resumed
  EXPECT_EQ(where_.size(), 2u);
}

TEST_F(SuiteScheduleTest, JobsWithoutDevicesShareWhatThereIs) {
  const std::vector<SuiteSlot> slots = SharedSlots(3);
  EXPECT_EQ(slots.size(), 3u);
  EXPECT_EQ(slots[2].visible, "");
}

TEST(DeviceSlots, TakesNumbersAndIdentities) {
  const auto visible = [](const std::vector<std::string>& asked) {
    std::vector<std::string> words;
    const std::vector<SuiteSlot> slots = *DeviceSlots(asked, kTwoGpus);
    for (const SuiteSlot& slot : slots) words.push_back(slot.visible);
    return words;
  };
  EXPECT_THAT(visible({"1"}), ElementsAre("7"));
  EXPECT_THAT(visible({"1", "0"}), ElementsAre("7", "GPU-aa"));
  EXPECT_THAT(visible({"all"}), ElementsAre("GPU-aa", "7"));
  EXPECT_THAT(visible({"GPU-bb"}), ElementsAre("7"));
}

TEST(DeviceSlots, SaysWhatThereIs) {
  const auto error = [](const std::vector<std::string>& asked) {
    return DeviceSlots(asked, kTwoGpus).error().message;
  };
  EXPECT_THAT(error({"2"}), HasSubstr("there is no such GPU; here are: 0 (Fake A), 1 (Fake B)"));
  EXPECT_THAT(error({""}), HasSubstr("no such GPU"));
  EXPECT_THAT(error({"0", "all"}), HasSubstr("names GPU 0 twice"));
  EXPECT_THAT(error({"cpu:2"}), HasSubstr("timings on parts of one processor would disturb each other"));
}

}  // namespace
}  // namespace hone

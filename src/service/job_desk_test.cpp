// Tests the desk with a scripted judge: each question is judged once, again after a lost worker, never again
// after a verdict, and across a restart.
#include "service/job_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/ids.h"

namespace hone {
namespace {

using Kind = JudgeOutcome::Kind;

Json SomeVerdict(const std::string& reason) {
  return {{"verdict", reason == "faster" ? "accepted" : "rejected"},
          {"reason", reason},
          {"gates", Json::object()}};
}

// Answers in the order of a script, then accepts every candidate. While it is shut, it waits.
class ScriptedJudge : public JobJudge {
 public:
  JudgeOutcome Judge(const Assignment& job, const std::function<bool()>& stop) override {
    std::unique_lock lock(mutex_);
    judged_.push_back(job.id);
    changed_.notify_all();
    while (shut_) {
      lock.unlock();
      if (stop()) {
        JudgeOutcome outcome;
        outcome.kind = Kind::kStopped;
        return outcome;
      }
      lock.lock();
      changed_.wait_for(lock, std::chrono::milliseconds(2));
    }
    JudgeOutcome outcome;
    outcome.kind = Kind::kVerdict;
    outcome.record = SomeVerdict("faster");
    if (script_.empty()) return outcome;
    outcome = script_.front();
    script_.erase(script_.begin());
    return outcome;
  }
  bool IsWarm(const std::string& session) override {
    const std::scoped_lock lock(mutex_);
    return session == warm_;
  }
  void Tidy() override {}

  void Script(std::vector<JudgeOutcome> outcomes) {
    const std::scoped_lock lock(mutex_);
    script_ = std::move(outcomes);
  }
  void Shut(bool shut) {
    const std::scoped_lock lock(mutex_);
    shut_ = shut;
    changed_.notify_all();
  }
  void Warm(const std::string& session) {
    const std::scoped_lock lock(mutex_);
    warm_ = session;
  }
  void AwaitJudged(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return judged_.size() >= count; });
  }
  std::vector<std::string> judged() {
    const std::scoped_lock lock(mutex_);
    return judged_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<JudgeOutcome> script_;
  std::vector<std::string> judged_;
  std::string warm_;
  bool shut_ = false;
};

class JobDeskTest : public testing::Test {
 protected:
  JobDeskTest() : folder_(*TempFolder::Make("hone-desk-")) { options_.pause_s = 0.01; }

  void Open() {
    desk_.reset();
    Result<std::unique_ptr<JobJournal>> journal = JobJournal::Open(folder_.path());
    ASSERT_TRUE(journal.ok()) << journal.error().message;
    Result<std::unique_ptr<JobDesk>> desk = JobDesk::Open(
        options_, std::move(*journal), &judge_,
        [](const Job& job) -> Result<Assignment> {
          Assignment made;
          made.id = job.id;
          made.candidate = job.candidate;
          return made;
        },
        [](const Job& job) { return job.task; });
    ASSERT_TRUE(desk.ok()) << desk.error().message;
    desk_ = std::move(*desk);
  }
  static Job Question(const std::string& what, const std::string& asker = "alice") {
    Job job;
    job.id = Sha256(what);
    job.task = "task of " + what;
    job.candidate = "source of " + what;
    job.askers = {asker};
    return job;
  }
  DeskAnswer Ask(const std::string& what, const std::string& asker = "alice", bool again = false) {
    return *desk_->Ask(Question(what, asker), again);
  }
  Job AwaitEnd(const std::string& what) {
    auto ended = std::make_shared<std::promise<Job>>();
    desk_->Wait(Sha256(what), 60, [ended](const Job& job, size_t) { ended->set_value(job); });
    return ended->get_future().get();
  }
  static JudgeOutcome Outcome(Kind kind, const std::string& text) {
    JudgeOutcome outcome;
    outcome.kind = kind;
    outcome.error = text;
    outcome.error_kind = kind == Kind::kRefused ? "invalid" : "infrastructure";
    if (kind == Kind::kVerdict) outcome.record = SomeVerdict(text);
    return outcome;
  }

  TempFolder folder_;
  ScriptedJudge judge_;
  DeskOptions options_;
  std::unique_ptr<JobDesk> desk_;
};

TEST_F(JobDeskTest, TheSameQuestionIsJudgedOnceWhileItRunsAndAfterwards) {
  judge_.Shut(true);
  Open();
  EXPECT_EQ(Ask("a").job.state, JobState::kQueued);
  EXPECT_TRUE(IsActive(Ask("a", "bob").job.state));
  judge_.Shut(false);
  EXPECT_EQ(AwaitEnd("a").state, JobState::kDone);
  const DeskAnswer later = Ask("a", "carol");
  EXPECT_EQ(later.job.state, JobState::kDone);
  EXPECT_EQ(GetString(later.job.verdict, "reason"), "faster");
  EXPECT_EQ(judge_.judged().size(), 1u);
  EXPECT_EQ(desk_->counts().deduplicated, 2u);
}

TEST_F(JobDeskTest, ALostWorkerIsTriedAgainAndAVerdictNever) {
  judge_.Script({Outcome(Kind::kLost, "killed"), Outcome(Kind::kVerdict, "crashed")});
  Open();
  Ask("a");
  const Job job = AwaitEnd("a");
  EXPECT_EQ(job.state, JobState::kDone);
  EXPECT_EQ(job.attempts, 2);
  EXPECT_EQ(GetString(job.result, "reason"), "crashed");
  EXPECT_EQ(Ask("a").job.state, JobState::kDone);
  EXPECT_EQ(judge_.judged().size(), 2u);
  EXPECT_EQ(desk_->counts().lost_workers, 1u);
}

TEST_F(JobDeskTest, WorkersThatAreAlwaysLostFailTheJobWhichMayBeAskedAgain) {
  judge_.Script({Outcome(Kind::kLost, "gone"), Outcome(Kind::kLost, "gone"), Outcome(Kind::kLost, "gone")});
  Open();
  Ask("a");
  const Job job = AwaitEnd("a");
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(job.error_kind, "infrastructure");
  EXPECT_EQ(job.error, "gone (tried 3 times)");
  EXPECT_TRUE(IsActive(Ask("a").job.state));
  EXPECT_EQ(AwaitEnd("a").state, JobState::kDone);
}

TEST_F(JobDeskTest, AQuestionThatIsWrongIsNotTriedAgain) {
  judge_.Script({Outcome(Kind::kRefused, "the task has no Model")});
  Open();
  Ask("a");
  const Job job = AwaitEnd("a");
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(job.error, "the task has no Model");
  EXPECT_EQ(judge_.judged().size(), 1u);
}

TEST_F(JobDeskTest, AgainRepeatsOnlyVerdictsThatMayChange) {
  judge_.Script({Outcome(Kind::kVerdict, "timeout"), Outcome(Kind::kVerdict, "wrong-output")});
  Open();
  Ask("a");
  AwaitEnd("a");
  EXPECT_EQ(Ask("a").job.state, JobState::kDone);
  EXPECT_TRUE(IsActive(Ask("a", "alice", true).job.state));
  EXPECT_EQ(GetString(AwaitEnd("a").result, "reason"), "wrong-output");
  EXPECT_EQ(Ask("a", "alice", true).job.state, JobState::kDone);
  EXPECT_EQ(judge_.judged().size(), 2u);
}

TEST_F(JobDeskTest, QueueAndTokenAreBounded) {
  options_.most_queued = 3;
  options_.most_per_token = 2;
  judge_.Shut(true);
  Open();
  Ask("running");
  judge_.AwaitJudged(1);
  EXPECT_FALSE(Ask("a").refused);
  const DeskAnswer third = Ask("b");
  EXPECT_TRUE(third.refused);
  EXPECT_EQ(third.reason, "token-full");
  EXPECT_GE(third.retry_s, 1);
  EXPECT_FALSE(Ask("a").refused) << "the same question again costs nothing";
  EXPECT_FALSE(Ask("b", "bob").refused);
  EXPECT_FALSE(Ask("c", "bob").refused);
  EXPECT_EQ(Ask("d", "carol").reason, "queue-full");
}

TEST_F(JobDeskTest, JobsSurviveARestartWithTheirOrder) {
  judge_.Shut(true);
  Open();
  for (const char* each : {"a", "b", "c"}) Ask(each);
  judge_.AwaitJudged(1);
  Open();  // the first desk ends and returns its job to the queue
  judge_.AwaitJudged(2);
  EXPECT_EQ(desk_->Find(Sha256("b"), "alice").value()->position, 1u);
  EXPECT_EQ(desk_->Find(Sha256("c"), "alice").value()->position, 2u);
  judge_.Shut(false);
  for (const char* each : {"a", "b", "c"}) {
    const Job job = AwaitEnd(each);
    EXPECT_EQ(job.state, JobState::kDone) << each;
    EXPECT_EQ(job.attempts, 1) << each;
  }
  Open();
  EXPECT_EQ(Ask("a").job.state, JobState::kDone);
}

TEST_F(JobDeskTest, CancellingEndsAJobOnlyIfNobodyElseWantsIt) {
  judge_.Shut(true);
  Open();
  Ask("running");
  judge_.AwaitJudged(1);
  Ask("a");
  Ask("a", "bob");
  EXPECT_TRUE(desk_->Cancel(Sha256("a"), "alice").value().has_value());
  EXPECT_FALSE(desk_->Cancel(Sha256("a"), "stranger").value().has_value());
  EXPECT_FALSE(desk_->Find(Sha256("a"), "alice").value().has_value());
  EXPECT_TRUE(IsActive(desk_->Find(Sha256("a"), "bob").value()->job.state));
  desk_->Cancel(Sha256("a"), "bob").value();
  EXPECT_EQ(desk_->Find(Sha256("a"), "bob").value()->job.state, JobState::kCancelled);
  desk_->Cancel(Sha256("running"), "alice").value();
  EXPECT_EQ(AwaitEnd("running").state, JobState::kCancelled);
  EXPECT_EQ(desk_->counts().cancelled, 2u);
}

TEST_F(JobDeskTest, AWarmSessionGoesFirstButNotForEver) {
  judge_.Shut(true);
  Open();
  Ask("running");
  judge_.AwaitJudged(1);
  Ask("cold");
  judge_.Warm("warm task");
  std::vector<std::string> warm;
  for (int i = 0; i < 20; ++i) {
    Job job = Question("warm" + std::to_string(i));
    job.task = "warm task";
    warm.push_back(job.id);
    ASSERT_TRUE(desk_->Ask(job, false).ok());
  }
  judge_.Shut(false);
  AwaitEnd("warm19");
  AwaitEnd("cold");
  const std::vector<std::string> judged = judge_.judged();
  EXPECT_EQ(judged[1], warm[0]);
  EXPECT_EQ(judged[17], Sha256("cold")) << "16 go before it";
}

TEST_F(JobDeskTest, AWaitEndsWithItsTime) {
  judge_.Shut(true);
  Open();
  Ask("a");
  std::promise<JobState> told;
  desk_->Wait(Sha256("a"), 0.02, [&](const Job& job, size_t) { told.set_value(job.state); });
  EXPECT_TRUE(IsActive(told.get_future().get()));
  EXPECT_EQ(desk_->counts().waiting, 0u);
}

TEST_F(JobDeskTest, OneJournalHasOneServer) {
  Open();
  const Result<std::unique_ptr<JobJournal>> second = JobJournal::Open(folder_.path());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, testing::HasSubstr("another hone serve --judge"));
}

TEST_F(JobDeskTest, OldJobsAreForgotten) {
  options_.keep = 2;
  Open();
  for (const char* each : {"a", "b", "c", "d"}) {
    Ask(each);
    AwaitEnd(each);
  }
  Open();
  EXPECT_FALSE(desk_->Find(Sha256("b"), "alice").value().has_value());
  EXPECT_TRUE(desk_->Find(Sha256("c"), "alice").value().has_value());
  EXPECT_EQ(desk_->List("alice", "done", 10)->size(), 2u);
  EXPECT_EQ(desk_->List("bob", "", 10)->size(), 0u);
}

}  // namespace
}  // namespace hone

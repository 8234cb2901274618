#include "service/job_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/clock.h"
#include "base/text.h"
#include "service/reward_result.h"
#include "store/known_verdict.h"

namespace hone {

namespace {

// How many later jobs with a warm session may overtake an earlier one.
constexpr int kMostOvertaken = 16;
constexpr double kWatch_s = 5;
constexpr uint64_t kPruneEvery = 500;

// If the journal cannot be written, jobs are lost at a restart, but clients still get their answers.
void Tell(const Status& status) {
  if (!status.ok()) fmt::print(stderr, "hone: {}\n", SafeForTerminal(status.error().message));
}

std::chrono::duration<double> Seconds(double seconds) {
  return std::chrono::duration<double>(std::max(0.0, seconds));
}

Job WithoutSources(Job job) {
  job.candidate.clear();
  job.task_source.clear();
  return job;
}

}  // namespace

JobDesk::JobDesk(DeskOptions options, std::unique_ptr<JobJournal> journal, JobJudge* judge, Prepare prepare,
                 SessionOf session_of)
    : options_(options),
      journal_(std::move(journal)),
      judge_(judge),
      prepare_(std::move(prepare)),
      session_of_(std::move(session_of)) {}

Result<std::unique_ptr<JobDesk>> JobDesk::Open(DeskOptions options, std::unique_ptr<JobJournal> journal,
                                               JobJudge* judge, Prepare prepare, SessionOf session_of) {
  std::unique_ptr<JobDesk> desk(
      new JobDesk(options, std::move(journal), judge, std::move(prepare), std::move(session_of)));
  HONE_ASSIGN_OR_RETURN(std::vector<Job> left, desk->journal_->Active());
  for (Job& job : left) {
    job.state = JobState::kQueued;
    Active active;
    active.session = desk->session_of_(job);
    desk->numbers_[job.id] = job.number;
    const int64_t number = job.number;
    active.job = std::move(job);
    desk->active_.emplace(number, std::move(active));
  }
  HONE_RETURN_IF_ERROR(desk->journal_->Prune(options.keep));
  desk->Start();
  return desk;
}

void JobDesk::Start() {
  for (int i = 0; i < options_.workers; ++i) threads_.emplace_back([this] { Work(); });
  threads_.emplace_back([this] { Watch(); });
}

JobDesk::~JobDesk() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  watch_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

JobDesk::Active* JobDesk::FindActive(const std::string& id) {
  const auto number = numbers_.find(id);
  return number == numbers_.end() ? nullptr : &active_.at(number->second);
}

size_t JobDesk::PositionOf(const Active& active) const {
  if (active.job.state != JobState::kQueued) return 0;
  size_t position = 1;
  for (const auto& [number, each] : active_)
    if (number < active.job.number && each.job.state == JobState::kQueued) ++position;
  return position;
}

size_t JobDesk::Queued() const {
  return static_cast<size_t>(std::count_if(active_.begin(), active_.end(), [](const auto& each) {
    return each.second.job.state == JobState::kQueued;
  }));
}

Result<DeskAnswer> JobDesk::Ask(Job job, bool again) {
  const std::string asker = job.askers.empty() ? "" : *job.askers.begin();
  const std::scoped_lock lock(mutex_);
  DeskAnswer answer;
  const auto refuse = [&](const char* reason, std::string message) {
    ++counts_.refused;
    answer.refused = true;
    answer.reason = reason;
    answer.message = std::move(message);
    answer.retry_s = std::clamp(usual_s_ / options_.workers, 1.0, 60.0);
    return answer;
  };
  const auto token_is_full = [&] {
    size_t held = 0;
    for (const auto& [number, each] : active_) held += each.job.askers.count(asker);
    return held >= options_.most_per_token;
  };
  const std::string token_sentence = fmt::format(
      "{} jobs of this token are queued or running; wait for one to end", options_.most_per_token);

  if (Active* active = FindActive(job.id)) {
    if (active->job.askers.count(asker) == 0) {
      if (token_is_full()) return refuse("token-full", token_sentence);
      active->job.askers.insert(asker);
      HONE_RETURN_IF_ERROR(journal_->Update(active->job));
    }
    active->cancelled = false;
    ++counts_.deduplicated;
    answer.job = active->job;
    answer.position = PositionOf(*active);
    return answer;
  }
  HONE_ASSIGN_OR_RETURN(std::optional<Job> known, journal_->Find(job.id, true));
  if (known && known->state == JobState::kDone &&
      !(again && known->verdict.is_object() && !IsSettled(known->verdict))) {
    if (known->askers.insert(asker).second) HONE_RETURN_IF_ERROR(journal_->Update(*known));
    ++counts_.deduplicated;
    answer.job = WithoutSources(std::move(*known));
    return answer;
  }
  // Clients of a failed job, or of a verdict that is judged again, still see the job.
  if (known && known->state != JobState::kCancelled)
    job.askers.insert(known->askers.begin(), known->askers.end());
  job.created = UtcTimestamp();
  if (job.state == JobState::kDone) {
    job.finished = job.created;
    ++counts_.accepted;
    ++counts_.done;
    HONE_RETURN_IF_ERROR(journal_->Put(&job));
    answer.job = WithoutSources(std::move(job));
    return answer;
  }
  if (Queued() >= options_.most_queued)
    return refuse("queue-full", fmt::format("{} jobs are waiting already; try again later", Queued()));
  if (token_is_full()) return refuse("token-full", token_sentence);
  job.state = JobState::kQueued;
  HONE_RETURN_IF_ERROR(journal_->Put(&job));
  ++counts_.accepted;
  Active active;
  active.session = session_of_(job);
  active.job = WithoutSources(std::move(job));
  numbers_[active.job.id] = active.job.number;
  const auto at = active_.emplace(active.job.number, std::move(active)).first;
  answer.job = at->second.job;
  answer.position = PositionOf(at->second);
  work_.notify_one();
  return answer;
}

Result<std::optional<DeskAnswer>> JobDesk::Find(const std::string& id, const std::string& asker) {
  const std::scoped_lock lock(mutex_);
  DeskAnswer answer;
  if (const Active* active = FindActive(id)) {
    if (active->job.askers.count(asker) == 0) return std::optional<DeskAnswer>();
    answer.job = active->job;
    answer.position = PositionOf(*active);
    return std::optional(std::move(answer));
  }
  HONE_ASSIGN_OR_RETURN(std::optional<Job> known, journal_->Find(id, true));
  if (!known || known->askers.count(asker) == 0) return std::optional<DeskAnswer>();
  answer.job = WithoutSources(std::move(*known));
  return std::optional(std::move(answer));
}

void JobDesk::Wait(const std::string& id, double seconds, Callback callback) {
  std::vector<Ready> ready;
  {
    const std::scoped_lock lock(mutex_);
    if (FindActive(id) != nullptr) {
      waiters_.push_back({id, Deadline::After(seconds), std::move(callback)});
      watch_.notify_one();
      return;
    }
    Result<std::optional<Job>> known = journal_->Find(id, true);
    Job job;
    job.id = id;
    job.state = JobState::kFailed;
    if (known.ok() && *known) job = WithoutSources(std::move(**known));
    ready.push_back({std::move(callback), std::move(job), 0});
  }
  Call(std::move(ready));
}

Result<std::optional<DeskAnswer>> JobDesk::Cancel(const std::string& id, const std::string& asker) {
  std::vector<Ready> ready;
  DeskAnswer answer;
  {
    const std::scoped_lock lock(mutex_);
    Active* active = FindActive(id);
    if (active == nullptr) {
      HONE_ASSIGN_OR_RETURN(std::optional<Job> known, journal_->Find(id, true));
      if (!known || known->askers.count(asker) == 0) return std::optional<DeskAnswer>();
      answer.job = WithoutSources(std::move(*known));
      return std::optional(std::move(answer));
    }
    if (active->job.askers.count(asker) == 0) return std::optional<DeskAnswer>();
    if (active->job.askers.size() > 1) {
      active->job.askers.erase(asker);
      HONE_RETURN_IF_ERROR(journal_->Update(active->job));
      answer.job = active->job;
      answer.job.state = JobState::kCancelled;  // only for this client
    } else if (active->job.state == JobState::kRunning) {
      active->cancelled = true;  // stops its worker, after which the job ends
      answer.job = active->job;
      answer.job.state = JobState::kCancelled;
    } else {
      answer.job = active->job;
      answer.job.state = JobState::kCancelled;
      End(active->job.number, JobState::kCancelled, &ready);
    }
  }
  Call(std::move(ready));
  return std::optional(std::move(answer));
}

Result<std::vector<Job>> JobDesk::List(const std::string& asker, const std::string& state, int most) {
  const std::scoped_lock lock(mutex_);
  return journal_->List(asker, state, most);
}

DeskCounts JobDesk::counts() {
  const std::scoped_lock lock(mutex_);
  DeskCounts counts = counts_;
  counts.queued = Queued();
  counts.running = active_.size() - counts.queued;
  counts.waiting = waiters_.size();
  return counts;
}

// Returns the oldest job that may start, or a later one with a warm session.
std::map<int64_t, JobDesk::Active>::iterator JobDesk::Choose() {
  const auto may_begin = [](const Active& each) {
    return each.job.state == JobState::kQueued && each.not_before.passed();
  };
  const auto first =
      std::find_if(active_.begin(), active_.end(), [&](const auto& each) { return may_begin(each.second); });
  if (first == active_.end() || first->second.overtaken >= kMostOvertaken) return first;
  for (auto at = first; at != active_.end(); ++at) {
    if (!may_begin(at->second) || !judge_->IsWarm(at->second.session)) continue;
    if (at != first) ++first->second.overtaken;
    return at;
  }
  return first;
}

void JobDesk::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto chosen = Choose();
    if (chosen == active_.end()) {
      // Jobs that pause after a lost worker become ready without a notification.
      const bool paused = Queued() > 0;
      if (paused)
        work_.wait_for(lock, Seconds(0.05));
      else
        work_.wait(lock);
      continue;
    }
    Active& active = chosen->second;
    const int64_t number = chosen->first;
    active.job.state = JobState::kRunning;
    active.job.started = UtcTimestamp();
    ++active.job.attempts;
    Tell(journal_->Update(active.job));
    lock.unlock();
    Judge(number);
    lock.lock();
  }
}

void JobDesk::Judge(int64_t number) {
  std::string id;
  {
    const std::scoped_lock lock(mutex_);
    id = active_.at(number).job.id;
  }
  const Stopwatch watch;
  JudgeOutcome outcome;
  Result<std::optional<Job>> whole = std::optional<Job>();
  {
    const std::scoped_lock lock(mutex_);
    whole = journal_->Find(id, true);
  }
  if (!whole.ok() || !*whole) {
    outcome.error_kind = "infrastructure";
    outcome.error = whole.ok() ? "the journal lost the job" : whole.error().message;
  } else if (const Result<Assignment> assignment = prepare_(**whole); !assignment.ok()) {
    outcome.kind = JudgeOutcome::Kind::kRefused;
    outcome.error_kind = "invalid";
    outcome.error = assignment.error().message;
  } else {
    outcome = judge_->Judge(*assignment, [&] {
      const std::scoped_lock lock(mutex_);
      return stopping_ || active_.at(number).cancelled;
    });
  }
  std::vector<Ready> ready;
  {
    const std::scoped_lock lock(mutex_);
    usual_s_ = 0.9 * usual_s_ + 0.1 * watch.seconds();
    Settle(number, std::move(outcome), &ready);
  }
  Call(std::move(ready));
}

void JobDesk::Settle(int64_t number, JudgeOutcome outcome, std::vector<Ready>* ready) {
  Active& active = active_.at(number);
  Job& job = active.job;
  switch (outcome.kind) {
    case JudgeOutcome::Kind::kVerdict:
      ++counts_.judged;
      job.result = RewardResult(outcome.record);
      job.verdict = VerdictForClient(std::move(outcome.record));
      return End(number, JobState::kDone, ready);
    case JudgeOutcome::Kind::kRefused:
      job.error_kind = outcome.error_kind;
      job.error = outcome.error;
      return End(number, JobState::kFailed, ready);
    case JudgeOutcome::Kind::kStopped:
      if (active.cancelled) return End(number, JobState::kCancelled, ready);
      // The server is shutting down, or a client requested the job again while its worker was being stopped.
      job.state = JobState::kQueued;
      --job.attempts;
      return Tell(journal_->Update(job));
    case JudgeOutcome::Kind::kLost:
      break;
  }
  ++counts_.lost_workers;
  if (active.cancelled) return End(number, JobState::kCancelled, ready);
  if (job.attempts >= options_.tries) {
    job.error_kind = "infrastructure";
    job.error = fmt::format("{} (tried {} times)", outcome.error, job.attempts);
    return End(number, JobState::kFailed, ready);
  }
  job.state = JobState::kQueued;
  active.not_before = Deadline::After(options_.pause_s * std::pow(2.0, job.attempts - 1));
  Tell(journal_->Update(job));
  work_.notify_one();
}

void JobDesk::End(int64_t number, JobState state, std::vector<Ready>* ready) {
  const auto at = active_.find(number);
  Job job = std::move(at->second.job);
  active_.erase(at);
  numbers_.erase(job.id);
  job.state = state;
  job.finished = UtcTimestamp();
  ++(state == JobState::kDone     ? counts_.done
     : state == JobState::kFailed ? counts_.failed
                                  : counts_.cancelled);
  Tell(journal_->Update(job));
  if ((counts_.done + counts_.failed + counts_.cancelled) % kPruneEvery == 0)
    Tell(journal_->Prune(options_.keep));
  TakeWaiters(job, ready);
}

void JobDesk::TakeWaiters(const Job& job, std::vector<Ready>* ready) {
  for (const Waiter& each : waiters_)
    if (each.id == job.id) ready->push_back({each.callback, job, 0});
  std::erase_if(waiters_, [&](const Waiter& each) { return each.id == job.id; });
}

void JobDesk::Watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::vector<Ready> ready;
    double next_s = kWatch_s;
    std::vector<Waiter> still;
    for (Waiter& each : waiters_) {
      const Active* active = FindActive(each.id);
      if (active != nullptr && each.deadline.passed()) {
        ready.push_back({std::move(each.callback), active->job, PositionOf(*active)});
        continue;
      }
      next_s = std::min(next_s, each.deadline.seconds_left());
      still.push_back(std::move(each));
    }
    waiters_ = std::move(still);
    if (!ready.empty()) {
      lock.unlock();
      Call(std::move(ready));
      lock.lock();
      continue;
    }
    watch_.wait_for(lock, Seconds(next_s));
    lock.unlock();
    judge_->Tidy();
    lock.lock();
  }
}

void JobDesk::Call(std::vector<Ready> ready) {
  for (const Ready& each : ready) each.callback(each.job, each.position);
}

}  // namespace hone

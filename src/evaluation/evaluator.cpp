#include "evaluation/evaluator.h"

#include <fmt/format.h>

#include <system_error>
#include <thread>

#include "base/clock.h"
#include "evaluation/candidate_check.h"
#include "evaluation/contest.h"
#include "evaluation/device_lock.h"
#include "evaluation/run_messages.h"
#include "evaluation/run_phase.h"
#include "evaluation/setup_messages.h"

namespace hone {

namespace {

constexpr unsigned kManyCores = 8;
constexpr double kRetryS = 6;  // after this time no further pair is started for an undecided timing

// Whether a starting process does not disturb a timing on other cores.
bool HasSpareCores(const SessionOptions& options) {
  return options.device == "cuda" && std::thread::hardware_concurrency() >= kManyCores;
}

}  // namespace

void Evaluator::Prewarm() {
  // If a verdict takes less time than starting a worker, two workers are needed.
  const size_t wanted = HasSpareCores(session_.options()) ? 2 : 1;
  const std::scoped_lock lock(seats_mutex_);
  while (seats_.size() < wanted) {
    Result<std::unique_ptr<CandidateSeat>> seat = CandidateSeat::Start(session_.options());
    if (!seat.ok()) return;
    seats_.push_back(std::move(*seat));
  }
}

Result<std::unique_ptr<CandidateSeat>> Evaluator::StartSeat() {
  Result<std::unique_ptr<CandidateSeat>> seat = CandidateSeat::Start(session_.options());
  if (seat.ok() || seat.error().kind == ErrorKind::kInterrupted) return seat;
  // Perhaps an earlier candidate's files or processes were in the way.
  AwaitRetired();
  return CandidateSeat::Start(session_.options());
}

std::unique_ptr<CandidateSeat> Evaluator::TakeWaiting() {
  std::deque<std::unique_ptr<CandidateSeat>> dead;  // their ends are awaited without the lock
  const std::scoped_lock lock(seats_mutex_);
  while (!seats_.empty()) {
    std::unique_ptr<CandidateSeat> seat = std::move(seats_.front());
    seats_.pop_front();
    if (seat->worker->alive()) return seat;
    dead.push_back(std::move(seat));
  }
  return nullptr;
}

Result<std::unique_ptr<CandidateSeat>> Evaluator::TakeSeat(bool fresh) {
  std::unique_ptr<CandidateSeat> seat = fresh ? nullptr : TakeWaiting();
  if (seat == nullptr) {
    HONE_ASSIGN_OR_RETURN(seat, StartSeat());
  }
  const double asked = session_.options().candidate_memory;
  seat->worker->zygote().SetMemoryLimit(asked > 0 ? static_cast<int64_t>(asked)
                                                  : CandidateMemoryLimit(session_.worker().pid()));
  return seat;
}

template <class T>
Result<T> Evaluator::InASeat(
    const std::function<Result<T>(std::unique_ptr<CandidateSeat>, bool* started)>& act) {
  for (const bool again : {false, true}) {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<CandidateSeat> seat, TakeSeat(again));
    bool started = true;
    Result<T> result = act(std::move(seat), &started);
    if (result.ok() || started || again || result.error().kind == ErrorKind::kInterrupted) return result;
  }
  return Error{ErrorKind::kInternal, "unreachable"};
}

// Freezes waiting workers during its lifetime.
class Evaluator::FrozenSeats {
 public:
  explicit FrozenSeats(Evaluator& owner) : owner_(owner) { Each(&WorkerProcess::Freeze); }
  ~FrozenSeats() { Each(&WorkerProcess::Thaw); }
  FrozenSeats(const FrozenSeats&) = delete;
  FrozenSeats& operator=(const FrozenSeats&) = delete;

 private:
  void Each(void (WorkerProcess::*act)()) {
    const std::scoped_lock lock(owner_.seats_mutex_);
    for (const std::unique_ptr<CandidateSeat>& seat : owner_.seats_) ((*seat->worker).*act)();
  }
  Evaluator& owner_;
};

void Evaluator::Retire(std::unique_ptr<CandidateSeat> seat) {
  if (session_.options().device == "cuda")
    return;  // the next one may need its GPU memory, so it ends at once
  const std::scoped_lock lock(retired_mutex_);
  if (retired_.joinable()) retired_.join();
  std::shared_ptr<CandidateSeat> gone = std::move(seat);
  try {
    retired_ = std::thread([gone]() mutable { gone.reset(); });
  } catch (const std::system_error&) {  // no thread is left: it ends here
  }
}

void Evaluator::AwaitRetired() {
  const std::scoped_lock lock(retired_mutex_);
  if (retired_.joinable()) retired_.join();
}

Status Evaluator::TimeAfter(CandidateSeat& seat, Measurement* m) {
  if (m->timing) m->timing->eager_after_us = 0;
  if (!m->timing || !m->timing->RanSlowerBeside()) return Ok();
  seat.worker->zygote().Kill();
  HONE_ASSIGN_OR_RETURN(m->timing->eager_after_us, session_.TimeEager());
  return Ok();
}

Result<Measurement> Evaluator::Evaluate(const CandidateFile& candidate, NextCandidate next,
                                        const Progress& progress, const IsUnsure& is_unsure, bool once_more) {
  return InASeat<Measurement>([&](std::unique_ptr<CandidateSeat> seat, bool* started) {
    return EvaluateIn(std::move(seat), candidate, next, progress, is_unsure, once_more, started);
  });
}

Result<QuickLook> Evaluator::Look(const CandidateFile& candidate, bool another_follows,
                                  const Progress& progress) {
  return InASeat<QuickLook>([&](std::unique_ptr<CandidateSeat> seat, bool* started) {
    return LookIn(std::move(seat), candidate, another_follows, progress, started);
  });
}

Result<Measurement> Evaluator::EvaluateIn(std::unique_ptr<CandidateSeat> seat, const CandidateFile& candidate,
                                          NextCandidate next, const Progress& progress,
                                          const IsUnsure& is_unsure, bool once_more, bool* started) {
  Stopwatch watch;
  CandidateCheck check(session_, candidate, *seat->worker, seat->folder.path(), progress);
  if (once_more) check.JudgeOnceMore();
  Measurement& m = check.measurement();
  double reference_before = 0;
  using Check = CandidateCheck;
  struct Step {
    Phase phase;
    Result<bool> (Check::*run)();
  };
  constexpr Step kSteps[] = {{Phase::kLint, &Check::Lint},           {Phase::kImport, &Check::Import},
                             {Phase::kBuild, &Check::Build},         {Phase::kTrial, &Check::Trials},
                             {Phase::kRepeat, &Check::Repeat},       {Phase::kInspect, &Check::Inspect},
                             {Phase::kProfile, &Check::ProfileCall}, {Phase::kTiming, &Check::Time}};
  std::shared_lock checking(device_);
  // Suspended while this process times (DeviceLock).
  HONE_ASSIGN_OR_RETURN(const DeviceUse in_common,
                        DeviceUse::Begin(session_.options().device, session_.options().end, progress));
  // The next worker starts on another core while this one runs.
  if (next == NextCandidate::kComes) Prewarm();
  seat->worker->Thaw();  // it may have waited, frozen, during another timing
  std::unique_lock alone(device_, std::defer_lock);
  for (const Step& step : kSteps) {
    std::optional<FrozenSeats> quiet;  // a starting worker would disturb the timing
    if (step.phase == Phase::kTiming) {
      checking.unlock();
      alone.lock();
      AwaitRetired();
      if (!HasSpareCores(session_.options())) quiet.emplace(*this);
      reference_before = session_.worker().compute_seconds();
    }
    const Stopwatch phase_watch;
    const Result<bool> done = RunPhase(step.phase, [&] { return (check.*step.run)(); });
    *started = !check.never_started();
    HONE_ASSIGN_OR_RETURN(const bool go_on, done);
    m.phases.emplace_back(step.phase, phase_watch.seconds());
    if (!go_on) break;
    if (step.phase == Phase::kTrial && next == NextCandidate::kIfRight) Prewarm();
    if (step.phase != Phase::kTiming) continue;
    // Load on the machine must not count against the candidate.
    HONE_RETURN_IF_ERROR(check.LookAlone());
    int again = 0;
    const Stopwatch retrying;
    for (bool more = true; more && again < kFreshPairs && !m.ahead_once_more && is_unsure(m); ++again) {
      if (again > 0 && retrying.seconds() > kRetryS) break;
      progress("not decided yet: timing fresh processes", again + 1, kFreshPairs);
      HONE_ASSIGN_OR_RETURN(more, RunPhase(step.phase, [&] { return check.TimeAgain(); }));
    }
    if (again > 0)
      m.notes.push_back(fmt::format("the first pair of processes did not decide; {} more {} timed", again,
                                    again == 1 ? "was" : "were"));
  }
  if (m.attempts.empty()) m.attempts = seat->worker->zygote().Attempts();
  HONE_RETURN_IF_ERROR(TimeAfter(*seat, &m));
  if (m.stop && session_.options().device == "cuda") {
    seat->worker->zygote().Kill();
    if (!alone.owns_lock()) {
      checking.unlock();
      alone.lock();
    }
    // A GPU worker was killed, so this checks that the device still computes.
    HONE_ASSIGN_OR_RETURN(const CanaryReply canary,
                          session_.worker()
                              .Require(CanaryRequest{})
                              .WithContext("the GPU no longer works after this candidate"));
    if (!canary.right)
      return Error{ErrorKind::kUnavailable,
                   "the GPU computes wrongly after this candidate; reset it before going on"};
  }
  m.seconds = watch.seconds();
  m.candidate_seconds = seat->worker->compute_seconds();
  Retire(std::move(seat));
  if (alone.owns_lock()) m.reference_seconds = session_.worker().compute_seconds() - reference_before;
  return std::move(m);
}

Result<QuickLook> Evaluator::LookIn(std::unique_ptr<CandidateSeat> seat, const CandidateFile& candidate,
                                    bool another_follows, const Progress& progress, bool* started) {
  using Check = CandidateCheck;
  Check check(session_, candidate, *seat->worker, seat->folder.path(), progress, 2);
  Measurement& m = check.measurement();
  QuickLook look;
  std::shared_lock checking(device_);
  HONE_ASSIGN_OR_RETURN(const DeviceUse in_common,
                        DeviceUse::Begin(session_.options().device, session_.options().end, progress));
  seat->worker->Thaw();  // it may have waited, frozen, during another timing
  bool prewarmed = !another_follows;
  for (Result<bool> (Check::*phase)() : {&Check::Lint, &Check::Import, &Check::Build, &Check::Trials}) {
    const Result<bool> done = RunPhase(Phase::kTrial, [&] { return (check.*phase)(); });
    *started = !check.never_started();
    HONE_ASSIGN_OR_RETURN(const bool go_on, done);
    if (!prewarmed && phase == &Check::Import) {
      prewarmed = true;
      Prewarm();
    }
    if (go_on) continue;
    look.refused = std::move(m);
    return look;
  }
  checking.unlock();
  const std::unique_lock alone(device_);
  Contest contest(session_);
  const auto time_alone = [&]() -> Result<bool> {
    HONE_ASSIGN_OR_RETURN(const std::optional<double> call_us,
                          contest.TimeAlone(*seat->worker, progress, &m.stop));
    look.call_us = call_us.value_or(0);
    return call_us.has_value();
  };
  HONE_ASSIGN_OR_RETURN(look.right, RunPhase(Phase::kTiming, time_alone));
  if (!look.right)
    look.why = m.stop ? m.stop->failure.message : "it could not be timed, because the machine was too busy";
  return look;
}

}  // namespace hone

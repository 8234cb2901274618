#include "evaluation/evaluator.h"

#include "base/clock.h"
#include "evaluation/candidate_check.h"
#include "evaluation/contest.h"
#include "evaluation/run_messages.h"
#include "evaluation/run_phase.h"
#include "evaluation/setup_messages.h"

namespace hone {

Status Evaluator::Prewarm() {
  const std::scoped_lock lock(seats_mutex_);
  if (!seats_.empty()) return Ok();
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CandidateSeat> seat, CandidateSeat::Start(session_.options()));
  seats_.push_back(std::move(seat));
  return Ok();
}

Result<std::unique_ptr<CandidateSeat>> Evaluator::TakeSeat() {
  std::unique_ptr<CandidateSeat> seat;
  while (seat == nullptr) {
    HONE_RETURN_IF_ERROR(Prewarm());
    const std::scoped_lock lock(seats_mutex_);
    if (seats_.empty()) continue;  // another evaluation was quicker
    seat = std::move(seats_.front());
    seats_.pop_front();
  }
  seat->worker->zygote().SetMemoryLimit(CandidateMemoryLimit(session_.worker().pid()));
  return seat;
}

Result<Measurement> Evaluator::Evaluate(const CandidateFile& candidate, bool another_follows,
                                        const Progress& progress) {
  Stopwatch watch;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CandidateSeat> seat, TakeSeat());
  CandidateCheck check(session_, candidate, *seat->worker, seat->folder.path(), progress);
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
  Status prewarmed = Ok();
  std::shared_lock checking(device_);
  std::unique_lock alone(device_, std::defer_lock);
  for (const Step& step : kSteps) {
    if (step.phase == Phase::kTiming) {
      checking.unlock();
      alone.lock();
      reference_before = session_.worker().compute_seconds();
    }
    const Stopwatch phase_watch;
    HONE_ASSIGN_OR_RETURN(const bool go_on, RunPhase(
                                                step.phase, [&] { return (check.*step.run)(); }, &m.stop));
    m.phases.emplace_back(step.phase, phase_watch.seconds());
    if (step.phase == Phase::kImport && another_follows) prewarmed = Prewarm();
    // A worker that still imports torch would disturb the timing.
    if (step.phase == Phase::kRepeat) {
      const std::scoped_lock lock(seats_mutex_);
      for (const std::unique_ptr<CandidateSeat>& waiting : seats_)
        HONE_RETURN_IF_ERROR(waiting->worker->Call(HelloRequest{}, 180));
    }
    if (!go_on) break;
  }
  HONE_RETURN_IF_ERROR(std::move(prewarmed));
  if (m.attempts.empty()) m.attempts = seat->worker->zygote().Attempts();
  seat->worker->zygote().Kill();
  if (m.timing) {
    // Times PyTorch again without the candidate, to see whether the candidate or the machine slowed it down.
    const Contestant* eager = m.timing->Find("eager");
    if (eager != nullptr && m.timing->MedianUs(*eager) > 1.5 * m.timing->eager_alone_us) {
      HONE_ASSIGN_OR_RETURN(m.timing->eager_after_us, session_.TimeEager());
    }
  }
  if (m.stop && session_.options().device == "cuda") {
    if (!alone.owns_lock()) {
      checking.unlock();
      alone.lock();
    }
    // After a GPU worker was killed, checks that the device still computes.
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
  if (alone.owns_lock()) m.reference_seconds = session_.worker().compute_seconds() - reference_before;
  return std::move(m);
}

Result<QuickLook> Evaluator::Look(const CandidateFile& candidate, bool another_follows,
                                  const Progress& progress) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CandidateSeat> seat, TakeSeat());
  using Check = CandidateCheck;
  Check check(session_, candidate, *seat->worker, seat->folder.path(), progress, 2);
  Measurement& m = check.measurement();
  QuickLook look;
  std::shared_lock checking(device_);
  bool prewarmed = !another_follows;
  for (Result<bool> (Check::*phase)() : {&Check::Lint, &Check::Import, &Check::Build, &Check::Trials}) {
    HONE_ASSIGN_OR_RETURN(const bool go_on, RunPhase(
                                                Phase::kTrial, [&] { return (check.*phase)(); }, &m.stop));
    if (!prewarmed && phase == &Check::Import) {
      prewarmed = true;
      HONE_RETURN_IF_ERROR(Prewarm());
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
  HONE_ASSIGN_OR_RETURN(look.right, RunPhase(Phase::kTiming, time_alone, &m.stop));
  if (!look.right) look.why = m.stop ? m.stop->failure.message : "could not be timed";
  return look;
}

}  // namespace hone

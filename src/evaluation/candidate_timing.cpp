// Times a candidate: beside the baselines, with torch.compile if that could still change the verdict, with a
// cold cache, and with fresh pairs of processes. It also checks the contract for later use. contest.h times a
// pair.
#include <future>

#include "base/clock.h"
#include "base/threads.h"
#include "evaluation/candidate_check.h"
#include "evaluation/contract.h"

namespace hone {

Result<bool> CandidateCheck::Time() {
  if (!session_.truth().doubts.empty() && !session_.options().allow_blind)
    return true;  // the candidate cannot be accepted anyway
  if (session_.options().interpret_triton) {
    m_.speed_not_judged =
        "no GPU here: the kernels ran in Triton's interpreter, which says nothing about speed";
    return true;
  }
  if (session_.options().check_only) {
    m_.speed_not_judged = "it computes the same; nothing was timed (--check-only)";
    HONE_RETURN_IF_ERROR(CheckContract(session_.eager_us() * 1e-6));
    return true;
  }
  contest_.emplace(session_);
  contest_->Screen();  // these processes have run trials before
  contest_->ExpectCall(least_call_s_ < kNeverCalled ? least_call_s_ * 1e6 : 0);
  if (m_.draws) contest_->HoldToRanges(m_.draws->ranges[0]);
  HONE_ASSIGN_OR_RETURN(bool timed, contest_->AddPair(session_.worker(), worker_, progress_, &m_.stop));
  if (timed && contest_->timing().answers_wrong == 0) {
    HONE_ASSIGN_OR_RETURN(const bool more, AddCompiled());
    if (more) {
      contest_->Restart();
      contest_->Screen();
      HONE_ASSIGN_OR_RETURN(timed, contest_->AddPair(session_.worker(), worker_, progress_, &m_.stop));
      if (timed) session_.RememberCompile(contest_->timing());
    }
  }
  if (timed && contest_->Ahead() && contest_->timing().answers_wrong == 0) {
    if (once_more_) {
      HONE_ASSIGN_OR_RETURN(timed, AddFreshPairs(true));
      if (timed) m_.timing = contest_->timing();
      return timed;
    }
    if (!m_.profile) {
      HONE_ASSIGN_OR_RETURN(timed, Profile());
      if (!timed) return false;
    }
    HONE_ASSIGN_OR_RETURN(timed, contest_->TimeColdCalls(session_.worker(), worker_, &m_.stop));
    const double call_us = contest_->timing().MedianUs(contest_->timing().contestants[0]);
    if (timed) {
      ImportAhead();
      HONE_RETURN_IF_ERROR(CheckContract(call_us * 1e-6));
    }
    HONE_ASSIGN_OR_RETURN(timed, AddFreshPairs(timed));
  }
  if (timed) m_.timing = contest_->timing();
  return timed;
}

// A single pair that is ahead is enough if the candidate was accepted before and not selected among several.
Result<bool> CandidateCheck::AddFreshPairs(bool timed) {
  const Stopwatch watch;
  for (int pair = 0; timed && pair < kFreshPairs; ++pair) {
    progress_("timing fresh processes", pair + 1, once_more_ && pair == 0 ? 1 : kFreshPairs);
    HONE_ASSIGN_OR_RETURN(timed, AddFreshPair());
    if (contest_->timing().answers_wrong > 0) break;
    m_.ahead_once_more = once_more_ && timed && contest_->Ahead();
    if (m_.ahead_once_more) break;
  }
  m_.phases.emplace_back(Phase::kFresh, watch.seconds());
  return timed;
}

Result<bool> CandidateCheck::TimeAgain() {
  if (!contest_ || !m_.timing) return false;
  const Stopwatch watch;
  HONE_ASSIGN_OR_RETURN(const bool timed, AddFreshPair());
  for (auto& [phase, seconds] : m_.phases)
    if (phase == Phase::kTiming) seconds += watch.seconds();
  if (timed) m_.timing = contest_->timing();
  return timed;
}

Status CandidateCheck::LookAlone() {
  if (!contest_ || !m_.timing || !m_.timing->RanSlowerBeside()) return Ok();
  worker_.Freeze();
  const Result<double> now_us = session_.TimeEager();
  worker_.Thaw();
  HONE_RETURN_IF_ERROR(now_us);
  contest_->timing().eager_after_us = m_.timing->eager_after_us = *now_us;
  return Ok();
}

// Prepares torch.compile if it could still change the verdict. Returns true if it is ready and the rounds
// must be timed again with it.
Result<bool> CandidateCheck::AddCompiled() {
  const std::string& policy = session_.options().compile_rung;
  if (policy == "never" || (policy == "auto" && !contest_->Ahead())) return false;
  if (contest_->timing().Find("compile") != nullptr) return false;
  worker_.Freeze();
  const Stopwatch watch;
  HONE_RETURN_IF_ERROR(session_.PrepareCompile(progress_));
  m_.phases.emplace_back(Phase::kCompile, watch.seconds());
  worker_.Thaw();
  const std::optional<Rung> compiled = session_.ladder().Find("compile");
  return compiled && compiled->available;
}

// Fresh processes on both sides need the libraries that the first ones have imported. Their zygotes import
// them once for all.
void CandidateCheck::ImportAhead() {
  worker_.zygote().Import(libraries_);
  session_.ImportAhead(contest_->later_rungs());
}

// Adds a pair of fresh processes. It shows how much of the result is specific to one pair of processes.
Result<bool> CandidateCheck::AddFreshPair() {
  if (worker_.alive()) worker_.Kill();
  ImportAhead();
  // The candidate is frozen while the parent writes to a place where the candidate could create links. Its
  // old folder is not used again.
  worker_.Freeze();
  Result<TempFolder> folder = TempFolder::MakeIn(folder_, "again-");
  if (!folder.ok()) return BlameSandbox(folder.error());
  Result<std::unique_ptr<WorkerProcess>> own = WorkerProcess::Start(worker_.shared_zygote());
  if (!own.ok()) return BlameSandbox(own.error());
  CandidateCheck fresh(session_, candidate_, **own, folder->path(), progress_);
  fresh.sandbox_was_used_ = true;
  if (Status placed = fresh.PlaceSources(); !placed.ok()) return BlameSandbox(placed.error());
  worker_.Thaw();
  fresh.m_.draws = m_.draws;
  // Both sides start at the same time, because nothing is timed yet.
  auto starting = StartAsync([&] { return session_.StartFresh(contest_->later_rungs()); });
  Result<bool> built = fresh.Import();
  if (built.ok() && *built) built = fresh.BuildFirst();
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerProcess> reference, starting.get());
  HONE_RETURN_IF_ERROR(built);
  if (!*built) {
    m_.stop = fresh.m_.stop;
    return false;
  }
  HONE_ASSIGN_OR_RETURN(const bool timed, contest_->AddPair(*reference, **own, progress_, &m_.stop));
  const bool inspect = timed && !once_more_ && m_.contract.empty() && contest_->timing().answers_wrong == 0;
  return inspect && contest_->Ahead() ? TakeInspection(fresh) : Result<bool>(timed);
}

// The screening pair did not show a lead, but this pair does. The checks for candidates that are ahead
// therefore run here.
Result<bool> CandidateCheck::TakeInspection(CandidateCheck& fresh) {
  HONE_ASSIGN_OR_RETURN(bool done, fresh.Build());
  if (done && !m_.profile) {
    HONE_ASSIGN_OR_RETURN(done, fresh.Profile());
  }
  if (!done) {
    m_.stop = fresh.m_.stop;
    return false;
  }
  if (fresh.m_.profile) m_.profile = std::move(fresh.m_.profile);
  HONE_RETURN_IF_ERROR(
      fresh.CheckContract(contest_->timing().MedianUs(contest_->timing().contestants[0]) * 1e-6));
  m_.contract = std::move(fresh.m_.contract);
  return true;
}

// Changes the weights and the mode of the candidate's process, so it runs after that process was timed.
Status CandidateCheck::CheckContract(double call_s) {
  const Stopwatch watch;
  ContractCheck check(session_, worker_, call_s);
  if (m_.draws) check.HoldToRanges(m_.draws->ranges);
  HONE_ASSIGN_OR_RETURN(m_.contract, check.Run(progress_));
  m_.phases.emplace_back(Phase::kContract, watch.seconds());
  return Ok();
}

}  // namespace hone

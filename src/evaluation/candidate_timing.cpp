// How a candidate is timed: beside the baselines, torch.compile where it could still change the verdict, cold
// calls, the contract for later use, and fresh pairs of processes. contest.h times a pair.
#include "base/clock.h"
#include "evaluation/candidate_check.h"
#include "evaluation/contract.h"

namespace hone {

namespace {

constexpr int kPairs = 3;  // of processes, before a candidate is accepted

}  // namespace

Result<bool> CandidateCheck::Time() {
  if (!session_.truth().doubts.empty() && !session_.options().allow_blind) return true;  // nothing to gain
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
  Contest contest(session_);
  HONE_ASSIGN_OR_RETURN(bool timed, contest.AddPair(session_.worker(), worker_, progress_, &m_.stop));
  if (timed && contest.timing().answers_wrong == 0) {
    HONE_ASSIGN_OR_RETURN(const bool more, AddCompiled(contest));
    if (more) {
      contest.Restart();
      HONE_ASSIGN_OR_RETURN(timed, contest.AddPair(session_.worker(), worker_, progress_, &m_.stop));
      if (timed) session_.RememberCompile(contest.timing());
    }
  }
  if (timed && contest.Ahead() && contest.timing().answers_wrong == 0) {
    HONE_ASSIGN_OR_RETURN(timed, contest.TimeColdCalls(session_.worker(), worker_, &m_.stop));
    const double call_us = contest.timing().MedianUs(contest.timing().contestants[0]);
    if (timed) {
      HONE_RETURN_IF_ERROR(CheckContract(call_us * 1e-6));
    }
    for (int pair = 1; timed && pair < kPairs; ++pair) {
      progress_("timing fresh processes", pair, kPairs);
      HONE_ASSIGN_OR_RETURN(timed, AddFreshPair(contest));
    }
  }
  if (timed) m_.timing = contest.timing();
  return timed;
}

// Prepares torch.compile where it could still change the verdict. True: it is there and the contest has to
// be held again.
Result<bool> CandidateCheck::AddCompiled(Contest& contest) {
  const std::string& policy = session_.options().compile_rung;
  if (policy == "never" || (policy == "auto" && !contest.Ahead())) return false;
  if (contest.timing().Find("compile") != nullptr) return false;
  worker_.Freeze();
  HONE_RETURN_IF_ERROR(session_.PrepareCompile(progress_));
  worker_.Thaw();
  const std::optional<Rung> compiled = session_.ladder().Find("compile");
  return compiled && compiled->available;
}

// One more pair of processes that have done nothing before: what one process owes to luck shows here.
Result<bool> CandidateCheck::AddFreshPair(Contest& contest) {
  if (worker_.alive()) worker_.Kill();
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerProcess> own,
                        WorkerProcess::Start(worker_.shared_zygote()));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerProcess> reference,
                        session_.StartFresh(contest.later_rungs()));
  CandidateCheck fresh(session_, candidate_, *own, folder_, progress_);
  for (Result<bool> (CandidateCheck::*phase)() : {&CandidateCheck::Import, &CandidateCheck::BuildFirst}) {
    HONE_ASSIGN_OR_RETURN(const bool go_on, (fresh.*phase)());
    if (go_on) continue;
    m_.stop = fresh.m_.stop;
    return false;
  }
  return contest.AddPair(*reference, *own, progress_, &m_.stop);
}

// Changes the weights and the mode of the candidate's process, so it comes after that process was timed.
Status CandidateCheck::CheckContract(double call_s) {
  const Stopwatch watch;
  ContractCheck check(session_, worker_, call_s);
  HONE_ASSIGN_OR_RETURN(m_.contract, check.Run(progress_));
  m_.phases.emplace_back(Phase::kContract, watch.seconds());
  return Ok();
}

}  // namespace hone

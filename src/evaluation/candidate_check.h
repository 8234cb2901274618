// One candidate on its way through the phases of an evaluation (evaluator.h runs them in order). A phase
// returns false when the evaluation is over; measurement() says what was seen until then.
//
// candidate_check.cpp has what comes before and beside the calls, candidate_trials.cpp the checked calls,
// candidate_draws.cpp those of random modules, candidate_timing.cpp the contest with the baselines.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "candidate/candidate_file.h"
#include "evaluation/contest.h"
#include "evaluation/measurement.h"
#include "evaluation/progress.h"
#include "evaluation/reference_session.h"
#include "evaluation/tree_exchange.h"

namespace hone {

class CandidateCheck {
 public:
  // `most_cases`: how many are tried.
  CandidateCheck(ReferenceSession& session, const CandidateFile& candidate, WorkerProcess& worker,
                 fs::path folder, const Progress& progress, size_t most_cases = SIZE_MAX)
      : session_(session),
        candidate_(candidate),
        worker_(worker),
        folder_(std::move(folder)),
        progress_(progress),
        most_cases_(most_cases) {}

  // An accepted candidate on other cases: with one fresh pair of processes if that is ahead, and without
  // profile and contract.
  void JudgeOnceMore() { once_more_ = true; }

  Result<bool> Lint();
  Result<bool> Import();
  Result<bool> Build();
  Result<bool> BuildFirst();  // the instance with the task's own weights alone
  Result<bool> Trials();
  Result<bool> Repeat();
  Result<bool> Inspect();
  // On a GPU the profiler takes seconds to start. It then runs only for candidates that are ahead (Time asks
  // again), or for all if the session wants it.
  Result<bool> ProfileCall();
  Result<bool> Time();
  // One more pair of fresh processes, for a timing that did not decide. Earlier timings are kept.
  Result<bool> TimeAgain();
  // Where PyTorch ran slower beside the candidate: whether the machine is slower now. The candidate is frozen
  // meanwhile, not gone, so this decides about further pairs alone.
  Status LookAlone();

  Measurement& measurement() { return m_; }

 private:
  // Returns the reply, or nothing if the candidate failed; then m_.stop says how.
  template <class Request>
  Result<std::optional<typename Request::Reply>> Ask(Phase phase, const Request& request,
                                                     const std::vector<int>& descriptors, double seconds) {
    HONE_ASSIGN_OR_RETURN(auto reply, worker_.Call(request, descriptors, seconds));
    if (reply.ok()) return std::optional<typename Request::Reply>(std::move(reply.body));
    StopAt(phase, std::move(*reply.failure));
    return std::optional<typename Request::Reply>();
  }
  void StopAt(Phase phase, WorkerFailure failure);
  void Remark(std::string text);

  // The candidate's file, and the task's where it is needed, into the folder that the candidate reads.
  Status PlaceSources();
  Result<bool> BuildInstance(const Instance& instance);
  // The candidate has run in this sandbox before and may have caused the error, so the error counts against
  // the candidate.
  Result<bool> BlameSandbox(const Error& error);

  Result<bool> Put(const Case& one, const std::string& name, bool in_place);
  // Makes one checked call. Returns nothing if the candidate failed.
  Result<std::optional<TensorTree>> Call(Phase phase, const Case& one, const std::string& inputs, bool busy,
                                         TensorTree* inputs_after) {
    return CallSeeded(phase, one, inputs, one.call_seed, busy, inputs_after);
  }
  Result<std::optional<TensorTree>> CallSeeded(Phase phase, const Case& one, const std::string& inputs,
                                               uint64_t seed, bool busy, TensorTree* inputs_after);
  // candidate_draws.cpp: whether a wrong answer comes of other random draws; then the trial is no longer bad.
  Result<bool> ExcuseDraws(Trial* trial);
  Result<bool> CompareDistributions();
  Result<bool> CompareCase(const Case& one, int draws);
  struct CaseDraws;
  Result<bool> DrawBoth(const Case& one, int draws, CaseDraws* made);
  void ExpectAnswer(const Case& one);
  Result<bool> DropPlaced();
  double CallSeconds(const Case& one);
  bool Forgive(const Case& one);
  Status NoteRepeat(TensorTree answer);

  Result<bool> Profile();
  Result<bool> AddCompiled();
  Result<bool> AddFreshPairs(bool timed);
  void ImportAhead();
  Result<bool> AddFreshPair();
  Result<bool> TakeInspection(CandidateCheck& fresh);
  Status CheckContract(double call_s);

  ReferenceSession& session_;
  const CandidateFile& candidate_;
  WorkerProcess& worker_;
  fs::path folder_;
  const Progress& progress_;
  size_t most_cases_;
  bool once_more_ = false;
  bool sandbox_was_used_ = false;  // by an earlier process of this candidate
  fs::path placed_source_;         // empty: not yet
  Measurement m_;
  std::optional<Contest> contest_;
  std::vector<std::string> libraries_;  // that it has imported and that its zygote may import
  // The answer of the first trial, and what the second call on the same inputs says of it.
  std::optional<TensorTree> first_answer_;
  Repeats repeats_;
  static constexpr double kNeverCalled = 1e9;
  double least_call_s_ = kNeverCalled;  // of the repeats
  std::vector<uint64_t> answer_bytes_;
  size_t most_answer_bytes_ = 0;
  std::map<std::string, PlacedInputs> placed_;       // on the device, by name
  std::set<std::pair<size_t, std::string>> called_;  // instances and variants
};

}  // namespace hone

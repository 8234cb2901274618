// Runs one candidate through the phases of an evaluation (evaluator.h runs them in order). A phase returns
// false if the evaluation has ended; measurement() holds the observations so far.
//
// candidate_check.cpp has the phases before and beside the calls, candidate_trials.cpp the checked calls,
// candidate_draws.cpp those of random modules, and candidate_timing.cpp the contest with the baselines.
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
  // `most_cases` limits the number of cases.
  CandidateCheck(ReferenceSession& session, const CandidateFile& candidate, WorkerProcess& worker,
                 fs::path folder, const Progress& progress, size_t most_cases = SIZE_MAX)
      : session_(session),
        candidate_(candidate),
        worker_(worker),
        folder_(std::move(folder)),
        progress_(progress),
        most_cases_(most_cases) {}

  // Judges an accepted candidate on other cases: times one fresh pair of processes if it is ahead, and skips
  // profile and contract.
  void JudgeOnceMore() { once_more_ = true; }

  Result<bool> Lint();
  Result<bool> Import();
  Result<bool> Build();
  Result<bool> BuildFirst();  // builds only the instance with the task's own weights
  Result<bool> Trials();
  Result<bool> Repeat();
  Result<bool> Inspect();
  // On a GPU the profiler takes seconds to start. It runs only for candidates that are ahead (Time calls this
  // again), or for all if the session options say so.
  Result<bool> ProfileCall();
  Result<bool> Time();
  // Times one more pair of fresh processes after an undecided timing. Earlier timings stay.
  Result<bool> TimeAgain();
  // If PyTorch ran slower beside the candidate, measures whether the machine is slower now. The candidate is
  // only frozen meanwhile, so the result decides only whether to time more pairs.
  Status LookAlone();

  Measurement& measurement() { return m_; }
  // Whether the interpreter ended before it ran anything of the candidate.
  bool never_started() const { return never_started_; }

 private:
  // Returns the reply. If the candidate failed, returns no value and sets m_.stop.
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

  // Writes the candidate's file, and the task's file if needed, into the folder that the candidate reads.
  Status PlaceSources();
  Result<bool> BuildInstance(const Instance& instance);
  // The candidate has run in this sandbox before and may have caused the error, so the error counts against
  // it.
  Result<bool> BlameSandbox(const Error& error);

  Result<bool> Put(const Case& one, const std::string& name, bool in_place);
  // Makes one checked call. Returns no value if the candidate failed.
  Result<std::optional<TensorTree>> Call(Phase phase, const Case& one, const std::string& inputs, bool busy,
                                         TensorTree* inputs_after) {
    return CallSeeded(phase, one, inputs, one.call_seed, busy, inputs_after);
  }
  Result<std::optional<TensorTree>> CallSeeded(Phase phase, const Case& one, const std::string& inputs,
                                               uint64_t seed, bool busy, TensorTree* inputs_after);
  // candidate_draws.cpp: accepts a wrong answer for now if other random draws can explain it.
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
  bool never_started_ = false;
  bool sandbox_was_used_ = false;  // by an earlier process of this candidate
  fs::path placed_source_;         // empty until the sources are placed
  Measurement m_;
  std::optional<Contest> contest_;
  std::vector<std::string> libraries_;  // imported by the candidate and allowed for its zygote
  // The answer of the first trial, and how the second call on the same inputs compares with it.
  std::optional<TensorTree> first_answer_;
  Repeats repeats_;
  static constexpr double kNeverCalled = 1e9;
  double least_call_s_ = kNeverCalled;  // shortest call among the repeats
  std::vector<uint64_t> answer_bytes_;
  size_t most_answer_bytes_ = 0;
  std::map<std::string, PlacedInputs> placed_;       // inputs on the device, by name
  std::set<std::pair<size_t, std::string>> called_;  // instances and variants that were called
};

}  // namespace hone

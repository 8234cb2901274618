// One candidate on its way through the phases of an evaluation (evaluator.h runs them in order). A phase
// returns false when the evaluation is over; measurement() says what was seen until then.
//
// candidate_check.cpp has what comes before and beside the calls, candidate_trials.cpp the checked calls,
// candidate_timing.cpp the contest with the baselines.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "candidate/candidate_file.h"
#include "evaluation/contest.h"
#include "evaluation/measurement.h"
#include "evaluation/progress.h"
#include "evaluation/reference_session.h"

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

  Result<bool> Lint();
  Result<bool> Import();
  Result<bool> Build();
  Result<bool> BuildFirst();  // the instance with the task's own weights alone
  Result<bool> Trials();
  Result<bool> Repeat();
  Result<bool> Inspect();
  Result<bool> ProfileCall();
  Result<bool> Time();

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

  Result<bool> BuildInstance(const Instance& instance);

  Result<bool> Put(const Case& one, const std::string& name, bool in_place);
  // Makes one checked call. Returns nothing if the candidate failed.
  Result<std::optional<TensorTree>> Call(Phase phase, const Case& one, const std::string& inputs, bool busy,
                                         TensorTree* inputs_after);
  double CallSeconds(const Case& one);
  bool Forgive(const Case& one);

  Result<bool> AddCompiled(Contest& contest);
  Result<bool> AddFreshPair(Contest& contest);
  Status CheckContract(double call_s);

  ReferenceSession& session_;
  const CandidateFile& candidate_;
  WorkerProcess& worker_;
  fs::path folder_;
  const Progress& progress_;
  size_t most_cases_;
  Measurement m_;
  std::vector<uint64_t> answer_bytes_;
  std::set<std::pair<size_t, std::string>> called_;  // instances and variants
};

// A candidate made from a task fails where the task needs a file of its own folder: the sandbox holds the
// candidate alone. The message then names the task's line and the change to make. `beside`: what the task
// took from there.
void BlameTaskFolder(const Json& beside, WorkerFailure* failure);

}  // namespace hone

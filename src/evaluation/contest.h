// Times the candidate and the baselines in alternating short blocks, with the host's clock.
//
// In a round each contestant runs a short and a long block of calls; each block ends with a device
// synchronisation. The slope between the two is the time of a call without the cost of a message. Every call
// in a block has its own inputs, made anew in each round from a secret, so a cached output would be wrong.
// The calls whose outputs are checked are chosen after the clock has stopped. Work that is moved into
// receiving inputs or returning outputs is visible there: both are timed and compared with the reference's.
// While one side runs, the other side's processes are stopped.
#pragma once

#include <optional>

#include "base/ids.h"
#include "evaluation/measurement.h"

namespace hone {

class Contest {
 public:
  Contest(ReferenceSession& session, WorkerProcess& candidate)
      : session_(session), candidate_(candidate), random_(RandomU64()) {}

  // Returns nothing if the candidate failed; `stop` then says how.
  Result<std::optional<Timing>> Run(const Progress& progress, std::optional<Stop>* stop);
  // Microseconds of a call, from a few blocks of the candidate alone. For screening runs.
  Result<std::optional<double>> TimeAlone(const Progress& progress, std::optional<Stop>* stop);

 private:
  struct Side;
  struct Inputs;

  Result<std::optional<double>> EstimateCallTime();
  double BlockUs() const;
  Result<bool> PlanCounts();
  Result<bool> TimeRounds(const Progress& progress);
  Result<bool> TimeRound(bool thorough);
  Result<Inputs> MakeInputs();
  Result<bool> Load(Side& side, const Inputs& inputs, std::vector<double>* seconds);
  Result<bool> TimeBlocks(Side& side, Contestant& one, uint64_t seed);
  Result<bool> FetchAnswers(Side& side);
  Status ComputeExpected(uint64_t seed);
  Result<bool> TimeSingleCalls();
  bool IsSettled() const;
  void CompareAnswers();
  Result<bool> TimeColdCalls();
  Result<WorkerReply> Ask(Side& side, const std::string& verb, Json message,
                          const std::vector<int>& descriptors);
  void Activate(bool candidate);
  int MaxInputSets() const;

  ReferenceSession& session_;
  WorkerProcess& candidate_;
  Random random_;
  std::optional<Stop>* stop_ = nullptr;
  Timing timing_;
  int sets_ = 1;
  bool perturb_ = true;
  std::vector<int> asked_;  // calls of the long block whose answers are checked; chosen per round
  std::vector<TensorTree> answers_, expected_;
  bool reused_ = false;  // the candidate returns the same buffer on every call
  std::vector<double> candidate_fetch_, reference_fetch_, candidate_load_, reference_load_;
};

}  // namespace hone

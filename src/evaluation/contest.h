// The timing: reference and candidate take turns, in short blocks, under the host's own clock.
//
// A round gives every contestant a short and a long block of calls, each ending in a device synchronise;
// the slope between the two is the time of a call, free of what a message costs. Within a block every call
// has inputs of its own, made anew each round from a secret, so that no answer can be remembered; which
// answers are checked is decided after the clock stopped. Work moved out of the block, into taking the
// inputs or handing over the answer, shows there: both are timed as well and compared with the reference's.
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

  // Nothing when the candidate failed on the way; `stop` then says how.
  Result<std::optional<Timing>> Run(const Progress& progress, std::optional<Stop>* stop);
  // Microseconds of a call, from a few blocks of the candidate alone; to rank variants, not to judge them.
  Result<std::optional<double>> TimeAlone(const Progress& progress, std::optional<Stop>* stop);

 private:
  struct Side;
  struct Inputs;

  Result<std::optional<double>> FirstLook();
  double BlockUs() const;
  Result<bool> PlanCounts();
  Result<bool> Rounds(const Progress& progress);
  Result<bool> OneRound(bool thorough);
  Result<Inputs> FreshInputs();
  Result<bool> Load(Side& side, const Inputs& inputs, std::vector<double>* seconds);
  Result<bool> Blocks(Side& side, Contestant& one, uint64_t seed);
  Result<bool> FetchAnswers(Side& side);
  Status ExpectedAnswers(uint64_t seed);
  Result<bool> SingleCalls();
  bool Settled() const;
  void CompareAnswers();
  Result<bool> Cold();
  Result<WorkerReply> Ask(Side& side, const std::string& verb, Json message,
                          const std::vector<int>& descriptors);
  void Activate(bool candidate);
  int SetsAtMost() const;

  ReferenceSession& session_;
  WorkerProcess& candidate_;
  Random random_;
  std::optional<Stop>* stop_ = nullptr;
  Timing timing_;
  int sets_ = 1;
  bool perturb_ = true;
  std::vector<int> asked_;  // calls of the long block whose answers are checked; chosen per round
  std::vector<TensorTree> answers_, expected_;
  bool reused_ = false;  // the candidate hands out the same buffer on every call
  std::vector<double> candidate_fetch_, reference_fetch_, candidate_load_, reference_load_;
};

}  // namespace hone

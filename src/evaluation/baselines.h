// PyTorch's own ways to run the task: the best number of threads, the baselines with their first times, the
// device's peak rates and the floor that follows from them.
#pragma once

#include <optional>

#include "evaluation/device_ceilings.h"
#include "evaluation/ladder.h"
#include "evaluation/progress.h"
#include "evaluation/session_options.h"
#include "evaluation/timing.h"
#include "evaluation/truth_builder.h"
#include "evaluation/worker.h"
#include "task/card.h"

namespace hone {

// The ratio of torch.compile's time to the best other baseline's, which three quarters of the rounds exceed.
// No value if the timing is no evidence: too few rounds, void rounds, wrong answers, or PyTorch was slowed
// down.
std::optional<double> CompileBehind(const Timing& timing);

// The least time of those rungs whose time was seen; 0 if there are none.
double FastestSeenUs(const std::vector<Rung>& rungs);

class Baselines {
 public:
  // `compile_record` is the file with earlier timings of torch.compile.
  Baselines(TruthBuilder& builder, const SessionOptions& options, const Truth& truth, const Json& facts,
            fs::path compile_record)
      : builder_(builder),
        worker_(builder.worker()),
        options_(options),
        truth_(truth),
        facts_(facts),
        compile_record_(std::move(compile_record)),
        threads_(static_cast<int>(GetInt(facts, "threads", 1))) {}

  Status LearnCeilings(Card* card, const Progress& progress);
  // Chooses the number of threads, then prepares the baselines that need little preparation.
  Status Prepare(const Progress& progress);
  // Corrects the floor if PyTorch is faster than it allows.
  void CorrectFloor(Card* card, const Progress& progress);

  // Prepares torch.compile if it is requested. This is slow, so callers ask only if it can change a verdict.
  // It is skipped if it was clearly slower before, in interleaved rounds of two verdicts on the same task,
  // device and library versions.
  Status PrepareCompile(const Progress& progress);
  // Stores its time relative to the best other baseline.
  void RememberCompile(const Timing& timing) const;
  // Microseconds per call of a baseline while nothing runs beside it, measured with the blocks of a contest.
  Result<double> TimeAlone(const std::string& rung);

  const Ladder& ladder() const { return ladder_; }
  const Ceilings& ceilings() const { return ceilings_.rates; }
  int threads() const { return threads_; }
  double eager_us() const { return eager_us_; }

 private:
  Tf32Allowed MayRoundToTf32() const;
  bool Wants(const std::string& rung) const;
  Status ChooseThreads();
  // The shortest of a few calls on the same inputs.
  Result<double> TimeCall(const std::string& slot, const std::string& rung, double at_most_s);
  Status PrepareRung(const std::string& name);
  Status PrepareFlushed();
  Result<TensorTree> Run(const std::string& rung, const Case& one);

  TruthBuilder& builder_;
  WorkerProcess& worker_;
  const SessionOptions& options_;
  const Truth& truth_;
  const Json& facts_;
  fs::path compile_record_;
  DeviceCeilings ceilings_;
  Ladder ladder_;
  int threads_;
  double eager_us_ = 0;
};

}  // namespace hone

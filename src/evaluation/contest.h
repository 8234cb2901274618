// Times the candidate and the baselines in alternating blocks (timing.h explains what a block measures,
// timed_side.h how its inputs and answers are passed).
//
// In a round, fresh inputs are drawn for every call under seeds that only the parent knows. Each contestant
// runs a short, a long and an empty block, whose counts are drawn anew for each round. The answers of all
// timed calls of the candidate are compared with a baseline's answers to the same inputs. While one side
// runs, all processes of the other are frozen. A round in which a frozen side used the processor is void.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "evaluation/measurement.h"
#include "evaluation/timed_side.h"

namespace hone {

// The number of calls and rounds of a contest.
struct ContestPlan {
  std::vector<std::string> rungs;  // baselines to time; the first one's answers are the ones to compare with
  int most_calls = 2;              // calls in the long block of the candidate and the first baseline
  std::vector<int> rung_calls;     // calls in the long block of each baseline
  bool has_short = true;           // a call is short enough for two blocks
  bool has_warm_up = true;         // and for a warm-up before them
  double budget_s = 1;
  std::vector<LeftOut> left_out;
};

class Contest {
 public:
  explicit Contest(ReferenceSession& session)
      : session_(session), memory_(session.device_plane()), random_(RandomU64()) {}

  // Times one pair of processes and adds its rounds. Returns false and sets `stop` if the candidate failed.
  Result<bool> AddPair(WorkerProcess& reference, WorkerProcess& candidate, const Progress& progress,
                       std::optional<Stop>* stop);
  // Microseconds per call, from a few blocks of the candidate alone. For screening runs.
  Result<std::optional<double>> TimeAlone(WorkerProcess& candidate, const Progress& progress,
                                          std::optional<Stop>* stop);
  // Times calls with a cold L2 cache in the last pair. Only on a GPU.
  Result<bool> TimeColdCalls(WorkerProcess& reference, WorkerProcess& candidate, std::optional<Stop>* stop);

  // The baselines for fresh pairs: eager, the one whose answers are compared with, and those that were the
  // best or near it in the first pair. All fresh pairs use the same ones.
  std::vector<std::string> later_rungs() const;
  // Whether the candidate leads every baseline so far, by more than differences between processes explain.
  bool Ahead() const;
  double BestBaselineUs() const;
  // For a candidate whose random draws differ from the baselines': checks its answers against these ranges,
  // and gives it independent seeds.
  void HoldToRanges(std::vector<std::optional<DrawRange>> ranges) { ranges_ = std::move(ranges); }
  // The candidate's known time per call. A long call then needs no estimate before it is timed.
  void ExpectCall(double us) { known_call_us_ = us; }
  // Discards all rounds. The next pair counts as the first one.
  void Restart() { timing_ = Timing(); }
  // The next pair runs in processes that have run other calls before.
  void Screen() { timing_.screened = true; }
  Timing& timing() { return timing_; }

 private:
  struct Both;  // the two sides of a pair

  Result<std::optional<double>> EstimateCallUs(TimedSide& candidate);
  ContestPlan MakePlan(double candidate_us) const;
  Result<bool> TimeRounds(Both& both, const Progress& progress);
  Result<bool> TimeRound(Both& both, bool counts);
  Result<bool> TimeBlocks(Both& both, TimedSide& side, size_t contestant, uint64_t seed);
  Result<bool> TimeCollecting(Both& both);
  Status CompareAnswers(const Both& both);
  // Bytes for an answer whose shape depends on the values; 0 if shapes are the same in all cases.
  size_t AnswerRoom() const;
  Result<std::vector<InputSet>> Draw(WorkerProcess& reference, int count);
  bool IsSettled() const;
  bool IsHopeless() const;
  bool IsDecided() const;
  bool IsClearlyAhead() const;
  struct TimeRatio {
    double middle = 1, error = 1;
    double reach = 1;  // half the width of an approximate 95% interval of the median
  };
  TimeRatio RatioTo(const Contestant& baseline) const;
  Status DropCaches(WorkerProcess& reference, WorkerProcess& candidate);
  int MaxSets() const;

  ReferenceSession& session_;
  TimedMemory memory_;
  Random random_;
  ContestPlan plan_;
  std::vector<std::string> later_;  // baselines of fresh pairs, set when the first one begins
  double draw_us_ = 0;              // time to draw one set of inputs
  double known_call_us_ = 0;
  int second_looks_ = 0;
  std::vector<std::optional<DrawRange>> ranges_;
  Timing timing_;
};

}  // namespace hone

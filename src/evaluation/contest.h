// Times the candidate and the baselines in alternating blocks (timing.h says what a block measures,
// timed_side.h how its inputs and answers travel).
//
// In a round, fresh inputs are drawn for every call under seeds that only the parent knows. Each contestant
// runs a short, a long and an empty block, with counts that are drawn anew for each round. The candidate's
// answers of all its timed calls are compared with the answers of a baseline to the same inputs. While one
// side runs, everything below the other is frozen; a round in which a frozen side used the processor is void.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "evaluation/measurement.h"
#include "evaluation/timed_side.h"

namespace hone {

// How many calls and rounds a contest has.
struct ContestPlan {
  std::vector<std::string> rungs;  // baselines that are timed; the first one's answers are compared with
  int most_calls = 2;              // of the long block of the candidate and of the first rung
  std::vector<int> rung_calls;     // of the long block of each rung
  bool has_short = true;           // a call is short enough for two blocks
  bool has_warm_up = true;         // and for some calls before them
  double budget_s = 1;
  std::vector<LeftOut> left_out;
};

class Contest {
 public:
  explicit Contest(ReferenceSession& session)
      : session_(session), memory_(session.device_plane()), random_(RandomU64()) {}

  // Times one pair of processes and adds its rounds. False: the candidate failed; `stop` then says how.
  Result<bool> AddPair(WorkerProcess& reference, WorkerProcess& candidate, const Progress& progress,
                       std::optional<Stop>* stop);
  // Microseconds of a call, from a few blocks of the candidate alone. For screening runs.
  Result<std::optional<double>> TimeAlone(WorkerProcess& candidate, const Progress& progress,
                                          std::optional<Stop>* stop);
  // Calls with a cold L2 cache, for the pair that was timed last. On a GPU only.
  Result<bool> TimeColdCalls(WorkerProcess& reference, WorkerProcess& candidate, std::optional<Stop>* stop);

  // The baselines that fresh pairs are timed against: those of the first pair that were the best or near it,
  // eager, and the one whose answers are compared with. The same ones in all fresh pairs.
  std::vector<std::string> later_rungs() const;
  // Whether the candidate is ahead of every baseline so far, by more than a difference between processes
  // explains.
  bool Ahead() const;
  double BestBaselineUs() const;
  // The candidate's random draws differ from the baselines': its answers are held to these ranges, and it
  // gets seeds of its own, so that no two draws depend on each other.
  void HoldToRanges(std::vector<std::optional<DrawRange>> ranges) { ranges_ = std::move(ranges); }
  // What a call of the candidate took before. A long one is not looked at again before it is timed.
  void ExpectCall(double us) { known_call_us_ = us; }
  // Forgets all rounds; the next pair is the first one.
  void Restart() { timing_ = Timing(); }
  // The next pair runs in processes that have done something before.
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
  // Bytes for an answer whose shape depends on the values; 0 where shapes are the same in all cases.
  size_t AnswerRoom() const;
  Result<std::vector<InputSet>> Draw(WorkerProcess& reference, int count);
  bool IsSettled() const;
  bool IsHopeless() const;
  bool IsDecided() const;
  bool IsClearlyAhead() const;
  struct TimeRatio {
    double middle = 1, error = 1;
    double reach = 1;  // half the distance of the rounds between which the median lies, 19 times in 20
  };
  TimeRatio RatioTo(const Contestant& baseline) const;
  Status DropCaches(WorkerProcess& reference, WorkerProcess& candidate);
  int MaxSets() const;

  ReferenceSession& session_;
  TimedMemory memory_;
  Random random_;
  ContestPlan plan_;
  std::vector<std::string> later_;  // the baselines of fresh pairs, once the first one has begun
  double draw_us_ = 0;              // for one set of inputs
  double known_call_us_ = 0;
  int second_looks_ = 0;
  std::vector<std::optional<DrawRange>> ranges_;
  Timing timing_;
};

}  // namespace hone

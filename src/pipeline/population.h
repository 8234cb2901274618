// The archive of a population search as plain values: the judged candidates, their kinds, and the probability
// of each as a parent. These are pure functions of records. operator_choice.h chooses the next step, and
// population_stage.cpp executes it.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/json_fwd.h"
#include "evaluation/kernel_profile.h"
#include "pipeline/run_options.h"
#include "store/run_store.h"

namespace hone {

// The prefix of the search's keys: step 12 made "gen12.improve".
constexpr char kStepKeys[] = "gen";
// Returns 12 for "gen12", "gen12.improve" and "gen12.end", and 0 for keys of the opening.
int StepOf(const std::string& key);

// What a step does. The names are those of call types and keys.
enum class Operator { kImprove, kCombine, kRestart, kMend, kTune };
constexpr Operator kOperators[] = {Operator::kImprove, Operator::kCombine, Operator::kRestart,
                                   Operator::kMend, Operator::kTune};
const char* NameOf(Operator op);
// Returns kRestart for an unknown name.
Operator OperatorFromName(const std::string& name);

// A judged candidate.
struct ArchiveMember {
  std::string key;
  std::string parent;
  std::string other_parent;
  std::string phase;
  int step = 0;      // the step that made it; 0: the opening
  std::string kind;  // kernel class, and its bottleneck: "gemm", "gemm, bound by memory"
  bool right = false;
  double vs_best = 0;    // as measured, for texts
  double speed = 0;      // what the search counts with: SureSpeed
  bool settled = true;   // false: the machine was too busy for a verdict on its speed
  double closeness = 0;  // for a failed one: how close it seems to working, 0 to 1
  bool tunable = false;
};

// The bottleneck of a candidate, from its own figures if they show it, else from the task's floor. `card` is
// the task's; `profile` is empty without a profile.
enum class Bottleneck { kUnknown, kFloor, kLaunches, kMemory, kArithmetic };
Bottleneck BottleneckOf(const CandidateRecord& candidate, const Json& card,
                        const KernelProfile& profile = {});
std::string KindOf(const CandidateRecord& candidate, const Json& card, const KernelProfile& profile = {});
// The speed-up of a right candidate that its measurement ensures: the lower end of the 95% interval, and at
// most 1 unless the candidate was accepted. A wide interval thus never beats a narrow one by luck. The search
// chooses parents and counts gains by this value. Where the interval has no useful lower end, the value is
// kNothingRight or, if that is less, the estimate, so that a right candidate can be a parent.
double SureSpeed(const CandidateRecord& candidate);
// By the reason of its verdict, and for a wrong output also by its error. 0 for cheats and for right
// candidates.
double Closeness(const CandidateRecord& candidate);
ArchiveMember MemberOf(const CandidateRecord& candidate, const RunOptions& options, const Json& card,
                       const KernelProfile& profile = {});

// A step and its result.
struct SearchStep {
  int number = 0;
  Operator op = Operator::kRestart;
  std::vector<std::string> parents;
  bool ended = false;
  bool answered = true;  // a model replied, or no reply was needed
  double gain = 0;       // ln(best after / best before)
  double cost = 0;       // in model calls
};

// The members and steps that exist when a step is chosen.
struct SearchArchive {
  std::vector<ArchiveMember> members;
  std::vector<SearchStep> steps;  // in the order of their numbers; the last ones may be pending
};

// The best SureSpeed of a right member whose verdict is settled: an inconclusive one may be a parent, but it
// is no gain. Without one it is kNothingRight, so that the first right candidate counts as a gain.
constexpr double kNothingRight = 0.25;
double BestOf(const std::vector<ArchiveMember>& members);

// Right members that may be parents: the two fastest of each kind, fastest first.
std::vector<const ArchiveMember*> Parents(const SearchArchive& archive);
// The weight of a parent: (v / v_best)^4 * (1 + paid) / (1 + used), where v is its SureSpeed, `used` counts
// the steps with this parent and `paid` those of them with a gain. Parents of one kind share this, so that a
// kind with two parents is not drawn more often.
double ParentWeight(const ArchiveMember& parent, const SearchArchive& archive);
// Failed members that may be repaired: those that were not repaired yet and whose closeness, halved for each
// failed attempt before them, is large enough. The weight is that closeness times the squared speed of the
// last ancestor that works, as a share of the best.
struct Weighted {
  const ArchiveMember* member;
  double weight;
};
std::vector<Weighted> Mendable(const SearchArchive& archive);
// New designs (seeds, algorithm candidates, restarts, the expert's and inherited ones) of which nothing
// works: neither the first file nor any repair of it. In the archive's order.
struct FailedDesign {
  const ArchiveMember* first;
  const ArchiveMember* last;  // its latest repair, or the first file
  int repairs = 0;
};
std::vector<FailedDesign> FailedDesigns(const SearchArchive& archive);
// Parents that suit tuning and were tuned fewer than `kMostTunings` times.
constexpr int kMostTunings = 4;
std::vector<Weighted> MayBeTuned(const SearchArchive& archive);
// How often this operator used this parent.
int Uses(const SearchArchive& archive, const std::string& key, Operator op);

// Draws one of them by weight; nullptr if all weights are 0.
const ArchiveMember* Draw(const std::vector<Weighted>& from, Random* random);
// Uniform in [0, 1).
double Uniform(Random* random);

}  // namespace hone

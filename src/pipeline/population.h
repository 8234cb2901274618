// The archive of a population search, as plain values: which judged candidates there are, of which kind each
// is, which may be parents and how likely each is. Pure functions of records. Nothing here decides what is
// done next (operator_choice.h) or does it (population_stage.cpp).
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/json_fwd.h"
#include "pipeline/run_options.h"
#include "store/run_store.h"

namespace hone {

// What keys of the search begin with: "gen12.improve" is what step 12 made.
constexpr char kStepKeys[] = "gen";
// 12 for "gen12", "gen12.improve" and "gen12.end"; 0 for the keys of the opening.
int StepOf(const std::string& key);

// What a step does. The names are those of call types and keys.
enum class Operator { kImprove, kCombine, kRestart, kMend, kTune };
constexpr Operator kOperators[] = {Operator::kImprove, Operator::kCombine, Operator::kRestart,
                                   Operator::kMend, Operator::kTune};
const char* NameOf(Operator op);
// kRestart for a name that is none.
Operator OperatorFromName(const std::string& name);

// A judged candidate.
struct ArchiveMember {
  std::string key;
  std::string parent;
  std::string other_parent;
  int step = 0;      // that made it; 0: the opening
  std::string kind;  // kernel class, and what bounds it: "gemm", "gemm, near the floor"
  bool right = false;
  double vs_best = 0;
  double closeness = 0;  // of one that failed: how near it seems to working, 0 to 1
  bool tunable = false;
};

// `card` is the task's.
std::string KindOf(const CandidateRecord& candidate, const Json& card);
// By the reason of its verdict; for a wrong output also by how wrong it is. 0 for cheats and for what is
// right.
double Closeness(const CandidateRecord& candidate);
ArchiveMember MemberOf(const CandidateRecord& candidate, const RunOptions& options, const Json& card);

// What a step was, and what it came to.
struct SearchStep {
  int number = 0;
  Operator op = Operator::kRestart;
  std::vector<std::string> parents;
  bool ended = false;
  bool answered = true;  // a model gave a reply, or none was needed
  double gain = 0;       // ln(best after / best before)
  double cost = 0;       // in model calls
};

// Members and steps that are there when a step is chosen.
struct SearchArchive {
  std::vector<ArchiveMember> members;
  std::vector<SearchStep> steps;  // in order of their numbers; the last ones may not have ended
};

// The best speed-up of a right member. While none is right it is kNothingRight, so that the first right
// candidate counts as a gain.
constexpr double kNothingRight = 0.25;
double BestOf(const std::vector<ArchiveMember>& members);

// Right members that may be parents: the two fastest of each kind, the fastest first.
std::vector<const ArchiveMember*> Parents(const SearchArchive& archive);
// How likely a parent is drawn: (v / v_best)^4 * (1 + paid) / (1 + used), where `used` counts the steps that
// had it as a parent and `paid` those among them with a gain.
double ParentWeight(const ArchiveMember& parent, const SearchArchive& archive);
// Failed members that may be mended, with weights: what nobody mended yet and is close enough. Each attempt
// in a row halves the closeness; the speed of what it was made from counts squared.
struct Weighted {
  const ArchiveMember* member;
  double weight;
};
std::vector<Weighted> Mendable(const SearchArchive& archive);
// Parents that tuning suits and that were not tuned `kMostTunings` times.
constexpr int kMostTunings = 4;
std::vector<Weighted> MayBeTuned(const SearchArchive& archive);
// How often a step of this kind had this parent.
int Uses(const SearchArchive& archive, const std::string& key, Operator op);

// One of them, by weight; nullptr if all weights are 0.
const ArchiveMember* Draw(const std::vector<Weighted>& from, Random* random);
// Uniform in [0, 1).
double Uniform(Random* random);

}  // namespace hone

#include "pipeline/population.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "codegen/device_costs.h"
#include "pipeline/rules.h"

namespace hone {

namespace {

constexpr const char* kOperatorNames[] = {"improve", "combine", "restart", "mend", "tune"};

// A kernel within this factor of its floor has little left to gain.
constexpr double kLittleLeft = 1.25;
// If a kernel uses less than this share of a peak rate, something else limits it.
constexpr double kUsesMuch = 0.25;
constexpr double kSpeedCounts = 4;
constexpr size_t kElitesOfAKind = 2;
constexpr double kCloseEnough = 0.2;

// How often showing an error of this kind to the model that made it leads to a right file. A candidate that
// cheats is not repaired.
constexpr struct {
  const char* reason;
  double closeness;
} kCloseness[] = {
    {"build-failed", 0.7},   {"import-failed", 0.7},
    {"wrong-shape", 0.7},    {"wrong-dtype", 0.8},
    {"crashed", 0.5},        {"non-finite", 0.5},
    {"wrong-output", 0.6},   {"weights-not-transferred", 0.7},
    {"input-modified", 0.8}, {"unwritten-output", 0.6},
    {"unsynchronised", 0.6}, {"nondeterministic", 0.5},
    {"out-of-memory", 0.4},  {"timeout", 0.2},
    {"stale-result", 0},     {"timer-tampering", 0},
    {"too-fast", 0},         {"escaped", 0},
    {"no-code", 0},
};
constexpr double kOtherFailure = 0.3;

double SpeedShare(const ArchiveMember& member, double best) {
  return best > 0 ? std::min(1.0, member.speed / best) : 0;
}

const ArchiveMember* Find(const SearchArchive& archive, const std::string& key) {
  for (const ArchiveMember& one : archive.members)
    if (one.key == key) return &one;
  return nullptr;
}

}  // namespace

int StepOf(const std::string& key) {
  constexpr size_t kPrefix = sizeof(kStepKeys) - 1;
  int number = 0;
  if (!StartsWith(key, kStepKeys)) return 0;
  const char* end = key.data() + key.size();
  const auto read = std::from_chars(key.data() + kPrefix, end, number);
  return read.ec == std::errc() && number > 0 && (read.ptr == end || *read.ptr == '.') ? number : 0;
}

const char* NameOf(Operator op) {
  return kOperatorNames[static_cast<size_t>(op)];
}

Operator OperatorFromName(const std::string& name) {
  for (const Operator op : kOperators)
    if (name == NameOf(op)) return op;
  return Operator::kRestart;
}

namespace {

// Which of the two a profile shows as the limit: averages over all kernels, weighted by their time.
Bottleneck SeenBy(const KernelProfile& profile) {
  double arithmetic = 0;
  double memory = 0;
  for (const KernelMetrics& kernel : profile.kernels) {
    arithmetic += kernel.share * kernel.sm_percent;
    memory += kernel.share * kernel.memory_percent;
  }
  if (std::max(arithmetic, memory) < 100 * kUsesMuch) return Bottleneck::kUnknown;
  return arithmetic > memory ? Bottleneck::kArithmetic : Bottleneck::kMemory;
}

}  // namespace

Bottleneck BottleneckOf(const CandidateRecord& candidate, const Json& card, const KernelProfile& profile) {
  const double us = candidate.candidate_us;
  const double floor_us = GetNumber(card, "floor_us");
  if (us <= 0) return Bottleneck::kUnknown;
  if (us < kLittleLeft * floor_us) return Bottleneck::kFloor;
  const Result<Json> record = ParseJson(candidate.json);
  const double launches =
      record.ok() && record->is_object() ? GetNumber(GetMember(*record, "launches"), "candidate") : 0;
  if (launches * LaunchUs() > us / 2) return Bottleneck::kLaunches;
  if (!profile.kernels.empty()) return SeenBy(profile);
  // Far above the floor, neither of its two rates limits the time.
  if (floor_us < kUsesMuch * us) return Bottleneck::kUnknown;
  const std::string bound = GetString(card, "floor_bound");
  return bound == "arithmetic" ? Bottleneck::kArithmetic
         : bound == "memory"   ? Bottleneck::kMemory
                               : Bottleneck::kUnknown;
}

std::string KindOf(const CandidateRecord& candidate, const Json& card, const KernelProfile& profile) {
  const std::string kernels = candidate.kernel_class.empty() ? "none" : candidate.kernel_class;
  switch (BottleneckOf(candidate, card, profile)) {
    case Bottleneck::kFloor:
      return kernels + ", near the floor";
    case Bottleneck::kLaunches:
      return kernels + ", bound by launches";
    case Bottleneck::kMemory:
      return kernels + ", bound by memory";
    case Bottleneck::kArithmetic:
      return kernels + ", bound by arithmetic";
    case Bottleneck::kUnknown:
      break;
  }
  return kernels;
}

double SureSpeed(const CandidateRecord& candidate) {
  if (!IsRight(candidate)) return 0;
  const double low = std::max(candidate.ci_low, std::min(candidate.vs_best, kNothingRight));
  return candidate.accepted() ? low : std::min(low, 1.0);
}

double Closeness(const CandidateRecord& candidate) {
  if (!IsBroken(candidate)) return 0;
  double closeness = kOtherFailure;
  for (const auto& row : kCloseness)
    if (candidate.reason == row.reason) closeness = row.closeness;
  // An error a thousand times over the limit is another computation; one twice over it is a detail.
  if (candidate.reason == "wrong-output" && candidate.error > 0 && candidate.error_limit > 0)
    closeness *= std::clamp(1.2 - std::log10(candidate.error / candidate.error_limit) / 5, 0.1, 1.2);
  return closeness;
}

ArchiveMember MemberOf(const CandidateRecord& candidate, const RunOptions& options, const Json& card,
                       const KernelProfile& profile) {
  ArchiveMember member;
  member.key = candidate.key;
  member.parent = candidate.parent_key;
  member.other_parent = candidate.other_parent_key;
  member.phase = candidate.phase;
  member.step = StepOf(candidate.key);
  member.kind = KindOf(candidate, card, profile);
  member.right = IsRight(candidate);
  member.vs_best = member.right ? candidate.vs_best : 0;
  member.speed = SureSpeed(candidate);
  member.settled = candidate.verdict != NameOf(Decision::kInconclusive);
  member.closeness = Closeness(candidate);
  member.tunable = member.right && WhyNotTuned(candidate, options, card, {}).empty();
  return member;
}

double BestOf(const std::vector<ArchiveMember>& members) {
  double best = kNothingRight;
  for (const ArchiveMember& one : members)
    if (one.right && one.settled) best = std::max(best, one.speed);
  return best;
}

std::vector<const ArchiveMember*> Parents(const SearchArchive& archive) {
  std::vector<const ArchiveMember*> right;
  for (const ArchiveMember& one : archive.members)
    if (one.right) right.push_back(&one);
  std::stable_sort(right.begin(), right.end(),
                   [](const ArchiveMember* a, const ArchiveMember* b) { return a->speed > b->speed; });
  std::map<std::string, size_t> of_kind;
  std::vector<const ArchiveMember*> parents;
  for (const ArchiveMember* one : right)
    if (of_kind[one->kind]++ < kElitesOfAKind) parents.push_back(one);
  return parents;
}

int Uses(const SearchArchive& archive, const std::string& key, Operator op) {
  return static_cast<int>(
      std::count_if(archive.steps.begin(), archive.steps.end(), [&](const SearchStep& step) {
        return step.op == op &&
               std::find(step.parents.begin(), step.parents.end(), key) != step.parents.end();
      }));
}

double ParentWeight(const ArchiveMember& parent, const SearchArchive& archive) {
  int used = 0;
  int paid = 0;
  for (const SearchStep& step : archive.steps) {
    if (std::find(step.parents.begin(), step.parents.end(), parent.key) == step.parents.end()) continue;
    ++used;
    paid += step.gain > 0 ? 1 : 0;
  }
  const std::vector<const ArchiveMember*> parents = Parents(archive);
  const auto of_its_kind = std::count_if(parents.begin(), parents.end(), [&](const ArchiveMember* one) {
    return one->key != parent.key && one->kind == parent.kind;
  });
  return std::pow(SpeedShare(parent, BestOf(archive.members)), kSpeedCounts) * (1 + paid) / (1 + used) /
         static_cast<double>(1 + of_its_kind);
}

std::vector<Weighted> Mendable(const SearchArchive& archive) {
  const double best = BestOf(archive.members);
  std::vector<Weighted> all;
  for (const ArchiveMember& one : archive.members) {
    if (one.right || one.closeness <= 0) continue;
    const bool tried = std::any_of(archive.members.begin(), archive.members.end(),
                                   [&](const ArchiveMember& other) { return other.parent == one.key; }) ||
                       Uses(archive, one.key, Operator::kMend) > 0;
    if (tried) continue;
    // Its ancestors beyond the failed attempts. A store edited by hand could contain a cycle.
    double closeness = one.closeness;
    const ArchiveMember* from = Find(archive, one.parent);
    for (size_t i = 0; from != nullptr && !from->right && i < archive.members.size(); ++i) {
      closeness /= 2;
      from = Find(archive, from->parent);
    }
    if (closeness < kCloseEnough) continue;
    const double speed = from != nullptr && from->right ? SpeedShare(*from, best) : 0.7;
    all.push_back({&one, closeness * speed * speed});
  }
  return all;
}

namespace {

bool IsRepair(const ArchiveMember& member) {
  return EndsWith(member.phase, "_repair") || member.phase == NameOf(Operator::kMend) ||
         member.phase == "mended";
}

bool IsNewDesign(const ArchiveMember& member) {
  for (const char* phase : {"seed", "algorithm", "expert", "inherited", NameOf(Operator::kRestart)})
    if (member.phase == phase) return true;
  return false;
}

}  // namespace

std::vector<FailedDesign> FailedDesigns(const SearchArchive& archive) {
  std::map<std::string, FailedDesign> designs;  // by the key of the first file
  std::set<std::string> work;
  for (const ArchiveMember& one : archive.members) {
    const ArchiveMember* first = &one;
    // A store edited by hand could contain a cycle.
    for (size_t i = 0; IsRepair(*first) && i < archive.members.size(); ++i) {
      const ArchiveMember* repaired = Find(archive, first->parent);
      if (repaired == nullptr) break;
      first = repaired;
    }
    FailedDesign& design = designs.try_emplace(first->key, FailedDesign{first, first}).first->second;
    design.last = &one;
    design.repairs += &one == first ? 0 : 1;
    if (one.right) work.insert(first->key);
  }
  std::vector<FailedDesign> failed;
  for (const ArchiveMember& one : archive.members)
    if (const auto design = designs.find(one.key);
        design != designs.end() && work.count(one.key) == 0 && IsNewDesign(one))
      failed.push_back(design->second);
  return failed;
}

std::vector<Weighted> MayBeTuned(const SearchArchive& archive) {
  std::vector<Weighted> all;
  for (const ArchiveMember* one : Parents(archive))
    if (one->tunable && Uses(archive, one->key, Operator::kTune) < kMostTunings)
      all.push_back({one, ParentWeight(*one, archive)});
  return all;
}

double Uniform(Random* random) {
  return static_cast<double>(random->Next() >> 11) * 0x1p-53;
}

const ArchiveMember* Draw(const std::vector<Weighted>& from, Random* random) {
  double total = 0;
  for (const Weighted& one : from) total += one.weight;
  if (total <= 0) return nullptr;
  double left = Uniform(random) * total;
  for (const Weighted& one : from) {
    left -= one.weight;
    if (left < 0) return one.member;
  }
  return from.back().member;
}

}  // namespace hone

#include "evaluation/baselines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "evaluation/alone_timing.h"
#include "evaluation/device_lock.h"
#include "evaluation/run_messages.h"
#include "evaluation/setup_messages.h"
#include "evaluation/timing_messages.h"
#include "evaluation/tree_exchange.h"

namespace hone {

namespace {

constexpr double kCompileBehind = 1.15;
// Number of measurements that must agree before they exclude torch.compile.
constexpr int64_t kCompileSightings = 2;
constexpr int64_t kCompileRounds = 6;  // fewer rounds are not stored
constexpr int64_t kCeilingsMeasuredAtMost = 4;
constexpr double kFlushingGains = 0.9;
constexpr double kLongLookUs = 3e5;  // a call this long is timed only once

}  // namespace

Result<double> Baselines::TimeCall(const std::string& slot, const std::string& rung, double at_most_s) {
  const CallsRequest request = {slot, kFirstCase, 1, rung};
  double best = 1e30, spent = 0;
  for (int i = 0; i < 7 && (i < 2 || spent < at_most_s); ++i) {
    HONE_ASSIGN_OR_RETURN(const auto reply, worker_.Call(request, 600));
    if (!reply.ok()) return Error{ErrorKind::kInvalid, reply.failure->message};
    spent += reply.seconds();
    if (i > 0) best = std::min(best, reply.seconds());
  }
  return best * 1e6;
}

Result<double> Baselines::TimeAlone(const std::string& rung) {
  HONE_ASSIGN_OR_RETURN(const double about_us, TimeCall("default", rung, 0.05));
  const Case& one = truth_.cases[0];
  size_t bytes = 0;
  for (const TensorTree* tree : {&one.inputs, &one.expected})
    for (const TensorLeaf& leaf : tree->leaves) bytes += leaf.bytes;
  std::optional<DeviceLock> alone;
  if (options_.device == "cuda") {
    const auto silent = [](const std::string&, int, int) {};
    HONE_ASSIGN_OR_RETURN(alone, DeviceLock::Take(options_.device, options_.end, silent));
  }
  return TimeRungAlone(worker_, TimedMemory(builder_.plane()), one.expected, {rung, about_us, bytes});
}

Status Baselines::ChooseThreads() {
  if (options_.device == "cuda") return Ok();
  const int cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  double best_us = 1e30;
  int best = threads_;
  std::vector<int> counts;
  for (int count = 1; count < cores; count *= 2) counts.push_back(count);
  counts.push_back(cores);
  for (int count : counts) {
    HONE_RETURN_IF_ERROR(worker_.Require(ThreadsRequest{count}));
    HONE_ASSIGN_OR_RETURN(const double us, TimeCall("default", "", 0.4));
    if (us < best_us) {
      best_us = us;
      best = count;
    }
  }
  threads_ = best;
  return worker_.Require(ThreadsRequest{best}).ok()
             ? Ok()
             : Status(Error{ErrorKind::kInternal, "cannot set threads"});
}

Status Baselines::Prepare(const Progress& progress) {
  progress("preparing the baselines", 0, 0);
  HONE_RETURN_IF_ERROR(ChooseThreads());
  HONE_ASSIGN_OR_RETURN(const CaseLease lease, builder_.Hold(truth_.cases[0]));  // for all baselines
  HONE_RETURN_IF_ERROR(PrepareRung("eager"));
  if (options_.device != "cuda") return Wants("flush_denormals") ? PrepareFlushed() : Ok();
  for (const char* rung : {"tf32", "cudagraph"})
    if (Wants(rung)) HONE_RETURN_IF_ERROR(PrepareRung(rung));
  return Ok();
}

// Few tasks have denormal numbers. Flushing becomes a baseline only if a short timing on the same inputs
// shows a gain.
Status Baselines::PrepareFlushed() {
  Rung rung;
  rung.name = "flush_denormals";
  const RungRequest request = {"default", kFirstCase, rung.name};
  HONE_ASSIGN_OR_RETURN(const auto made, worker_.Call(request, 600));
  if (!made.ok()) return worker_.alive() ? Ok() : Status(WorkerProcess::ErrorOf(*made.failure));
  double flushed_us = 1e30, eager_us = 1e30;
  for (int i = 0; i < 2; ++i) {
    HONE_ASSIGN_OR_RETURN(const double with, TimeCall("default", rung.name, 0.015));
    HONE_ASSIGN_OR_RETURN(const double without, TimeCall("default", "eager", 0.015));
    flushed_us = std::min(flushed_us, with);
    eager_us = std::min(eager_us, without);
    if (eager_us > kLongLookUs) break;
  }
  if (flushed_us < kFlushingGains * eager_us) return PrepareRung(rung.name);
  rung.why_not = "not faster than eager";
  ladder_.Add(rung);
  return Ok();
}

bool Baselines::Wants(const std::string& rung) const {
  return options_.ladder.empty() ||
         std::find(options_.ladder.begin(), options_.ladder.end(), rung) != options_.ladder.end();
}

Result<TensorTree> Baselines::Run(const std::string& rung, const Case& one) {
  HONE_ASSIGN_OR_RETURN(
      auto reply, RequireTree(worker_, builder_.plane(), RunRequest{"default", one.id, one.call_seed, rung},
                              {.root = "output"}));
  return std::move(reply.tree);
}

Status Baselines::PrepareRung(const std::string& name) {
  Rung rung;
  rung.name = name;
  HONE_ASSIGN_OR_RETURN(const auto made, worker_.Call(RungRequest{"default", kFirstCase, name}, 600));
  if (!made.ok()) {
    if (!worker_.alive()) return Error{ErrorKind::kInvalid, "the reference worker died preparing " + name};
    rung.why_not = SafeForTerminal(Lines(made.failure->message + "\n").front()).substr(0, 200);
    ladder_.Add(rung);
    return Ok();
  }
  // A baseline counts only if its error is within the limit. TF32 often exceeds it.
  const Case& one = truth_.cases[0];
  HONE_ASSIGN_OR_RETURN(const CaseLease lease, builder_.Hold(one));
  Result<TensorTree> out = Run(name, one);
  if (!out.ok() && out.error().kind == ErrorKind::kInterrupted) return std::move(out).error();
  bool right = out.ok() && out->leaves.size() == one.truth.leaves.size();
  for (size_t i = 0; right && i < out->leaves.size(); ++i) {
    right = out->leaves[i].elements() == one.truth.leaves[i].elements();
    if (!right) break;
    HONE_ASSIGN_OR_RETURN(const Distance distance, CompareNorms(*out, one.truth, i));
    rung.error = std::max(rung.error, distance.relative);
    right = distance.relative <= truth_.LimitFor(0, i).relative && distance.non_finite == 0;
  }
  if (right && name == "tf32") {
    bool same = true;
    for (size_t i = 0; same && i < out->leaves.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(same, SameValues(*out, one.expected, i));
    }
    if (same) {
      rung.why_not = "it gives the same bits as eager: TF32 changes nothing here";
      ladder_.Add(rung);
      return Ok();
    }
  }
  rung.available = right;
  if (!right)
    rung.why_not = out.ok() ? fmt::format("its error {} is over the limit", HumanNumber(rung.error))
                            : out.error().message;
  if (right) {
    HONE_ASSIGN_OR_RETURN(rung.call_us, TimeAlone(name));
    if (name == "eager") eager_us_ = rung.call_us;
  }
  ladder_.Add(rung);
  return Ok();
}

Status Baselines::PrepareCompile(const Progress& progress) {
  if (ladder_.Find("compile") || !Wants("compile")) return Ok();
  if (const Result<std::string> text = ReadFile(compile_record_);
      text.ok() && options_.compile_rung != "always") {
    const Result<Json> seen = ParseJson(*text);
    const double behind = seen.ok() ? GetNumber(*seen, "over_best") : 0;
    if (behind > kCompileBehind && GetInt(*seen, "rounds") >= kCompileRounds &&
        GetInt(*seen, "sightings") >= kCompileSightings) {
      Rung rung;
      rung.name = "compile";
      rung.why_not = fmt::format(
          "took {:.2f}x the time of the best other baseline or more in {} measurements on this device, the "
          "last of {}; --compile always measures it again",
          behind, GetInt(*seen, "sightings"), GetString(*seen, "measured"));
      ladder_.Add(rung);
      return Ok();
    }
  }
  progress("preparing the torch.compile baseline, which takes longest", 0, 0);
  return PrepareRung("compile");
}

std::optional<double> CompileBehind(const Timing& timing) {
  const Contestant* compiled = timing.Find("compile");
  if (compiled == nullptr || static_cast<int64_t>(compiled->rounds.size()) < kCompileRounds ||
      timing.void_rounds > 0 || timing.answers_wrong > 0)
    return {};
  if (timing.Find("eager") == nullptr || timing.eager_alone_us <= 0 || timing.RanSlowerBeside()) return {};
  const Contestant* best = nullptr;
  for (size_t i = 1; i < timing.contestants.size(); ++i) {
    const Contestant& one = timing.contestants[i];
    if (&one == compiled || one.rounds.size() != compiled->rounds.size()) continue;
    if (best == nullptr || timing.MedianUs(one) < timing.MedianUs(*best)) best = &one;
  }
  if (best == nullptr) return {};
  const std::vector<double> own = timing.CallUs(*compiled), other = timing.CallUs(*best);
  std::vector<double> ratios;
  for (size_t i = 0; i < own.size(); ++i)
    if (other[i] > 0) ratios.push_back(own[i] / other[i]);
  if (static_cast<int64_t>(ratios.size()) < kCompileRounds) return {};
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 4];  // three quarters of the rounds exceed it
}

void Baselines::RememberCompile(const Timing& timing) const {
  const std::optional<double> behind = CompileBehind(timing);
  if (!behind) return;
  const Result<std::string> text = ReadFile(compile_record_);
  const Result<Json> seen = text.ok() ? ParseJson(*text) : Result<Json>(Json::object());
  const double before = seen.ok() ? GetNumber(*seen, "over_best") : 0;
  // A timing that contradicts the earlier ones replaces them.
  const bool agrees = before > kCompileBehind && *behind > kCompileBehind;
  KeepInCache(compile_record_, DumpJson(Json{{"over_best", agrees ? std::min(before, *behind) : *behind},
                                             {"rounds", timing.Find("compile")->rounds.size()},
                                             {"sightings", agrees ? GetInt(*seen, "sightings", 1) + 1 : 1},
                                             {"measured", UtcTimestamp()}}));
}

Tf32Allowed Baselines::MayRoundToTf32() const {
  const bool wide = options_.precision == "tf32" || options_.precision == "bf16";
  return {wide || GetBool(facts_, "cudnn_tf32"), wide || GetBool(facts_, "matmul_tf32")};
}

Status Baselines::LearnCeilings(Card* card, const Progress& progress) {
  ceilings_ = ReadCeilings(options_.device, facts_);
  if (ceilings_.times == 0) {
    std::optional<DeviceLock> alone;
    if (options_.device == "cuda") {
      HONE_ASSIGN_OR_RETURN(alone, DeviceLock::Take(options_.device, options_.end, progress));
    }
    progress("measuring the peak rates of this device (once per device)", 0, 0);
    HONE_RETURN_IF_ERROR(MeasureCeilings(options_.device, facts_, worker_, &ceilings_));
  }
  SetFloor(card, ceilings_.rates, MayRoundToTf32());
  return Ok();
}

double FastestSeenUs(const std::vector<Rung>& rungs) {
  double fastest_us = 0;
  for (const Rung& rung : rungs)
    if (rung.available && rung.call_us > kNoTimeSeenUs && (fastest_us == 0 || rung.call_us < fastest_us))
      fastest_us = rung.call_us;
  return fastest_us;
}

// Peak rates that were measured on a busy machine are too low, so PyTorch appears faster than the floor. The
// same happens if operands stay in a cache, or if an algorithm needs fewer operations than were counted. Then
// a new measurement changes nothing, and the floor is set to PyTorch's time.
void Baselines::CorrectFloor(Card* card, const Progress& progress) {
  const double fastest_us = FastestSeenUs(ladder_.All());
  if (fastest_us == 0 || card->floor_us <= fastest_us) return;
  if (card->floor_bound == "arithmetic" && ceilings_.times < kCeilingsMeasuredAtMost) {
    progress("measuring the peak rates of this device again: PyTorch is faster than the predicted floor", 0,
             0);
    if (MeasureCeilings(options_.device, facts_, worker_, &ceilings_).ok())
      SetFloor(card, ceilings_.rates, MayRoundToTf32());
  }
  card->floor_us = std::min(card->floor_us, fastest_us);
}

}  // namespace hone

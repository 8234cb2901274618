#include "evaluation/baselines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "evaluation/run_messages.h"
#include "evaluation/setup_messages.h"
#include "evaluation/timing_messages.h"

namespace hone {

namespace {

constexpr double kCompileBehind = 1.15;
constexpr int64_t kCompileRounds = 6;  // fewer are not remembered
constexpr int64_t kCeilingsMeasuredAtMost = 4;

}  // namespace

Result<double> Baselines::TimeCall(const std::string& slot, const std::string& rung, double at_most_s) {
  const CallsRequest request = {slot, "default#1", 1, rung};
  double best = 1e30, spent = 0;
  for (int i = 0; i < 7 && (i < 2 || spent < at_most_s); ++i) {
    HONE_ASSIGN_OR_RETURN(const auto reply, worker_.Call(request, 600));
    if (!reply.ok()) return Error{ErrorKind::kInvalid, reply.failure->message};
    spent += reply.seconds();
    if (i > 0) best = std::min(best, reply.seconds());
  }
  return best * 1e6;
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
  HONE_RETURN_IF_ERROR(PrepareRung("eager"));
  if (options_.device != "cuda") return Ok();
  for (const char* rung : {"tf32", "cudagraph"})
    if (Wants(rung)) HONE_RETURN_IF_ERROR(PrepareRung(rung));
  return Ok();
}

bool Baselines::Wants(const std::string& rung) const {
  return options_.ladder.empty() ||
         std::find(options_.ladder.begin(), options_.ladder.end(), rung) != options_.ladder.end();
}

Result<TensorTree> Baselines::Run(const std::string& rung, const Case& one) {
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("reference"));
  HONE_ASSIGN_OR_RETURN(const RunReply reply,
                        worker_.Require(RunRequest{"default", one.id, one.call_seed, rung}, {blob.fd()}));
  return ParseTree(reply.tree, std::move(blob), "output");
}

Status Baselines::PrepareRung(const std::string& name) {
  Rung rung;
  rung.name = name;
  HONE_ASSIGN_OR_RETURN(const auto made, worker_.Call(RungRequest{"default", "default#1", name}, 600));
  if (!made.ok()) {
    if (!worker_.alive()) return Error{ErrorKind::kInvalid, "the reference worker died preparing " + name};
    rung.why_not = SafeForTerminal(Lines(made.failure->message + "\n").front()).substr(0, 200);
    ladder_.Add(rung);
    return Ok();
  }
  // A baseline counts only if its error is within the limit. TF32 often exceeds it.
  const Case& one = truth_.cases[0];
  Result<TensorTree> out = Run(name, one);
  if (!out.ok() && out.error().kind == ErrorKind::kInterrupted) return std::move(out).error();
  bool right = out.ok() && out->leaves.size() == one.truth.leaves.size();
  for (size_t i = 0; right && i < out->leaves.size(); ++i) {
    const TensorLeaf& leaf = out->leaves[i];
    const TensorLeaf& exact = one.truth.leaves[i];
    right = leaf.elements() == exact.elements();
    if (!right) break;
    const Distance distance = Compare(leaf.dtype, out->Bytes(leaf), exact.dtype, one.truth.Bytes(exact));
    rung.error = std::max(rung.error, distance.relative);
    right = distance.relative <= truth_.LimitFor(0, i).relative && distance.non_finite == 0;
  }
  rung.available = right;
  if (!right)
    rung.why_not = out.ok() ? fmt::format("its error {} is over the limit", HumanNumber(rung.error))
                            : out.error().message;
  if (right) {
    HONE_ASSIGN_OR_RETURN(rung.call_us, TimeCall("default", name, 0.3));
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
    if (behind > kCompileBehind && GetInt(*seen, "rounds") >= kCompileRounds) {
      Rung rung;
      rung.name = "compile";
      rung.why_not = fmt::format(
          "took {:.2f}x the best other rung's time in {} interleaved rounds here, {}; --compile always "
          "measures it again",
          behind, GetInt(*seen, "rounds"), GetString(*seen, "measured"));
      ladder_.Add(rung);
      return Ok();
    }
  }
  progress("preparing torch.compile, the slowest rung", 0, 0);
  return PrepareRung("compile");
}

void Baselines::RememberCompile(const Timing& timing) const {
  const Contestant* compiled = timing.Find("compile");
  if (compiled == nullptr || static_cast<int64_t>(compiled->rounds.size()) < kCompileRounds ||
      timing.void_rounds > 0 || timing.answers_wrong > 0)
    return;
  double best_us = 1e30;
  for (size_t i = 1; i < timing.contestants.size(); ++i)
    if (&timing.contestants[i] != compiled)
      best_us = std::min(best_us, timing.MedianUs(timing.contestants[i]));
  if (best_us <= 0 || best_us >= 1e30) return;
  KeepInCache(compile_record_, DumpJson(Json{{"over_best", timing.MedianUs(*compiled) / best_us},
                                             {"rounds", compiled->rounds.size()},
                                             {"measured", UtcTimestamp()}}));
}

Status Baselines::LearnCeilings(Card* card, const Progress& progress) {
  ceilings_ = ReadCeilings(options_.device, facts_);
  if (ceilings_.times == 0) {
    progress("measuring this device's ceilings, once", 0, 0);
    HONE_RETURN_IF_ERROR(MeasureCeilings(options_.device, facts_, worker_, &ceilings_));
  }
  SetFloor(card, ceilings_.rates, GetBool(facts_, "cudnn_tf32") || options_.precision == "tf32");
  return Ok();
}

// Peak rates that were measured on a busy machine are too low. Then PyTorch appears faster than the floor.
// The same happens if operands stay in a cache, or if an algorithm needs fewer operations than were counted.
// In those cases measuring again changes nothing, and the floor is set to PyTorch's time.
void Baselines::CorrectFloor(Card* card, const Progress& progress) {
  double fastest_us = 0;
  for (const Rung& rung : ladder_.All())
    if (rung.available && rung.call_us > 0 && (fastest_us == 0 || rung.call_us < fastest_us))
      fastest_us = rung.call_us;
  if (fastest_us == 0 || card->floor_us <= fastest_us) return;
  if (card->floor_bound == "arithmetic" && ceilings_.times < kCeilingsMeasuredAtMost) {
    progress("measuring this device's ceilings again: PyTorch is faster than they allow", 0, 0);
    if (MeasureCeilings(options_.device, facts_, worker_, &ceilings_).ok())
      SetFloor(card, ceilings_.rates, GetBool(facts_, "cudnn_tf32") || options_.precision == "tf32");
  }
  card->floor_us = std::min(card->floor_us, fastest_us);
}

}  // namespace hone

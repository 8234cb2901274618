#include "evaluation/reference_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/ids.h"
#include "base/text.h"

namespace hone {

namespace {

// 52 bits fit into a double, so no JSON reader rounds the seed.
uint64_t NewSeed() {
  return RandomU64() >> 12;
}

constexpr double kFloorUlp = 4;        // "a few ulp" for the relative error
constexpr double kWorstFloorUlp = 32;  // the worst of many elements lies further out
constexpr double kReferenceFactor = 2;
constexpr double kMutantMargin = 10;  // told apart: ten times over the limit
constexpr double kCompileBehind = 1.15;
constexpr int64_t kCompileRounds = 6;
constexpr int64_t kCeilingsMeasuredAtMost = 4;
constexpr size_t kLeanWeights = size_t{1} << 30;

// --precision replaces the limit that follows from PyTorch's own error.
double PrecisionFloor(const std::string& precision) {
  if (precision == "tf32") return 2e-3;
  if (precision == "bf16") return 2e-2;
  return 0;
}

}  // namespace

Result<std::unique_ptr<ReferenceSession>> ReferenceSession::Open(TaskFile task, SessionOptions options,
                                                                 const Progress& progress) {
  std::unique_ptr<ReferenceSession> session(new ReferenceSession());
  session->task_ = std::move(task);
  session->options_ = std::move(options);
  if (Status started = session->Start(progress); !started.ok()) {
    Error error = std::move(started).error();
    // A problem of the task begins with its file and line.
    const bool says_where = StartsWith(error.message, session->task_.path.parent_path().string() + "/");
    return says_where ? error : std::move(error).WithContext("task " + session->task_.path.string());
  }
  return session;
}

Status ReferenceSession::Start(const Progress& progress) {
  WorkerOptions worker;
  worker.python = options_.python;
  worker.role = "reference";
  worker.device = options_.device;
  worker.end = options_.end;
  progress("starting PyTorch", 0, 0);
  HONE_ASSIGN_OR_RETURN(worker_, WorkerProcess::Start(worker));
  HONE_ASSIGN_OR_RETURN(
      facts_, worker_->Require("hello", Json::object(), {}, 180).WithContext("PyTorch did not start"));
  threads_ = static_cast<int>(GetInt(facts_, "threads", 1));

  progress("loading the task", 0, 0);
  HONE_ASSIGN_OR_RETURN(
      const Json loaded,
      worker_->Require("load", {{"path", task_.path.string()}, {"name", "hone_task"}, {"class", "Model"}}));
  has_stress_ = GetBool(loaded, "has_stress");
  for (const Json& name : GetMember(loaded, "variants"))
    if (name.is_string()) variants_.push_back(name.get<std::string>());

  HONE_ASSIGN_OR_RETURN(SharedBlob init, SharedBlob::Create("init"));
  HONE_ASSIGN_OR_RETURN(const Json init_reply, worker_->Require("init_inputs", Json::object(), {init.fd()}));
  init_opaque_ = GetBool(init_reply, "opaque");
  HONE_ASSIGN_OR_RETURN(init_inputs_, ParseTree(GetMember(init_reply, "tree"), std::move(init), "init"));

  progress("running the reference", 0, 0);
  HONE_RETURN_IF_ERROR(BuildInstance("default", ""));
  HONE_RETURN_IF_ERROR(DetectState());
  const int own_trials = std::max(2, (options_.trials + 1) / 2);
  for (int i = 0; i < own_trials; ++i) {
    progress("running the reference", i, own_trials);
    HONE_RETURN_IF_ERROR(AddCase(0, fmt::format("default#{}", i + 1), ""));
  }
  HONE_ASSIGN_OR_RETURN(const Json card,
                        worker_->Require("card", {{"slot", "default"}, {"inputs", "default#1"}}));
  card_ = CardFromJson(card);
  // Facts for recipes and prompts, beyond the card.
  for (const char* name : {"module_list", "recurrent_modules"}) facts_[name] = GetMember(card, name);
  facts_["stateful"] = stateful_;
  facts_["random_in_forward"] = random_;
  HONE_RETURN_IF_ERROR(ChooseStress(progress));
  for (const std::string& variant : variants_)
    HONE_RETURN_IF_ERROR(AddCase(0, "variant " + variant, variant));
  HONE_RETURN_IF_ERROR(Audit(progress));
  HONE_RETURN_IF_ERROR(LearnCeilings(progress));
  if (options_.interpret_triton) return Ok();

  progress("preparing the baselines", 0, 0);
  HONE_RETURN_IF_ERROR(ChooseThreads());
  HONE_RETURN_IF_ERROR(PrepareRung("eager"));
  if (options_.device == "cuda") {
    for (const char* rung : {"tf32", "cudagraph"})
      if (Wants(rung)) HONE_RETURN_IF_ERROR(PrepareRung(rung));
  }
  HONE_ASSIGN_OR_RETURN(const Json profile,
                        worker_->Require("profile", {{"slot", "default"}, {"inputs", "default#1"}}));
  launches_ = GetInt(profile, "launches", -1);
  if (options_.device == "cuda") card_.launches = launches_;
  CorrectCeilings(progress);
  return Ok();
}

Status ReferenceSession::BuildInstance(const std::string& slot, const std::string& regime) {
  Instance instance;
  instance.slot = slot;
  instance.regime = regime;
  instance.seed = NewSeed();
  HONE_ASSIGN_OR_RETURN(
      const Json built,
      worker_->Require("build", {{"slot", slot}, {"class", "Model"}, {"seed", instance.seed}}));
  if (regime.empty()) facts_["beside"] = GetMember(built, "beside");
  if (!regime.empty())
    HONE_RETURN_IF_ERROR(worker_->Require(
        "stress", {{"slot", slot}, {"regime", regime}, {"seed", instance.seed}, {"inputs", "default#1"}}));
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("weights"));
  HONE_ASSIGN_OR_RETURN(const Json reply, worker_->Require("weights", {{"slot", slot}}, {blob.fd()}));
  for (const Json& name : GetMember(reply, "names")) instance.weight_names.push_back(name.get<std::string>());
  HONE_ASSIGN_OR_RETURN(instance.weights, ParseTree(GetMember(reply, "tree"), std::move(blob), "weights"));
  lean_ = lean_ || instance.weights.total_bytes() > kLeanWeights;
  instances_.push_back(std::move(instance));
  return Ok();
}

Result<TensorTree> ReferenceSession::Run(const std::string& slot, const std::string& inputs, uint64_t seed,
                                         const Json& extra) {
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("reference"));
  Json message = extra;
  message["slot"] = slot;
  message["inputs"] = inputs;
  message["seed"] = seed;
  HONE_ASSIGN_OR_RETURN(const Json reply, worker_->Require("run", message, {blob.fd()}));
  return ParseTree(GetMember(reply, "tree"), std::move(blob), "output");
}

// A module with state gives another output in the second call. A module with random draws gives another
// output under another seed.
Status ReferenceSession::DetectState() {
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("probe"));
  HONE_RETURN_IF_ERROR(
      worker_->Require("make_inputs", {{"inputs", "probe"}, {"seed", 1}, {"slot", "default"}}, {blob.fd()}));
  HONE_RETURN_IF_ERROR(worker_->Require("snapshot", {{"slot", "default"}}));
  HONE_ASSIGN_OR_RETURN(const TensorTree first, Run("default", "probe", 1));
  HONE_ASSIGN_OR_RETURN(const TensorTree reseeded, Run("default", "probe", 2));
  HONE_RETURN_IF_ERROR(
      worker_->Require("build", {{"slot", "probe"}, {"class", "Model"}, {"seed", instances_[0].seed}}));
  HONE_ASSIGN_OR_RETURN(const TensorTree fresh, Run("probe", "probe", 1));
  HONE_ASSIGN_OR_RETURN(const TensorTree again, Run("probe", "probe", 1));
  HONE_ASSIGN_OR_RETURN(const TensorTree same, Run("default", "probe", 1));
  auto distance = [](const TensorTree& a, const TensorTree& b) {
    if (a.leaves.size() != b.leaves.size()) return 1.0;
    double largest = 0;
    for (size_t i = 0; i < a.leaves.size(); ++i) {
      if (a.leaves[i].bytes != b.leaves[i].bytes) return 1.0;
      const Distance found =
          Compare(a.leaves[i].dtype, a.Bytes(a.leaves[i]), b.leaves[i].dtype, b.Bytes(b.leaves[i]));
      largest = std::max(largest, found.non_finite > 0 ? 1.0 : found.relative);
    }
    return largest;
  };
  // Library kernels may differ slightly between two runs. That is neither state nor randomness.
  const double noise = 8 * std::max(distance(first, same), 1e-12);
  random_ = distance(first, reseeded) > noise;
  stateful_ = distance(fresh, again) > noise;
  if (!stateful_)  // no need to put anything back
    HONE_RETURN_IF_ERROR(
        worker_->Require("build", {{"slot", "default"}, {"class", "Model"}, {"seed", instances_[0].seed}}));
  HONE_RETURN_IF_ERROR(worker_->Require("drop", {{"slots", {"probe"}}, {"inputs", {"probe"}}}));
  return Ok();
}

Status ReferenceSession::AddCase(size_t instance, const std::string& id, const std::string& variant) {
  Case added;
  added.id = id;
  added.instance = instance;
  added.variant = variant;
  added.input_seed = NewSeed();
  added.call_seed = NewSeed();
  const Instance& owner = instances_[instance];
  Json message = {{"inputs", id}, {"seed", added.input_seed}, {"slot", owner.slot}};
  if (!variant.empty()) message["variant"] = variant;
  if (!owner.regime.empty()) message["regime"] = owner.regime;
  HONE_ASSIGN_OR_RETURN(SharedBlob inputs, SharedBlob::Create("inputs"));
  HONE_ASSIGN_OR_RETURN(const Json made, worker_->Require("make_inputs", message, {inputs.fd()}));
  HONE_ASSIGN_OR_RETURN(added.inputs, ParseTree(GetMember(made, "tree"), std::move(inputs), "input"));
  HONE_ASSIGN_OR_RETURN(added.expected, Run(owner.slot, id, added.call_seed));
  HONE_ASSIGN_OR_RETURN(SharedBlob wide, SharedBlob::Create("truth"));
  HONE_ASSIGN_OR_RETURN(
      const WorkerReply truth,
      worker_->Call("truth",
                    {{"slot", owner.slot}, {"inputs", id}, {"seed", added.call_seed}, {"keep", !lean_}},
                    {wide.fd()}, 600));
  bool usable = truth.ok();
  if (usable) {
    HONE_ASSIGN_OR_RETURN(added.truth, ParseTree(GetMember(truth.body, "tree"), std::move(wide), "output"));
    usable = added.truth.leaves.size() == added.expected.leaves.size();
    for (size_t i = 0; usable && i < added.truth.leaves.size(); ++i)
      usable = added.truth.leaves[i].elements() == added.expected.leaves[i].elements();
  }
  if (!usable) {
    if (!worker_->alive())
      return Error{ErrorKind::kInvalid,
                   "the float64 run ended the reference worker: " + truth.failure->message};
    added.truth = added.expected;
    truth_note_ =
        "PyTorch's own float32 answer (the module does not run in float64" +
        (truth.ok() ? std::string(")") : ": " + SafeForTerminal(truth.failure->message).substr(0, 200) + ")");
  }
  for (size_t i = 0; i < added.expected.leaves.size(); ++i) {
    const TensorLeaf& leaf = added.expected.leaves[i];
    const TensorLeaf& exact = added.truth.leaves[i];
    added.reference_error.push_back(
        Compare(leaf.dtype, added.expected.Bytes(leaf), exact.dtype, added.truth.Bytes(exact)));
  }
  cases_.push_back(std::move(added));
  return Ok();
}

Limit ReferenceSession::LimitFor(size_t instance, size_t leaf) const {
  Limit limit;
  double epsilon = 0;
  for (const Case& one : cases_) {
    if (one.instance != instance || leaf >= one.expected.leaves.size()) continue;
    epsilon = Epsilon(one.expected.leaves[leaf].dtype);
    // Variants have other sizes and so other errors, but share the weights. The widest limit is used for all.
    limit.relative = std::max(limit.relative, kReferenceFactor * one.reference_error[leaf].relative);
    limit.worst = std::max(limit.worst, kReferenceFactor * one.reference_error[leaf].worst);
  }
  if (epsilon == 0) return limit;  // integers and booleans: what PyTorch itself gets wrong, and no more
  const double own =
      truth_note_ == "float64" ? 1 : 16;  // without a truth there is no reference error to go by
  double floor = kFloorUlp * epsilon * own;
  if (options_.precision == "fp32") {
    limit.relative = std::min(limit.relative, 16 * epsilon);
    limit.worst = std::min(limit.worst, 256 * epsilon);
  }
  floor = std::max(floor, PrecisionFloor(options_.precision));
  limit.relative = std::max(limit.relative, floor);
  limit.worst =
      std::max({limit.worst, kWorstFloorUlp * epsilon * own, PrecisionFloor(options_.precision) * 16});
  return limit;
}

double ReferenceSession::WidestLimit() const {
  double widest = 0;
  for (const Case& one : cases_)
    for (size_t leaf = 0; leaf < one.expected.leaves.size(); ++leaf)
      widest = std::max(widest, LimitFor(one.instance, leaf).relative);
  return widest;
}

double ReferenceSession::WidestReferenceError() const {
  double widest = 0;
  for (const Case& one : cases_)
    for (const Distance& distance : one.reference_error) widest = std::max(widest, distance.relative);
  return widest;
}

// A stress regime is usable only while PyTorch itself stays accurate in it.
bool ReferenceSession::Accurate(const Case& candidate) const {
  double usual = 0;
  for (const Case& one : cases_)
    if (one.instance == 0)
      for (const Distance& distance : one.reference_error) usual = std::max(usual, distance.relative);
  for (size_t i = 0; i < candidate.reference_error.size(); ++i) {
    const Distance& distance = candidate.reference_error[i];
    const double epsilon = Epsilon(candidate.expected.leaves[i].dtype);
    if (distance.non_finite > 0) return false;
    if (epsilon > 0 && distance.relative > std::max(30 * usual, 64 * epsilon)) return false;
  }
  return true;
}

Status ReferenceSession::ChooseStress(const Progress& progress) {
  std::vector<std::string> regimes = {"stress", "stress-mild", "stress-inputs"};
  if (has_stress_) regimes = {"stress"};
  const size_t before = cases_.size();
  for (const std::string& regime : regimes) {
    progress("looking for a stress regime", 0, 0);
    HONE_RETURN_IF_ERROR(BuildInstance("stress", regime));
    if (stateful_) HONE_RETURN_IF_ERROR(worker_->Require("snapshot", {{"slot", "stress"}}));
    HONE_RETURN_IF_ERROR(AddCase(instances_.size() - 1, "stress#1", ""));
    if (Accurate(cases_.back()) || has_stress_) break;
    if (regime == regimes.back()) break;  // the mildest is kept: other weights and inputs at the least
    cases_.resize(before);
    instances_.pop_back();
  }
  const int wanted = std::max(2, options_.trials - static_cast<int>(before));
  for (int i = 1; i < wanted; ++i)
    HONE_RETURN_IF_ERROR(AddCase(instances_.size() - 1, fmt::format("stress#{}", i + 1), ""));
  return Ok();
}

Status ReferenceSession::Audit(const Progress& progress) {
  std::map<std::string, MutantResult> found;
  std::vector<std::string> order;
  auto note = [&](const std::string& name, const Case& one, const TensorTree& wrong) {
    double ratio = 0;
    for (size_t i = 0; i < one.truth.leaves.size() && i < wrong.leaves.size(); ++i) {
      const TensorLeaf& leaf = wrong.leaves[i];
      if (leaf.elements() != one.truth.leaves[i].elements()) continue;
      const Distance distance = Compare(leaf.dtype, wrong.Bytes(leaf), one.truth.leaves[i].dtype,
                                        one.truth.Bytes(one.truth.leaves[i]));
      const double limit = std::max(LimitFor(one.instance, i).relative, 1e-30);
      ratio = std::max(ratio, distance.non_finite > 0 ? 1e9 : distance.relative / limit);
    }
    if (found.count(name) == 0) order.push_back(name);
    MutantResult& result = found[name];
    result.name = name;
    if (ratio >= result.error) {
      result.error = ratio;
      result.regime = instances_[one.instance].slot;
    }
    result.told_apart = result.error > kMutantMargin;
  };

  for (const Case& one : cases_) {
    if (!EndsWith(one.id, "#1")) continue;
    std::vector<std::byte> zeros(one.expected.total_bytes());
    HONE_ASSIGN_OR_RETURN(SharedBlob zero_blob, SharedBlob::Of("zeros", zeros));
    HONE_ASSIGN_OR_RETURN(const TensorTree zero_tree,
                          ParseTree(one.expected.description, std::move(zero_blob), "output"));
    note("zeros", one, zero_tree);
    // The output of another case stands for a constant that looks right: the mean of outputs, or a cached
    // output.
    for (const Case& other : cases_) {
      if (other.instance != one.instance || other.id == one.id || !other.variant.empty()) continue;
      note("another input's answer", one, other.expected);
      break;
    }
    const std::string slot = instances_[one.instance].slot;
    HONE_ASSIGN_OR_RETURN(const Json names,
                          worker_->Require("mutants", {{"slot", slot}, {"inputs", one.id}}));
    const Json& list = GetMember(names, "names");
    for (size_t i = 0; i < list.size() && i < 12; ++i) {
      progress("auditing the task", static_cast<int>(i), static_cast<int>(list.size()));
      const std::string name = list[i].get<std::string>();
      HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("mutant"));
      HONE_ASSIGN_OR_RETURN(
          const WorkerReply reply,
          worker_->Call("run",
                        {{"slot", slot}, {"inputs", one.id}, {"seed", one.call_seed}, {"mutant", name}},
                        {blob.fd()}, 600));
      if (!reply.ok()) {
        if (!worker_->alive())
          return Error{ErrorKind::kInvalid, "the reference worker died under mutant " + name};
        continue;  // an input that must keep its form (sorted offsets, say) has no such mutant
      }
      HONE_ASSIGN_OR_RETURN(const TensorTree wrong,
                            ParseTree(GetMember(reply.body, "tree"), std::move(blob), "output"));
      note(name, one, wrong);
    }
  }
  for (const std::string& name : order) mutants_.push_back(found[name]);
  return Ok();
}

Result<double> ReferenceSession::TimeCall(const std::string& slot, const std::string& rung,
                                          double at_most_s) {
  const Json message = {{"slot", slot}, {"inputs", "default#1"}, {"count", 1}, {"rung", rung}};
  double best = 1e30, spent = 0;
  for (int i = 0; i < 7 && (i < 2 || spent < at_most_s); ++i) {
    HONE_ASSIGN_OR_RETURN(const WorkerReply reply, worker_->Call("calls", message, {}, 600));
    if (!reply.ok()) return Error{ErrorKind::kInvalid, reply.failure->message};
    spent += reply.seconds();
    if (i > 0) best = std::min(best, reply.seconds());
  }
  return best * 1e6;
}

Status ReferenceSession::ChooseThreads() {
  if (options_.device == "cuda") return Ok();
  const int cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  double best_us = 1e30;
  int best = threads_;
  std::vector<int> counts;
  for (int count = 1; count < cores; count *= 2) counts.push_back(count);
  counts.push_back(cores);
  for (int count : counts) {
    HONE_RETURN_IF_ERROR(worker_->Require("threads", {{"count", count}}));
    HONE_ASSIGN_OR_RETURN(const double us, TimeCall("default", "", 0.4));
    if (us < best_us) {
      best_us = us;
      best = count;
    }
  }
  threads_ = best;
  return worker_->Require("threads", {{"count", best}}).ok()
             ? Ok()
             : Status(Error{ErrorKind::kInternal, "cannot set threads"});
}

bool ReferenceSession::Wants(const std::string& rung) const {
  return options_.ladder.empty() ||
         std::find(options_.ladder.begin(), options_.ladder.end(), rung) != options_.ladder.end();
}

Status ReferenceSession::PrepareRung(const std::string& name) {
  Rung rung;
  rung.name = name;
  HONE_ASSIGN_OR_RETURN(
      const WorkerReply made,
      worker_->Call("rung", {{"slot", "default"}, {"inputs", "default#1"}, {"rung", name}}, {}, 600));
  if (!made.ok()) {
    if (!worker_->alive()) return Error{ErrorKind::kInvalid, "the reference worker died preparing " + name};
    rung.why_not = SafeForTerminal(Lines(made.failure->message + "\n").front()).substr(0, 200);
    ladder_.Add(rung);
    return Ok();
  }
  // A baseline counts only if its error is within the limit. TF32 often exceeds it.
  const Case& one = cases_[0];
  Result<TensorTree> out = Run("default", one.id, one.call_seed, {{"rung", name}});
  if (!out.ok() && out.error().kind == ErrorKind::kInterrupted) return std::move(out).error();
  bool right = out.ok() && out->leaves.size() == one.truth.leaves.size();
  for (size_t i = 0; right && i < out->leaves.size(); ++i) {
    const TensorLeaf& leaf = out->leaves[i];
    const TensorLeaf& exact = one.truth.leaves[i];
    right = leaf.elements() == exact.elements();
    if (!right) break;
    const Distance distance = Compare(leaf.dtype, out->Bytes(leaf), exact.dtype, one.truth.Bytes(exact));
    rung.error = std::max(rung.error, distance.relative);
    right = distance.relative <= LimitFor(0, i).relative && distance.non_finite == 0;
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

// Where the measured time of torch.compile, relative to the best other baseline, is kept.
fs::path ReferenceSession::CompileRecord() const {
  const std::string key = Sha256(task_.sha256 + options_.device + GetString(facts_, "device_name") +
                                 GetString(facts_, "torch") + GetString(facts_, "triton"));
  return CacheFolder() / "compile" / (key.substr(0, 16) + ".json");
}

Status ReferenceSession::PrepareCompile(const Progress& progress) {
  if (ladder_.Find("compile") || !Wants("compile")) return Ok();
  if (const Result<std::string> text = ReadFile(CompileRecord());
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

void ReferenceSession::RememberCompile(const Timing& timing) const {
  const Contestant* compiled = timing.Find("compile");
  if (compiled == nullptr || static_cast<int64_t>(compiled->rounds.size()) < kCompileRounds ||
      timing.void_rounds > 0 || timing.answers_wrong > 0)
    return;
  double best_us = 1e30;
  for (size_t i = 1; i < timing.contestants.size(); ++i)
    if (&timing.contestants[i] != compiled)
      best_us = std::min(best_us, timing.MedianUs(timing.contestants[i]));
  if (best_us <= 0 || best_us >= 1e30) return;
  KeepInCache(CompileRecord(), DumpJson(Json{{"over_best", timing.MedianUs(*compiled) / best_us},
                                             {"rounds", compiled->rounds.size()},
                                             {"measured", UtcTimestamp()}}));
}

Result<std::unique_ptr<WorkerProcess>> ReferenceSession::StartFresh(const std::vector<std::string>& rungs) {
  worker_->Thaw();
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<WorkerProcess> fresh, WorkerProcess::Start(worker_->shared_zygote()));
  HONE_RETURN_IF_ERROR(fresh->Require("hello", Json::object(), {}, 180));
  HONE_RETURN_IF_ERROR(
      fresh->Require("load", {{"path", task_.path.string()}, {"name", "hone_task"}, {"class", "Model"}}));
  const Instance& own = instances_[0];
  HONE_RETURN_IF_ERROR(fresh->Require("build", {{"slot", own.slot}, {"class", "Model"}, {"seed", own.seed}}));
  HONE_RETURN_IF_ERROR(fresh->Require(
      "take_weights", {{"slot", own.slot}, {"names", own.weight_names}, {"tree", own.weights.description}},
      {own.weights.blob.fd()}));
  const Case& one = cases_[0];
  HONE_RETURN_IF_ERROR(fresh->Require("put_inputs", {{"inputs", one.id}, {"tree", one.inputs.description}},
                                      {one.inputs.blob.fd()}));
  if (stateful_) HONE_RETURN_IF_ERROR(fresh->Require("snapshot", {{"slot", own.slot}}));
  if (options_.device == "cpu") HONE_RETURN_IF_ERROR(fresh->Require("threads", {{"count", threads_}}));
  for (const std::string& rung : rungs)
    HONE_RETURN_IF_ERROR(fresh->Require("rung", {{"slot", own.slot}, {"inputs", one.id}, {"rung", rung}}));
  return fresh;
}

Status ReferenceSession::LearnCeilings(const Progress& progress) {
  ceilings_ = ReadCeilings(options_.device, facts_);
  if (ceilings_.times == 0) {
    progress("measuring this device's ceilings, once", 0, 0);
    HONE_RETURN_IF_ERROR(MeasureCeilings(options_.device, facts_, *worker_, &ceilings_));
  }
  SetFloor(&card_, ceilings_.rates, GetBool(facts_, "cudnn_tf32") || options_.precision == "tf32");
  return Ok();
}

// Peak rates that were measured on a busy machine are too low. Then PyTorch appears faster than the floor.
// The same happens if operands stay in a cache, or if an algorithm needs fewer operations than were counted.
// In those cases measuring again changes nothing, and the floor is set to PyTorch's time.
void ReferenceSession::CorrectCeilings(const Progress& progress) {
  double fastest_us = 0;
  for (const Rung& rung : ladder_.All())
    if (rung.available && rung.call_us > 0 && (fastest_us == 0 || rung.call_us < fastest_us))
      fastest_us = rung.call_us;
  if (fastest_us == 0 || card_.floor_us <= fastest_us) return;
  if (card_.floor_bound == "arithmetic" && ceilings_.times < kCeilingsMeasuredAtMost) {
    progress("measuring this device's ceilings again: PyTorch is faster than they allow", 0, 0);
    if (MeasureCeilings(options_.device, facts_, *worker_, &ceilings_).ok())
      SetFloor(&card_, ceilings_.rates, GetBool(facts_, "cudnn_tf32") || options_.precision == "tf32");
  }
  card_.floor_us = std::min(card_.floor_us, fastest_us);
}

double ReferenceSession::CallDeadline() const {
  if (options_.timeout_s > 0) return options_.timeout_s;
  return 30 + 30 * eager_us_ * 1e-6;
}

}  // namespace hone

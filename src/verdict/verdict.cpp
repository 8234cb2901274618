#include "verdict/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace hone {

namespace {

// Empty if the gate passes, else the reject reason and its detail.
struct Objection {
  std::string reason;
  std::string detail;
};
using GateResult = std::optional<Objection>;

bool Mentions(const WorkerFailure& failure, std::initializer_list<const char*> words) {
  const std::string text = ToLower(failure.type + " " + failure.message);
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return Contains(text, word); });
}

bool IsBuildFailure(const WorkerFailure& failure) {
  return Mentions(failure,
                  {"compileerror", "compilationerror", "error building extension", "nvrtc", "error compiling",
                   "ninja: build stopped", "compilation failed", "ptxas", "outofresources"});
}

bool IsOutOfMemory(const WorkerFailure& failure) {
  return Mentions(failure, {"outofmemoryerror", "out of memory", "memoryerror", "can't allocate memory",
                            "cannot allocate memory", "defaultcpuallocator", "std::bad_alloc"});
}

std::string FailureText(const WorkerFailure& failure) {
  std::string text = failure.type.empty() ? failure.message : failure.type + ": " + failure.message;
  return SafeForTerminal(text.empty() ? "it gave no message" : text);
}

Objection StopObjection(const Stop& stop) {
  const WorkerFailure& failure = stop.failure;
  const std::string text = FailureText(failure);
  const std::string where = " (while: " + stop.phase + ")";
  switch (failure.kind) {
    case FailureKind::kTimeout:
      return {"timeout", text + where};
    case FailureKind::kMemory:
      return {"out-of-memory", text};
    case FailureKind::kProcesses:
      return {"escaped", text};
    case FailureKind::kProtocol:
      return {"escaped", text + ": only the worker may speak on that channel"};
    case FailureKind::kUnreadable:
      return {"unsynchronised",
              "it returned " + text + "; outputs must be plain tensors whose bytes can be read at once"};
    case FailureKind::kExited:
      return {"crashed", text + where};
    case FailureKind::kSignalled:
      // Only the kernel's out-of-memory killer sends SIGKILL here.
      if (Contains(text, "signal 9"))
        return {"out-of-memory", text + where + "; most likely the system ran out of memory"};
      return {"crashed", text + where};
    case FailureKind::kException:
      break;
  }
  if (IsOutOfMemory(failure)) return {"out-of-memory", text + where};
  if (IsBuildFailure(failure)) return {"build-failed", text};
  if (stop.phase == "import") return {"import-failed", text};
  if (stop.phase == "weights") return {"weights-not-transferred", text};
  return {"crashed", text + where};
}

// The reason that a run would give for what static analysis refused.
std::string ReasonOfRule(const std::string& rule) {
  if (rule == "recurrence-race" || rule == "missing-sync") return "nondeterministic";
  if (rule == "output-never-written") return "unwritten-output";
  if (rule == "syntax" || rule == "missing-modelnew") return "import-failed";
  return "build-failed";
}

GateResult LintGate(const Measurement& m) {
  if (!m.refused_by) return {};
  const Finding& finding = *m.refused_by;
  return Objection{ReasonOfRule(finding.rule), fmt::format("line {}: {} ({}). {}", finding.line,
                                                           finding.message, finding.rule, finding.fix)};
}

GateResult BuildGate(const Measurement& m) {
  if (m.stop && (m.stop->phase == "start" || m.stop->phase == "import" || m.stop->phase == "build" ||
                 m.stop->phase == "weights"))
    return StopObjection(*m.stop);
  if (!m.has_class)
    return Objection{"import-failed",
                     "it defines no class ModelNew" +
                         (m.class_hint.empty() ? std::string() : "; it defines " + m.class_hint)};
  return {};
}

GateResult SandboxGate(const Measurement& m) {
  if (!m.attempts.empty()) return Objection{"escaped", "it " + Join(m.attempts, "; it ")};
  if (m.stop &&
      (m.stop->failure.kind == FailureKind::kProtocol || m.stop->failure.kind == FailureKind::kProcesses))
    return StopObjection(*m.stop);
  return {};
}

GateResult TimerGate(const Measurement& m) {
  if (m.tampering.empty()) return {};
  return Objection{"timer-tampering", "it replaced " + Join(m.tampering, ", ")};
}

GateResult ShapeGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    if (!trial.shape_problem.empty())
      return Objection{"wrong-shape", trial.case_id + ": " + trial.shape_problem};
  return {};
}

GateResult DtypeGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    if (!trial.dtype_problem.empty())
      return Objection{"wrong-dtype", trial.case_id + ": " + trial.dtype_problem};
  return {};
}

GateResult WrittenGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    for (const LeafTrial& leaf : trial.leaves)
      if (leaf.distance.poisoned > 0)
        return Objection{"unwritten-output",
                         fmt::format("{}: {} of {} elements of {} were never written", trial.case_id,
                                     leaf.distance.poisoned, leaf.distance.elements, leaf.path)};
  return {};
}

GateResult FiniteGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    for (const LeafTrial& leaf : trial.leaves)
      if (leaf.distance.non_finite > 0)
        return Objection{"non-finite",
                         fmt::format("{}: {} of {} elements of {} are NaN or infinite where "
                                     "PyTorch's are not (first at flat index {})",
                                     trial.case_id, leaf.distance.non_finite, leaf.distance.elements,
                                     leaf.path, leaf.distance.worst_at)};
  return {};
}

GateResult FreshGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    if (!trial.stale_of.empty())
      return Objection{
          "stale-result",
          fmt::format("{}: it returned the output of {}; outputs must not be cached between calls",
                      trial.case_id, trial.stale_of)};
  return {};
}

GateResult InputGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    if (trial.input_modified)
      return Objection{"input-modified", trial.case_id + ": the call changed the caller's inputs"};
  return {};
}

bool OverLimit(const LeafTrial& leaf) {
  return !(leaf.distance.relative <= leaf.limit.relative) || !(leaf.distance.worst <= leaf.limit.worst);
}

GateResult CorrectGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    for (const LeafTrial& leaf : trial.leaves) {
      if (!OverLimit(leaf)) continue;
      const bool by_norm = !(leaf.distance.relative <= leaf.limit.relative);
      const std::string text =
          by_norm ? fmt::format("{}: {} is off by {} of its norm, the limit is {}", trial.case_id, leaf.path,
                                HumanNumber(leaf.distance.relative), HumanNumber(leaf.limit.relative))
                  : fmt::format("{}: element {} of {} is off by {} of the typical size, the limit is {}",
                                trial.case_id, leaf.distance.worst_at, leaf.path,
                                HumanNumber(leaf.distance.worst), HumanNumber(leaf.limit.worst));
      if (!m.weights_missing.empty())
        return Objection{"weights-not-transferred",
                         text + "; these parameters of the reference have no counterpart in ModelNew: " +
                             Join(m.weights_missing, ", ") +
                             ". Keep the reference's names and shapes, or define load_reference(state_dict)"};
      return Objection{"wrong-output", text};
    }
  return {};
}

GateResult RunGate(const Measurement& m) {
  if (m.stop && (m.stop->phase == "trial" || m.stop->phase == "repeat" || m.stop->phase == "profile" ||
                 m.stop->phase == "timing"))
    return StopObjection(*m.stop);
  return {};
}

GateResult DeterminismGate(const Measurement& m) {
  if (!m.repeats || m.repeats->spread <= m.repeats->spread_limit) return {};
  return Objection{"nondeterministic",
                   fmt::format("{} of {} repeats on the same inputs gave another answer, up to {} apart; "
                               "reordered rounding explains {}",
                               m.repeats->distinct, m.repeats->count - 1, HumanNumber(m.repeats->spread),
                               HumanNumber(m.repeats->spread_limit))};
}

GateResult TimedAnswersGate(const Measurement& m) {
  if (!m.timing || m.timing->worst_answer <= 1) return {};
  return Objection{"stale-result",
                   fmt::format("{} gave a wrong answer ({}x over the limit) although the same "
                               "kind of call was right when it was not timed",
                               m.timing->worst_answer_at, HumanNumber(m.timing->worst_answer))};
}

GateResult SynchronisedGate(const Measurement& m) {
  if (!m.timing) return {};
  const Timing& t = *m.timing;
  const double call_s = t.contestants[0].MedianUs() * 1e-6;
  double reference_s = 1e30;
  for (size_t i = 1; i < t.contestants.size(); ++i)
    reference_s = std::min(reference_s, t.contestants[i].MedianUs() * 1e-6);
  const double fetch_extra = t.candidate_fetch_s - t.reference_fetch_s;
  if (fetch_extra > std::max({0.25 * reference_s, 2 * t.reference_fetch_s, 2e-3}))
    return Objection{"unsynchronised",
                     fmt::format("reading a finished output takes {} longer than for PyTorch: the work is "
                                 "done when the answer is read, not when it is timed",
                                 HumanSeconds(fetch_extra))};
  const double load_extra = t.candidate_load_s - t.reference_load_s;
  const double block_s = reference_s * t.contestants[0].long_count;
  if (load_extra > std::max({0.5 * block_s, 3 * t.reference_load_s, 0.1}))
    return Objection{
        "unsynchronised",
        fmt::format(
            "receiving the inputs takes {} longer than for PyTorch: the work is done before the clock starts",
            HumanSeconds(load_extra))};
  // On a GPU calls overlap slightly, but never five-fold once a call is long.
  if (t.single_call_us > 300 && call_s * 1e6 < 0.2 * t.single_call_us)
    return Objection{
        "unsynchronised",
        fmt::format("one call alone takes {}, yet many in a row take {} each: not every call is computed",
                    HumanSeconds(t.single_call_us * 1e-6), HumanSeconds(std::max(call_s, 0.0)))};
  std::vector<double> events, host;
  for (const BlockPair& pair : t.contestants[0].rounds) {
    events.push_back(pair.event_us_per_call);
    host.push_back(pair.long_s / t.contestants[0].long_count * 1e6);
  }
  if (MedianOf(events) > 1.3 * MedianOf(host) + 50)
    return Objection{"unsynchronised",
                     fmt::format("device events measured {} per call, the host's clock {}",
                                 HumanSeconds(MedianOf(events) * 1e-6), HumanSeconds(call_s))};
  return {};
}

GateResult FloorGate(const Measurement& m, const JudgeContext& context) {
  if (!m.timing) return {};
  const double us = m.timing->contestants[0].MedianUs();
  // Below a microsecond the clock's own cost dominates.
  if (us >= context.impossible_below_us || context.impossible_below_us < 1) return {};
  return Objection{
      "too-fast",
      fmt::format(
          "{} per call is less than reading the inputs and writing the outputs at cache speed can take ({})",
          HumanSeconds(std::max(us, 0.0) * 1e-6), HumanSeconds(context.impossible_below_us * 1e-6))};
}

// Baseline times of this run. If the reference was much slower beside the candidate than alone, the candidate
// slowed it down, and the earlier time counts.
std::vector<double> BaselineUs(const Timing& timing, const Contestant& rung,
                               std::vector<std::string>* notes) {
  std::vector<double> values = rung.CallUs();
  const Contestant* eager = timing.Find("eager");
  if (eager == nullptr || timing.eager_alone_us <= 0) return values;
  const double slowed = eager->MedianUs() / std::max(timing.eager_alone_us, timing.eager_after_us);
  if (slowed <= 1.5) return values;
  for (double& value : values) value /= slowed;
  const std::string note = fmt::format(
      "PyTorch ran {:.2f}x slower while the candidate was alive than before; its time from before is used",
      slowed);
  if (std::find(notes->begin(), notes->end(), note) == notes->end()) notes->push_back(note);
  return values;
}

// Launch-bound code runs at the speed of one host core, which differs between processes far more than a
// device does.
double ProcessSpread(const Measurement& m, const JudgeContext& context, double candidate_us) {
  if (context.host_bound_spread == 0 || !m.profile) return context.process_spread;
  const double device_us = m.profile->own_us + m.profile->library_us;
  return device_us < 0.6 * candidate_us ? context.host_bound_spread : context.process_spread;
}

void SetSpeed(const Measurement& m, const JudgeContext& context, Verdict* v) {
  if (!m.timing) return;
  const Timing& t = *m.timing;
  const std::vector<double> own = t.contestants[0].CallUs();
  v->candidate_us = MedianOf(own);
  const double spread = ProcessSpread(m, context, v->candidate_us);
  v->best_us = 1e30;
  std::vector<double> best;
  for (size_t i = 1; i < t.contestants.size(); ++i) {
    const std::vector<double> values = BaselineUs(t, t.contestants[i], &v->notes);
    const double us = MedianOf(values);
    if (us < v->best_us) {
      v->best_us = us;
      v->best_baseline = t.contestants[i].name;
      best = values;
    }
    if (t.contestants[i].name == "eager") {
      v->eager_us = us;
      v->vs_eager = RatioInterval(values, own, spread);
    }
  }
  v->vs_best = RatioInterval(best, own, spread);
}

GateResult SpeedGate(const Verdict& v) {
  if (v.vs_best.estimate == 0 || v.vs_best.high >= 1) return {};
  return Objection{"slower",
                   fmt::format("{} per call against {} for {}: {:.2f}x", HumanSeconds(v.candidate_us * 1e-6),
                               HumanSeconds(v.best_us * 1e-6), v.best_baseline, v.vs_best.estimate)};
}

void SetErrors(const Measurement& m, const JudgeContext& context, Verdict* v) {
  v->reference_error = context.reference_error;
  v->error_limit = context.limit;
  double closest = -1;
  // Keeps the error that is closest to its limit, and that limit.
  for (const Trial& trial : m.trials)
    for (const LeafTrial& leaf : trial.leaves) {
      const double share = leaf.distance.relative / std::max(leaf.limit.relative, 1e-300);
      if (share <= closest) continue;
      closest = share;
      v->error = leaf.distance.relative;
      v->error_limit = leaf.limit.relative;
      v->reference_error = leaf.reference_error;
    }
}

void SetKind(const Measurement& m, Verdict* v) {
  if (!m.profile) return;
  v->candidate_launches = m.profile->launches;
  const double total = m.profile->own_us + m.profile->library_us;
  if (total <= 0) return;
  const double own = m.profile->own_us / total;
  v->kind = own >= 0.7 ? "kernel" : own <= 0.3 ? "library" : "mixed";
}

}  // namespace

JudgeContext ContextOf(const ReferenceSession& session) {
  JudgeContext context;
  context.limit = session.WidestLimit();
  context.reference_error = session.WidestReferenceError();
  context.floor_us = session.card().floor_us;
  context.impossible_below_us = ImpossibleBelowUs(session.card(), session.ceilings());
  context.reference_launches = session.reference_launches();
  context.process_spread = session.options().device == "cuda" ? 0.01 : 0.03;
  if (session.options().device == "cuda") context.host_bound_spread = 0.1;
  context.mutants = session.mutants();
  return context;
}

Verdict Judge(const Measurement& m, const JudgeContext& context) {
  Verdict v;
  v.reference_launches = context.reference_launches;
  SetErrors(m, context, &v);
  SetKind(m, &v);
  SetSpeed(m, context, &v);
  v.notes.insert(v.notes.end(), m.notes.begin(), m.notes.end());
  for (const MutantResult& mutant : context.mutants)
    if (!mutant.told_apart) v.blind_spots.push_back(mutant.name);
  v.mutants_total = static_cast<int>(context.mutants.size());
  v.blind = v.mutants_total > 0 && static_cast<int>(v.blind_spots.size()) == v.mutants_total;

  v.findings = m.findings;
  v.contract = m.contract;
  const bool tried = !m.trials.empty();
  struct Gate {
    const char* name;
    bool reached;
    std::function<GateResult()> check;
  };
  // The first gate in this table that fails names the verdict.
  const std::vector<Gate> gates = {
      {"lint", true, [&] { return LintGate(m); }},
      {"sandbox", true, [&] { return SandboxGate(m); }},
      {"build", true, [&] { return BuildGate(m); }},
      {"timers", tried, [&] { return TimerGate(m); }},
      {"shape", tried, [&] { return ShapeGate(m); }},
      {"dtype", tried, [&] { return DtypeGate(m); }},
      {"written", tried, [&] { return WrittenGate(m); }},
      {"finite", tried, [&] { return FiniteGate(m); }},
      {"fresh", tried, [&] { return FreshGate(m); }},
      {"inputs", tried, [&] { return InputGate(m); }},
      {"correct", tried, [&] { return CorrectGate(m); }},
      {"runs", m.has_class, [&] { return RunGate(m); }},
      {"deterministic", m.repeats.has_value(), [&] { return DeterminismGate(m); }},
      {"timed_answers", m.timing.has_value(), [&] { return TimedAnswersGate(m); }},
      {"synchronised", m.timing.has_value(), [&] { return SynchronisedGate(m); }},
      {"floor", m.timing.has_value(), [&] { return FloorGate(m, context); }},
      {"speed", m.timing.has_value(), [&] { return SpeedGate(v); }},
  };
  std::optional<Objection> first;
  for (const Gate& gate : gates) {
    const GateResult failed = gate.reached ? gate.check() : GateResult{};
    v.gates.emplace_back(gate.name, failed ? "fail" : gate.reached && !first ? "pass" : "skipped");
    if (failed && !first) first = failed;
  }
  if (first) {
    v.verdict = "rejected";
    v.reason = first->reason;
    v.detail = first->detail;
    return v;
  }
  if (!m.timing) {
    v.verdict = "no_difference";
    v.reason = "speed-not-judged";
    v.detail = m.speed_not_judged.empty() ? "speed was not judged" : m.speed_not_judged;
    return v;
  }
  if (m.timing->buffer_reused)
    v.notes.push_back("it returns the same output buffer on every call: copy an output before the next call");
  if (v.vs_best.low > 1) {
    v.verdict = "accepted";
    v.reason = "faster";
    v.detail =
        fmt::format("{:.2f}x faster than {}, the best of PyTorch here", v.vs_best.estimate, v.best_baseline);
    return v;
  }
  v.verdict = "no_difference";
  v.reason = "no-difference";
  v.detail = fmt::format("{:.3f}x of {}: the interval {:.3f} to {:.3f} contains 1", v.vs_best.estimate,
                         v.best_baseline, v.vs_best.low, v.vs_best.high);
  return v;
}

OrderedJson ToJson(const Verdict& v) {
  OrderedJson json;
  json["verdict"] = v.verdict;
  json["kind"] = v.kind.empty() ? OrderedJson() : OrderedJson(v.kind);
  json["reason"] = v.reason;
  json["detail"] = v.detail;
  const bool timed = v.vs_best.estimate > 0;
  if (timed)
    json["speedup"] = {{"vs_eager", v.vs_eager.estimate},
                       {"vs_best", v.vs_best.estimate},
                       {"best_baseline", v.best_baseline},
                       {"ci95", {v.vs_best.low, v.vs_best.high}},
                       {"vs_eager_ci95", {v.vs_eager.low, v.vs_eager.high}},
                       {"candidate_us", v.candidate_us},
                       {"best_us", v.best_us},
                       {"eager_us", v.eager_us}};
  else
    json["speedup"] = nullptr;
  json["error"] = {{"candidate", v.error}, {"reference", v.reference_error}, {"limit", v.error_limit}};
  json["gates"] = OrderedJson::object();
  for (const auto& [name, state] : v.gates) json["gates"][name] = state;
  json["launches"] = {
      {"reference", v.reference_launches >= 0 ? OrderedJson(v.reference_launches) : OrderedJson()},
      {"candidate", v.candidate_launches >= 0 ? OrderedJson(v.candidate_launches) : OrderedJson()}};
  json["task_audit"] = {{"mutants", v.mutants_total}, {"blind_spots", v.blind_spots}, {"blind", v.blind}};
  json["contract"] = OrderedJson::array();
  for (const ContractEntry& entry : v.contract)
    json["contract"].push_back(
        {{"name", entry.name}, {"state", ContractStateName(entry.state)}, {"detail", entry.detail}});
  json["findings"] = ToJson(v.findings);
  json["notes"] = v.notes;
  return json;
}

const std::vector<std::string>& RejectReasons() {
  static const std::vector<std::string> kReasons = {
      "build-failed",    "import-failed",
      "crashed",         "timeout",
      "out-of-memory",   "wrong-output",
      "wrong-shape",     "wrong-dtype",
      "non-finite",      "unwritten-output",
      "input-modified",  "nondeterministic",
      "stale-result",    "weights-not-transferred",
      "timer-tampering", "unsynchronised",
      "too-fast",        "escaped",
      "slower",
  };
  return kReasons;
}

}  // namespace hone

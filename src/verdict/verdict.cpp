#include "verdict/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "verdict/speed.h"

namespace hone {

namespace {

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
  const std::string where = std::string(" (while: ") + NameOf(stop.phase) + ")";
  switch (failure.kind) {
    case FailureKind::kTimeout:
      return {Reason::kTimeout, text + where};
    case FailureKind::kMemory:
      return {Reason::kOutOfMemory, text};
    case FailureKind::kProcesses:
      return {Reason::kEscaped, text};
    case FailureKind::kProtocol:
      return {Reason::kEscaped, text + ": the candidate sent an invalid message to Hone"};
    case FailureKind::kUnreadable:
      return {Reason::kUnsynchronised,
              "it returned " + text + "; outputs must be plain tensors whose bytes can be read at once"};
    case FailureKind::kExited:
      return {Reason::kCrashed, text + where};
    case FailureKind::kSignalled:
      // In this sandbox only the kernel's out-of-memory killer sends SIGKILL.
      if (Contains(text, "signal 9"))
        return {Reason::kOutOfMemory, text + where + "; most likely the system ran out of memory"};
      return {Reason::kCrashed, text + where};
    case FailureKind::kException:
      break;
  }
  if (IsOutOfMemory(failure)) return {Reason::kOutOfMemory, text + where};
  if (IsBuildFailure(failure)) return {Reason::kBuildFailed, text};
  if (stop.phase == Phase::kImport) return {Reason::kImportFailed, text};
  if (stop.phase == Phase::kWeights) return {Reason::kWeightsNotTransferred, text};
  return {Reason::kCrashed, text + where};
}

// The reason that running the candidate would give for what static analysis refused.
Reason ReasonOfRule(const std::string& rule) {
  if (rule == "recurrence-race" || rule == "missing-sync") return Reason::kNondeterministic;
  if (rule == "output-never-written") return Reason::kUnwrittenOutput;
  if (rule == "syntax" || rule == "missing-modelnew") return Reason::kImportFailed;
  return Reason::kBuildFailed;
}

GateResult LintGate(const Measurement& m) {
  if (!m.refused_by) return {};
  const Finding& finding = *m.refused_by;
  return Objection{ReasonOfRule(finding.rule), fmt::format("line {}: {} ({}). {}", finding.line,
                                                           finding.message, finding.rule, finding.fix)};
}

GateResult BuildGate(const Measurement& m) {
  if (m.stop && m.stop->phase < Phase::kTrial) return StopObjection(*m.stop);
  if (!m.has_class)
    return Objection{Reason::kImportFailed,
                     "it defines no class ModelNew" +
                         (m.class_hint.empty() ? std::string() : "; it defines " + m.class_hint)};
  return {};
}

GateResult SandboxGate(const Measurement& m) {
  if (!m.attempts.empty()) return Objection{Reason::kEscaped, "it " + Join(m.attempts, "; it ")};
  if (m.stop &&
      (m.stop->failure.kind == FailureKind::kProtocol || m.stop->failure.kind == FailureKind::kProcesses))
    return StopObjection(*m.stop);
  return {};
}

GateResult TimerGate(const Measurement& m) {
  if (m.tampering.empty()) return {};
  return Objection{Reason::kTimerTampering, "it replaced " + Join(m.tampering, ", ")};
}

GateResult ShapeGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    if (!trial.shape_problem.empty())
      return Objection{Reason::kWrongShape, trial.case_id + ": " + trial.shape_problem};
  return {};
}

GateResult DtypeGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    if (!trial.dtype_problem.empty())
      return Objection{Reason::kWrongDtype, trial.case_id + ": " + trial.dtype_problem};
  return {};
}

GateResult WrittenGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    for (const LeafTrial& leaf : trial.leaves)
      if (leaf.distance.poisoned > 0)
        return Objection{Reason::kUnwrittenOutput,
                         fmt::format("{}: {} of {} elements of {} were never written", trial.case_id,
                                     leaf.distance.poisoned, leaf.distance.elements, leaf.path)};
  return {};
}

GateResult FiniteGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    for (const LeafTrial& leaf : trial.leaves)
      if (leaf.distance.non_finite > 0)
        return Objection{Reason::kNonFinite,
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
          Reason::kStaleResult,
          fmt::format("{}: it returned the output of {}; outputs must not be cached between calls",
                      trial.case_id, trial.stale_of)};
  return {};
}

GateResult InputGate(const Measurement& m) {
  for (const Trial& trial : m.trials)
    if (trial.input_modified)
      return Objection{Reason::kInputModified, trial.case_id + ": the call changed the caller's inputs"};
  return {};
}

std::string ErrorText(const Trial& trial, const LeafTrial& leaf) {
  const Distance& distance = leaf.distance;
  if (leaf.by_tolerance)
    return fmt::format("{}: {} of {} elements of {} are outside of the tolerance", trial.case_id, leaf.far,
                       distance.elements, leaf.path);
  if (!(distance.relative <= leaf.limit.relative))
    return fmt::format("{}: {} is off by {} of its norm, the limit is {}", trial.case_id, leaf.path,
                       HumanNumber(distance.relative), HumanNumber(leaf.limit.relative));
  if (!(distance.worst <= leaf.limit.worst))
    return fmt::format("{}: element {} of {} is off by {} of the typical size, the limit is {}",
                       trial.case_id, distance.worst_at, leaf.path, HumanNumber(distance.worst),
                       HumanNumber(leaf.limit.worst));
  return fmt::format("{}: element {} of {} is off by {} of the size of its row and channel, the limit is {}",
                     trial.case_id, distance.scaled_at, leaf.path, HumanNumber(distance.scaled),
                     HumanNumber(leaf.limit.scaled));
}

GateResult CorrectGate(const Measurement& m) {
  if (m.draws && !m.draws->wrong.empty() && m.weights_missing.empty())
    return Objection{Reason::kWrongOutput, m.draws->wrong};
  for (const Trial& trial : m.trials) {
    if (!trial.value_problem.empty())
      return Objection{Reason::kWrongOutput, trial.case_id + ": " + trial.value_problem};
    for (const LeafTrial& leaf : trial.leaves) {
      if (!leaf.OverLimit()) continue;
      const std::string text = ErrorText(trial, leaf);
      if (!m.weights_missing.empty())
        return Objection{Reason::kWeightsNotTransferred,
                         text + "; these parameters of the reference have no counterpart in ModelNew: " +
                             Join(m.weights_missing, ", ") +
                             ". Keep the reference's names and shapes, or define load_reference(state_dict)"};
      return Objection{Reason::kWrongOutput, text};
    }
  }
  return {};
}

Reason ReasonOf(DoubtKind kind) {
  switch (kind) {
    case DoubtKind::kInaccurateReference:
      return Reason::kInaccurateReference;
    case DoubtKind::kBlindInput:
      return Reason::kBlindInput;
    case DoubtKind::kBlindParameter:
      return Reason::kBlindParameter;
    case DoubtKind::kBlindOutput:
      return Reason::kBlindOutput;
    case DoubtKind::kBlindTask:
      break;
  }
  return Reason::kBlindTask;
}

// --allow-blind vouches for one input, parameter or output. No flag overrides a task that cannot tell any
// wrong answer from a right one.
bool IsAllowed(const Doubt& doubt, const JudgeContext& context) {
  return context.allow_blind && doubt.kind != DoubtKind::kInaccurateReference &&
         doubt.kind != DoubtKind::kBlindTask;
}

GateResult JudgeableGate(const JudgeContext& context) {
  for (const Doubt& doubt : context.doubts)
    if (!IsAllowed(doubt, context)) return Objection{ReasonOf(doubt.kind), doubt.detail};
  return {};
}

GateResult RunGate(const Measurement& m) {
  if (m.stop && m.stop->phase >= Phase::kTrial) return StopObjection(*m.stop);
  return {};
}

GateResult DeterminismGate(const Measurement& m) {
  if (!m.repeats || m.repeats->spread <= m.repeats->spread_limit) return {};
  return Objection{Reason::kNondeterministic,
                   fmt::format("{} of {} repeats on the same inputs gave another answer, up to {} apart; "
                               "reordered rounding explains {}",
                               m.repeats->distinct, m.repeats->count - 1, HumanNumber(m.repeats->spread),
                               HumanNumber(m.repeats->spread_limit))};
}

void SetErrors(const Measurement& m, const JudgeContext& context, Verdict* v) {
  v->reference_error = context.reference_error;
  v->error_limit = context.limit;
  double closest = -1;
  // Keeps the error closest to its limit, together with that limit.
  for (const Trial& trial : m.trials)
    for (const LeafTrial& leaf : trial.leaves) {
      if (leaf.by_distribution) continue;
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

void Verdict::Decide(Reason why, std::string sentence) {
  verdict = NameOf(DecisionOf(why));
  reason = NameOf(why);
  detail = std::move(sentence);
}

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
  context.doubts = session.truth().doubts;
  context.allow_blind = session.options().allow_blind;
  context.remarks = session.truth().remarks;
  context.fixed_inputs = session.truth().fixed_inputs;
  context.alike_draws = session.truth().alike_draws;
  context.degenerate = session.card().degenerate;
  context.degenerate_rule = session.card().degenerate_rule;
  const LimitRule& rule = session.truth().rule;
  if (rule.is_weaker())
    context.remarks.push_back("compared with " + DescribeRule(rule) +
                              ": a weaker claim than Hone's own limit");
  return context;
}

Verdict Judge(const Measurement& m, const JudgeContext& context) {
  Verdict v;
  v.reference_launches = context.reference_launches;
  SetErrors(m, context, &v);
  SetKind(m, &v);
  std::optional<std::string> unsure;
  if (m.timing) unsure = SetSpeed(m, context, &v);
  v.notes.insert(v.notes.end(), m.notes.begin(), m.notes.end());
  v.notes.insert(v.notes.end(), context.remarks.begin(), context.remarks.end());
  for (const Doubt& doubt : context.doubts)
    if (IsAllowed(doubt, context)) v.notes.push_back("not checked: " + doubt.detail);
  const std::string fixed =
      context.fixed_inputs.empty() && context.alike_draws
          ? "draws of get_inputs hardly differ: the answer to one passes for that to another, so a "
            "remembered "
            "answer would go undetected in timed calls"
          : context.fixed_inputs +
                " is the same under every seed, or one of a few, so what depends on it can be "
                "computed once and remembered";
  const bool may_remember = !context.fixed_inputs.empty() || context.alike_draws;
  if (may_remember) v.notes.push_back(fixed);
  for (const MutantResult& mutant : context.mutants)
    if (!mutant.told_apart) v.blind_spots.push_back(mutant.name);
  v.mutants_total = static_cast<int>(context.mutants.size());
  v.blind = v.mutants_total > 0 && static_cast<int>(v.blind_spots.size()) == v.mutants_total;

  v.degenerate = context.degenerate;
  v.degenerate_rule = context.degenerate_rule;
  v.findings = m.findings;
  v.contract = m.contract;
  const bool tried = !m.trials.empty();
  struct Gate {
    const char* name;
    bool reached;
    std::function<GateResult()> check;
  };
  // On a busy machine the times of blocks do not reject a candidate. Wrong answers in them still do.
  const bool clock_tells = m.timing && !unsure;
  // If most rounds have no positive time, there is no ratio. The floor gate then decides.
  const bool floor_tells = clock_tells || (m.timing && v.vs_best.estimate == 0);
  // The first gate in this table that fails determines the verdict.
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
      {"judgeable", tried, [&] { return JudgeableGate(context); }},
      {"timed_answers", m.timing.has_value(), [&] { return TimedAnswersGate(*m.timing); }},
      {"synchronised", clock_tells, [&] { return SynchronisedGate(m.timing->Counted()); }},
      {"floor", floor_tells, [&] { return FloorGate(m.timing->Counted(), context); }},
      {"speed", clock_tells, [&] { return SpeedGate(v); }},
  };
  std::optional<Objection> first;
  for (const Gate& gate : gates) {
    const GateResult failed = gate.reached ? gate.check() : GateResult{};
    v.gates.emplace_back(gate.name, failed ? "fail" : gate.reached && !first ? "pass" : "skipped");
    if (failed && !first) first = failed;
  }
  if (first) {
    v.Decide(first->reason, first->detail);
    return v;
  }
  if (!m.timing) {
    v.Decide(Reason::kSpeedNotJudged,
             m.speed_not_judged.empty() ? "speed was not judged" : m.speed_not_judged);
    return v;
  }
  if (m.timing->buffer_reused)
    v.notes.push_back("it returns the same output buffer on every call: copy an output before the next call");
  if (unsure) {
    v.Decide(Reason::kMachineBusy, *unsure);
    return v;
  }
  if (v.vs_best.low > 1 && may_remember && !context.allow_blind) {
    v.Decide(Reason::kFixedInputs,
             fixed + "; draw it in get_inputs with torch's generator, or pass --allow-blind");
    return v;
  }
  if (v.vs_best.low > 1 && v.only_in_a_row) {
    v.Decide(
        Reason::kOnlyInARow,
        fmt::format("many calls in a row take {:.2f}x less time than {}, but one call alone takes as long",
                    v.vs_best.estimate, v.best_baseline));
    return v;
  }
  if (v.vs_best.low > 1) {
    v.Decide(Reason::kFaster, fmt::format("{:.2f}x faster than {}, the best PyTorch baseline here",
                                          v.vs_best.estimate, v.best_baseline));
    return v;
  }
  if (v.vs_best.estimate <= 0) {
    v.Decide(Reason::kMachineBusy, "most timed rounds come to no time at all, so there is no ratio");
    return v;
  }
  v.Decide(Reason::kNoDifference,
           fmt::format("{:.3f}x of {}: the interval {:.3f} to {:.3f} contains 1", v.vs_best.estimate,
                       v.best_baseline, v.vs_best.low, v.vs_best.high));
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
  json["degenerate"] =
      v.degenerate.empty() ? OrderedJson() : OrderedJson{{"why", v.degenerate}, {"rule", v.degenerate_rule}};
  json["contract"] = OrderedJson::array();
  for (const ContractEntry& entry : v.contract)
    json["contract"].push_back(
        {{"name", entry.name}, {"state", ContractStateName(entry.state)}, {"detail", entry.detail}});
  json["findings"] = ToJson(v.findings);
  json["notes"] = v.notes;
  return json;
}

}  // namespace hone

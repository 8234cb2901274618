#include "pipeline/candidate_judge.h"

#include <algorithm>
#include <deque>
#include <future>
#include <thread>

#include "base/ids.h"
#include "base/text.h"
#include "base/threads.h"
#include "evaluation/nursery.h"
#include "evaluation/provenance.h"
#include "graph/graph_json.h"
#include "pipeline/kept_times.h"
#include "pipeline/kept_verdict.h"
#include "pipeline/mending.h"
#include "pipeline/recorder.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

int Cores() {
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::vector<std::string> CpuFlags() {
  const Result<std::string> text = ReadFile("/proc/cpuinfo");
  if (!text.ok()) return {};
  std::vector<std::string> wanted;
  for (const std::string& line : Lines(*text)) {
    if (!StartsWith(line, "flags") && !StartsWith(line, "Features")) continue;
    for (const std::string& flag : Split(line.substr(line.find(':') + 1), ' '))
      if (StartsWith(flag, "avx") || flag == "fma" || StartsWith(flag, "amx") || flag == "asimd")
        wanted.push_back(flag);
    break;
  }
  return wanted;
}

using Seats = std::deque<std::unique_ptr<CandidateSeat>>;

constexpr double kTf32Error = 2e-4;
constexpr double kFarBehind = 0.6;
// `slower` needs a second pair if its interval ends above this, or if its calls without the fixed costs of a
// block reach this.
constexpr double kHardlySlower = 0.9;

TaskContext ContextOfTask(const ReferenceSession& session) {
  const Json& facts = session.facts();
  const bool gpu = session.options().device == "cuda";
  TaskContext context;
  context.card = ToJson(session.card());
  context.facts = facts;
  context.device_name = gpu ? GetString(facts, "device_name") : CpuName();
  context.best_us = session.eager_us();
  context.best_rung = "eager";
  for (const Rung& rung : session.ladder().All())
    if (rung.available && rung.call_us > 0 && rung.call_us < context.best_us) {
      context.best_us = rung.call_us;
      context.best_rung = rung.name;
    }
  context.machine = {{"device", session.options().device},
                     {"cores", Cores()},
                     {"threads", session.threads()},
                     {"cpu_flags", CpuFlags()},
                     {"torch", GetString(facts, "torch")},
                     {"has_triton", !GetString(facts, "triton").empty()},
                     {"has_compile", GetBool(facts, "has_compile")},
                     {"nvcc", !FindProgram("nvcc").empty()},
                     {"nvrtc", GetBool(facts, "nvrtc")},
                     {"gxx", !FindProgram("g++").empty() || !FindProgram("c++").empty()},
                     {"sm", GetInt(facts, "sm")},
                     // Rounding to 10 bits per product appears as about 1e-4 in the output.
                     {"tf32_allowed", session.WidestLimit() > kTf32Error},
                     {"stateful", session.stateful()},
                     {"random_in_forward", session.random_in_forward()},
                     {"limit", session.WidestLimit()},
                     {"best_us", context.best_us}};
  context.device = {
      {"best_rung", context.best_rung}, {"name", context.device_name}, {"torch", GetString(facts, "torch")}};
  if (gpu) {
    for (const char* key : {"sm", "shared_memory_per_block", "l2_bytes", "multiprocessors", "cuda", "triton"})
      if (facts.contains(key)) context.device[key] = facts[key];
  } else {
    context.device["cores"] = Cores();
    context.device["cpu_flags"] = context.machine["cpu_flags"];
  }
  return context;
}

}  // namespace

Json ToJson(const TaskContext& context) {
  Json json = {{"card", context.card},       {"facts", context.facts},      {"device", context.device},
               {"machine", context.machine}, {"name", context.device_name}, {"best_rung", context.best_rung},
               {"best_us", context.best_us}};
  if (!context.graph.is_null()) json["graph"] = context.graph;
  if (!context.why_no_graph.empty()) json["why_no_graph"] = context.why_no_graph;
  if (!context.preparation.is_null()) json["preparation"] = context.preparation;
  return json;
}

TaskContext TaskContextFromJson(const Json& json) {
  TaskContext context;
  context.card = GetMember(json, "card");
  context.facts = GetMember(json, "facts");
  context.device = GetMember(json, "device");
  context.machine = GetMember(json, "machine");
  context.device_name = GetString(json, "name");
  context.best_rung = GetString(json, "best_rung", "eager");
  context.best_us = GetNumber(json, "best_us");
  context.graph = GetMember(json, "graph");
  context.why_no_graph = GetString(json, "why_no_graph");
  context.preparation = GetMember(json, "preparation");
  return context;
}

OrderedJson RecordWithMeasurement(const Judged& judged) {
  OrderedJson record = judged.record;
  if (!IsFromStore(record)) record["measurement"] = ToJson(judged.measurement);
  return record;
}

Judged JudgedFromRecord(const Json& record) {
  Judged judged;
  judged.verdict = VerdictFromJson(record);
  judged.record = record;
  return judged;
}

bool IsFromStore(const Json& record) {
  return GetMember(record, "from_store").is_object();
}

MendedSource CandidateJudge::Mend(const CandidateRecord& failed, const std::string& task_source,
                                  const Json& facts) {
  return MendCandidate(failed, task_source, facts);
}

CandidateRecord CandidateJudge::Describe(const std::string& key, const std::string& phase,
                                         const std::string& source, const std::string& task_source) {
  return RecordOf(key, phase, source, task_source);
}

SessionJudge::SessionJudge(TaskFile task, SessionOptions options, bool several)
    : task_(std::move(task)),
      options_(std::move(options)),
      several_(several),
      next_(several ? NextCandidate::kComes : NextCandidate::kNone),
      slots_(options_.device == "cuda" ? std::clamp(Cores() / 4, 1, 4) : 1) {}

Result<ReferenceSession*> SessionJudge::Session(const Progress& progress) {
  const std::scoped_lock lock(mutex_);
  if (session_ != nullptr) return session_.get();
  const Stopwatch watch;
  HONE_ASSIGN_OR_RETURN(options_.nursery, Nursery::Start(options_.python, options_.device, options_.sandbox));
  // The first seats are made while the reference works. A second one is made only if there are cores for it.
  // If none can be made now, the candidate gets one of its own, or the reason.
  std::future<Seats> first = StartAsync([&] {
    Seats seats;
    for (int i = 0; i < (several_ && Cores() >= 6 ? 2 : 1); ++i)
      if (Result<std::unique_ptr<CandidateSeat>> seat = CandidateSeat::Start(options_); seat.ok())
        seats.push_back(std::move(*seat));
    return seats;
  });
  HONE_ASSIGN_OR_RETURN(session_, ReferenceSession::Open(task_, options_, progress));
  evaluator_ = std::make_unique<Evaluator>(*session_, first.get());
  prepared_s_ = watch.seconds();
  prepared_reference_s_ = session_->worker().compute_seconds();
  return session_.get();
}

Result<TaskContext> SessionJudge::Context(const Progress& progress) {
  HONE_ASSIGN_OR_RETURN(ReferenceSession * session, Session(progress));
  TaskContext context = ContextOfTask(*session);
  context.preparation = {{"seconds", prepared_s_}, {"steps", Json::object()}};
  for (const auto& [step, seconds] : session->preparation()) context.preparation["steps"][step] = seconds;
  if (const TaskGraph& captured = session->graph(); captured.graph)
    context.graph = graph::ToJson(*captured.graph);
  else
    context.why_no_graph = captured.declined;
  return context;
}

namespace {

class SlotTaken {
 public:
  explicit SlotTaken(std::counting_semaphore<16>& slots) : slots_(slots) { slots_.acquire(); }
  SlotTaken(const SlotTaken&) = delete;
  ~SlotTaken() { slots_.release(); }

 private:
  std::counting_semaphore<16>& slots_;
};

// Where the times of a candidate's screening runs are kept, per device, text, task and library versions.
fs::path KeptLook(const ReferenceSession& session, const CandidateFile& candidate) {
  const Json& facts = session.facts();
  const bool gpu = session.options().device == "cuda";
  const std::string key = Sha256(DumpJson(
      Json{candidate.sha256, Sha256(session.task().source), gpu ? GetString(facts, "device_name") : CpuName(),
           session.threads(), GetString(facts, "torch"), GetString(facts, "cuda"), HONE_VERSION}));
  return CacheFolder() / "looks" / (key.substr(0, 24) + ".json");
}

}  // namespace

const JudgingMachine& SessionJudge::Machine() {
  std::call_once(identified_, [&] { machine_ = IdentifyMachine(options_); });
  return machine_;
}

Result<std::optional<Judged>> SessionJudge::Known(const CandidateFile& candidate) {
  if (known_ == nullptr) return std::optional<Judged>();
  HONE_ASSIGN_OR_RETURN(const std::optional<KnownVerdict> known,
                        FindKnown(*known_, task_, candidate, options_, Machine()));
  if (!known) return std::optional<Judged>();
  Judged judged = JudgedFromRecord(known->record);
  judged.record["from_store"] = {{"id", known->where}, {"created", known->created}};
  return std::optional<Judged>(std::move(judged));
}

Result<Judged> SessionJudge::Judge(const CandidateFile& candidate, const Progress& progress) {
  return JudgeIn(candidate, false, progress);
}

Result<Judged> SessionJudge::JudgeIn(const CandidateFile& candidate, bool once_more,
                                     const Progress& progress) {
  HONE_ASSIGN_OR_RETURN(ReferenceSession * session, Session(progress));
  const SlotTaken slot(slots_);
  Judged judged;
  const JudgeContext context = ContextOf(*session);
  const auto is_unsure = [&](const Measurement& seen) {
    const Verdict verdict = hone::Judge(seen, context);
    // More pairs will not accept a candidate that is far behind. One more shows whether it is slower.
    const bool far_behind = verdict.vs_best.estimate > 0 && verdict.vs_best.estimate < kFarBehind;
    const bool one_pair = seen.timing && seen.timing->pairs < 2;
    // A pair of processes may be a little slower than the next one, or pay a fixed cost that the next one
    // does not, without any reason in the candidate.
    const double slope_us = verdict.candidate_us - verdict.added_us;
    const bool by_slope = slope_us > 0 && verdict.best_us < kHardlySlower * slope_us;
    const bool hardly_slower = verdict.reason == NameOf(Reason::kSlower) && one_pair &&
                               (verdict.vs_best.high > kHardlySlower || !by_slope);
    return hardly_slower || (verdict.verdict == NameOf(Decision::kInconclusive) && (!far_behind || one_pair));
  };
  HONE_ASSIGN_OR_RETURN(judged.measurement,
                        evaluator_->Evaluate(candidate, next_, progress, is_unsure, once_more));
  judged.verdict = hone::Judge(judged.measurement, ContextOf(*session));
  judged.record = ToJson(judged.verdict);
  judged.record["card"] = ToJson(session->card());
  judged.record["provenance"] = Provenance(*session, candidate, judged.measurement);
  judged.record["provenance"]["conditions"] = ConditionsOf(task_, candidate, options_, Machine());
  judged.record["provenance"]["prepare_seconds"] = prepared_s_;
  judged.record["provenance"]["prepare_reference_seconds"] = prepared_reference_s_;
  return judged;
}

Result<std::optional<Judged>> SessionJudge::JudgeAnew(const CandidateFile& candidate, bool chosen,
                                                      const Progress& progress) {
  HONE_ASSIGN_OR_RETURN(ReferenceSession * session, Session(progress));
  HONE_RETURN_IF_ERROR(session->DrawAnew(progress));
  SetNext(NextCandidate::kNone);
  HONE_ASSIGN_OR_RETURN(Judged judged, JudgeIn(candidate, !chosen, progress));
  return std::optional<Judged>(std::move(judged));
}

Result<QuickLook> SessionJudge::Look(const CandidateFile& candidate, const Progress& progress) {
  HONE_ASSIGN_OR_RETURN(const ReferenceSession* session, Session(progress));
  KeptTimes kept(KeptLook(*session, candidate));
  if (const std::optional<double> us = kept.Agreed()) return QuickLook{true, "", *us};
  const SlotTaken slot(slots_);
  HONE_ASSIGN_OR_RETURN(QuickLook look, evaluator_->Look(candidate, true, progress));
  if (look.refused) {
    const Verdict verdict = hone::Judge(*look.refused, ContextOf(*session));
    look.why = verdict.reason + ": " + verdict.detail;
  }
  if (look.right && look.call_us > 0) kept.Add(look.call_us);
  return look;
}

Result<KernelProfile> SessionJudge::Profile(const CandidateFile& candidate) {
  const SlotTaken slot(slots_);
  return ProfileKernels(task_, candidate, options_);
}

}  // namespace hone

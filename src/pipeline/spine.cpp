#include "pipeline/spine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/interrupt.h"
#include "base/text.h"
#include "pipeline/best_file.h"
#include "pipeline/kept_verdict.h"
#include "pipeline/outcome.h"
#include "pipeline/prompt_facts.h"
#include "store/run_result.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

void TakeVerdict(const Judged& judged, CandidateRecord* candidate) {
  KeepVerdict(judged.verdict, candidate);
  candidate->json = DumpJson(RecordWithMeasurement(judged));
}

// In the decision on a winner that lost its place: its new verdict as text. A run killed between the decision
// and the candidate's new row continues from it.
constexpr char kLostBy[] = "lost_by";

void LosePlace(const std::string& record, CandidateRecord* winner) {
  const double first = winner->vs_best;
  KeepVerdict(VerdictFromJson(ParsedOrEmpty(record)), winner);
  winner->json = record;
  winner->detail =
      fmt::format("accepted at {:.2f}x first; judged again with other seeds: {}", first, winner->detail);
}

}  // namespace

Spine::Spine(Recorder& recorder, CandidateJudge& judge, Model* model, const TaskFile& task,
             RunOptions options)
    : recorder_(recorder),
      judge_(judge),
      model_(model),
      task_(task),
      options_(std::move(options)),
      spend_gate_(options_.budget) {}

Result<RunEnd> Spine::Run() {
  if (options_.budget.minutes > 0)
    deadline_ = Deadline::After(60 * options_.budget.minutes - recorder_.seconds());
  judge_.EndAt(deadline_);
  auto stages = [&]() -> Status {
    HONE_RETURN_IF_ERROR(CountEarlierSittings());
    HONE_RETURN_IF_ERROR(LearnTask());
    HONE_RETURN_IF_ERROR(KeepPyTorchAsZero());
    if (options_.proposer == "import") return Imported();
    if (StartsWith(options_.proposer, "agent:")) return Agent();
    HONE_RETURN_IF_ERROR(Inherited());
    if (model_ == nullptr) return Expert();
    if (ExpertBesideModel(options_)) HONE_RETURN_IF_ERROR(Expert());
    HONE_RETURN_IF_ERROR(Seeds());
    return options_.search == "population" ? Population() : Tuning();
  };
  Status went = stages();
  if (went.ok() || AskingStopped()) {
    const Status confirmed = ConfirmBest();
    // If asking stopped, that stays the reason why the run ended.
    if (went.ok() || (!confirmed.ok() && confirmed.error().kind != ErrorKind::kInterrupted)) went = confirmed;
  }
  if (went.ok()) went = SayWhereTimeWent();
  return Conclude(went);
}

Status Spine::LearnTask() {
  const Result<Json> kept = ParseJson(recorder_.run().card);
  if (kept.ok() && kept->is_object()) {
    context_ = TaskContextFromJson(*kept);
    return Ok();
  }
  HONE_ASSIGN_OR_RETURN(context_, Answer(judge_.Context([&](const std::string& phase, int, int) {
                          recorder_.Doing("reference", phase);
                        })));
  recorder_.Doing("reference", "");
  recorder_.run().card = DumpJson(ToJson(context_));
  recorder_.run().device = context_.device_name;
  recorder_.run().degenerate = GetString(context_.card, "degenerate");
  return recorder_.SaveRun();
}

// Candidate zero, which is the answer if no candidate is faster.
Status Spine::KeepPyTorchAsZero() {
  HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> kept,
                        recorder_.store().Candidate(recorder_.run().id, "zero"));
  if (kept) return Ok();
  CandidateRecord zero = MakeCandidate(
      "zero", "", "zero", UnchangedFile(task_.source, "Candidate zero: the unmodified PyTorch module."));
  zero.title = "unmodified PyTorch module";
  zero.verdict = "baseline";
  zero.reason = "reference";
  zero.kind = "library";
  zero.vs_best = zero.ci_low = zero.ci_high = 1;
  zero.candidate_us = context_.best_us;
  return recorder_.Keep(zero);
}

// Judges given files unchanged, in order.
Status Spine::Imported() {
  for (const std::string& path : options_.files) {
    const std::string key = FileNameOf(fs::path(path).stem().string());
    HONE_ASSIGN_OR_RETURN(std::optional<CandidateRecord> candidate,
                          recorder_.store().Candidate(recorder_.run().id, key));
    if (!candidate) {
      const Result<CandidateFile> file = LoadCandidateFile(path);
      if (!file.ok()) {
        HONE_RETURN_IF_ERROR(recorder_.Decide("unreadable:" + key, "import", file.error().message));
        continue;
      }
      candidate = MakeCandidate(key, "", "imported", file->source);
      HONE_RETURN_IF_ERROR(recorder_.Keep(*candidate));
    }
    HONE_RETURN_IF_ERROR(Judge(*candidate));
  }
  return Ok();
}

// Runs all seeds in parallel: a model works on one while the judge works on another. If the order of calls
// matters, they run one after the other.
Status Spine::Seeds() {
  if (model_->order_matters()) {
    for (int seed = 0; seed < options_.seeds; ++seed) HONE_RETURN_IF_ERROR(Branch(seed));
    return Ok();
  }
  std::vector<Status> ended(static_cast<size_t>(options_.seeds), Ok());
  {
    std::vector<std::thread> branches;
    for (int seed = 0; seed < options_.seeds; ++seed)
      branches.emplace_back([this, seed, &ended] {
        try {
          ended[static_cast<size_t>(seed)] = Branch(seed);
        } catch (const std::exception& error) {
          ended[static_cast<size_t>(seed)] = Error{ErrorKind::kInternal, error.what()};
        }
      });
    for (std::thread& branch : branches) branch.join();
  }
  for (Status& status : ended) HONE_RETURN_IF_ERROR(std::move(status));
  return Ok();
}

Result<std::optional<CandidateRecord>> Spine::BestBeforeTuning() {
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all,
                        recorder_.store().Candidates(recorder_.run().id));
  return Fastest(
      all, [](const CandidateRecord& one) { return IsRight(one) && !StartsWith(one.key, kTuningKeys); });
}

Result<std::string> Spine::WhyNoCandidateCame() {
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> candidates,
                        recorder_.store().Candidates(recorder_.run().id));
  if (candidates.size() > 1) return std::string();
  HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> calls, recorder_.store().Calls(recorder_.run().id));
  return "no candidate came: " + (calls.empty() ? "nothing was asked" : calls.back().error);
}

// The winner is judged again before it is called best, on cases that were not used to choose it. If it is
// then wrong or not faster, the next candidate is judged in this way. A machine that is too busy changes
// nothing. These judgements count only against the budget of minutes. A run stopped by its budget of minutes
// or of evaluations does not reach this step, and its outcome says so.
Status Spine::ConfirmBest() {
  {
    const std::scoped_lock lock(stop_mutex_);
    confirming_ = true;
  }
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all,
                          recorder_.store().Candidates(recorder_.run().id));
    std::optional<CandidateRecord> best =
        Fastest(all, [](const CandidateRecord& one) { return one.accepted(); });
    if (!best) return Ok();
    const std::string decision = "confirm:" + best->key;
    HONE_ASSIGN_OR_RETURN(const std::optional<DecisionRecord> taken,
                          recorder_.store().Decision(recorder_.run().id, decision));
    if (taken) {
      const std::string lost_by = GetString(ParsedOrEmpty(taken->json), kLostBy);
      if (lost_by.empty()) return Ok();
      LosePlace(lost_by, &*best);
      HONE_RETURN_IF_ERROR(recorder_.Keep(*best));
      continue;
    }
    HONE_RETURN_IF_ERROR(MayGoOn());
    const auto doing = [&](const std::string& phase, int, int) { recorder_.Doing(best->key, phase); };
    const bool chosen = std::any_of(all.begin(), all.end(), [&](const CandidateRecord& one) {
      return one.key != "zero" && one.key != best->key && one.judged();
    });
    const Stopwatch watch;
    Result<std::optional<Judged>> judged = Answer(judge_.JudgeAnew(FileOf(*best), chosen, doing));
    recorder_.Doing(best->key, "");
    if (!judged.ok()) return std::move(judged).error();
    if (!judged->has_value()) return Ok();
    const Verdict& again = (*judged)->verdict;
    const bool ahead = (*judged)->measurement.ahead_once_more;
    const std::string came_to =
        ahead ? fmt::format("right, {:.2f}x in one more pair of processes", again.vs_best.estimate)
        : again.vs_best.estimate > 0 ? fmt::format("{}, {:.2f}x", again.verdict, again.vs_best.estimate)
                                     : fmt::format("{}, {}", again.verdict, again.reason);
    const bool stays = again.verdict == NameOf(Decision::kAccepted) ||
                       again.verdict == NameOf(Decision::kInconclusive) ||
                       (ahead && again.verdict == NameOf(Decision::kNoDifference));
    const std::string record = DumpJson(RecordWithMeasurement(**judged));
    Json json = {{"seconds", watch.seconds()}, {"phases", PhaseSeconds((*judged)->measurement)}};
    if (!stays) json[kLostBy] = record;
    HONE_RETURN_IF_ERROR(
        recorder_.Decide(decision, "confirm",
                         fmt::format("{} was accepted at {:.2f}x and judged again with other seeds: {}",
                                     best->key, best->vs_best, came_to),
                         json));
    if (stays) return Ok();
    LosePlace(record, &*best);
    HONE_RETURN_IF_ERROR(recorder_.Keep(*best));
  }
}

namespace {

// "import 0.31 s, trials 1.2 s", without steps under 50 ms.
std::string StepsText(const Json& steps) {
  std::vector<std::string> parts;
  for (const auto& [name, seconds] : steps.items())
    if (seconds.is_number() && seconds.get<double>() >= 0.05)
      parts.push_back(fmt::format("{} {:.1f} s", name, seconds.get<double>()));
  return Join(parts, ", ");
}

}  // namespace

// One line for users: preparation, every judgement, and the winner's second one, each with its phases. If the
// judge answers from a recording, nothing was timed.
Status Spine::SayWhereTimeWent() {
  if (GetNumber(context_.preparation, "seconds") <= 0) return Ok();
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all,
                        recorder_.store().Candidates(recorder_.run().id));
  HONE_ASSIGN_OR_RETURN(const std::vector<DecisionRecord> decisions,
                        recorder_.store().Decisions(recorder_.run().id));
  Json json = Json::array();
  std::vector<std::string> parts;
  const auto add = [&](const std::string& what, double seconds, const Json& steps) {
    if (seconds <= 0) return;
    const std::string text = StepsText(steps);
    parts.push_back(fmt::format("{} {:.1f} s{}", what, seconds, text.empty() ? "" : " (" + text + ")"));
    json.push_back({{"what", what}, {"seconds", seconds}, {"steps", steps}});
  };
  add("preparation", GetNumber(context_.preparation, "seconds"), GetMember(context_.preparation, "steps"));
  for (const CandidateRecord& one : all) {
    const Result<Json> record = ParseJson(one.json);
    if (record.ok() && record->is_object())
      add(one.key, one.seconds, GetMember(GetMember(*record, "measurement"), "phases"));
  }
  for (const DecisionRecord& one : decisions) {
    const Result<Json> record = ParseJson(one.json);
    if (StartsWith(one.key, "confirm:") && record.ok() && record->is_object())
      add("judged again", GetNumber(*record, "seconds"), GetMember(*record, "phases"));
  }
  return recorder_.Decide("seconds", "time", "time: " + Join(parts, "; "),
                          {{"total", recorder_.seconds()}, {"parts", json}});
}

Result<RunEnd> Spine::Conclude(const Status& went) {
  RunEnd end;
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all,
                        recorder_.store().Candidates(recorder_.run().id));
  HONE_ASSIGN_OR_RETURN(const std::vector<DecisionRecord> decisions,
                        recorder_.store().Decisions(recorder_.run().id));
  end.best = Fastest(all, [](const CandidateRecord& one) { return one.accepted(); });
  {
    const std::scoped_lock lock(stop_mutex_);
    end.status = stop_status_.empty() ? (went.ok() ? "done" : "failed") : stop_status_;
    end.outcome = stop_why_;
  }
  const bool broken = !went.ok() && end.outcome.empty() && went.error().kind != ErrorKind::kInterrupted;
  if (broken) end.outcome = went.error().message;
  end.outcome = TrimPeriods(end.outcome);
  if (!went.ok() && end.outcome.empty()) {
    end.status = "stopped";
    end.outcome = InterruptedWords();
  }
  const bool asks = model_ != nullptr || StartsWith(options_.proposer, "agent:");
  if (went.ok() && end.outcome.empty() && asks) {
    // "Keep PyTorch" would be a verdict on candidates, but there were none.
    HONE_ASSIGN_OR_RETURN(end.outcome, WhyNoCandidateCame());
    if (!end.outcome.empty()) end.status = "failed";
  }
  RunRecord& run = recorder_.run();
  run.status = end.status;
  run.best_key = end.best ? end.best->key : "";
  run.finished = UtcTimestamp();
  run.result = end.result = ResultOf(run, all);
  run.vs_best = end.best ? end.best->vs_best : CountsInMeans(run.result) ? 1 : 0;
  run.vs_eager = end.best ? end.best->vs_eager : 0;
  const std::string came_to = ResultSentence(run, all, decisions);
  // For a failed run it is obvious that nothing was accepted.
  const bool nothing = run.result == kRunFailed;
  run.outcome = end.outcome.empty() ? came_to
                : nothing           ? end.outcome
                                    : fmt::format("{}; so far: {}", end.outcome, came_to);
  // Printed before the run is marked as ended, because a follower then stops reading. An error is returned
  // below, and the caller prints it.
  if (!broken) {
    recorder_.Say(run.outcome);
  } else {
    recorder_.Log(end.outcome);
    if (!nothing) recorder_.Say("so far: " + came_to);
  }
  end.outcome = run.outcome;
  HONE_RETURN_IF_ERROR(
      recorder_.End(end.best ? BestFile(run, *end.best) : UnchangedFile(task_.source, came_to)));
  // A budget, Ctrl-C or an unreachable model end a run; a failure of Hone is an Error.
  if (broken) return went.error();
  return end;
}

std::string Spine::InterruptedWords() {
  return "interrupted; `hone resume " + recorder_.run().name + "` goes on";
}

Status Spine::StopRun(const std::string& status, const std::string& why) {
  const std::scoped_lock lock(stop_mutex_);
  if (stop_status_.empty()) {
    stop_status_ = status;
    stop_why_ = why;
  }
  return Error{ErrorKind::kInterrupted, why};
}

Status Spine::StopAsking(const std::string& why) {
  const std::scoped_lock lock(stop_mutex_);
  if (stop_status_.empty()) {
    stop_status_ = "stopped";
    stop_why_ = why;
    asking_stopped_ = true;
  }
  return Error{ErrorKind::kInterrupted, why};
}

bool Spine::AskingStopped() {
  const std::scoped_lock lock(stop_mutex_);
  return asking_stopped_;
}

Error Spine::StopOutOfTime() {
  const double minutes = options_.budget.minutes;
  const bool whole = minutes == std::floor(minutes);
  const std::string budget =
      whole ? fmt::format("{:g} minute{}", minutes, minutes == 1 ? "" : "s") : HumanSeconds(60 * minutes);
  return StopRun("stopped", "the budget of " + budget + " is spent").error();
}

Status Spine::MayGoOn() {
  {
    const std::scoped_lock lock(stop_mutex_);
    if (!stop_status_.empty() && !(asking_stopped_ && confirming_))
      return Error{ErrorKind::kInterrupted, stop_why_};
  }
  if (Interrupted()) return StopRun("stopped", InterruptedWords());
  if (deadline_.passed()) return StopOutOfTime();
  return Ok();
}

// A budget covers all sessions together.
Status Spine::CountEarlierSittings() {
  HONE_ASSIGN_OR_RETURN(const UsageTotals usage, recorder_.store().Usage(recorder_.run().id));
  calls_ = static_cast<int>(usage.calls);
  spend_gate_.Begin(usage.total(), usage.cost_usd);
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all,
                        recorder_.store().Candidates(recorder_.run().id));
  evaluations_ = static_cast<int>(std::count_if(all.begin(), all.end(), [](const CandidateRecord& one) {
    const Result<Json> record = ParseJson(one.json);
    return !one.json.empty() && !(record.ok() && IsFromStore(*record));
  }));
  return Ok();
}

// Reserved before the evaluation, in one step, so that parallel seeds never make one too many.
Status Spine::ReserveEvaluation() {
  HONE_RETURN_IF_ERROR(MayGoOn());
  const int most = options_.budget.evaluations;
  int made = evaluations_.load();
  do {
    if (most > 0 && made >= most) return StopOutOfEvaluations();
  } while (!evaluations_.compare_exchange_weak(made, made + 1));
  return Ok();
}

bool Spine::EvaluationsSpent() const {
  return options_.budget.evaluations > 0 && evaluations_.load() >= options_.budget.evaluations;
}

Status Spine::StopOutOfEvaluations() {
  const int most = options_.budget.evaluations;
  return StopRun("stopped",
                 fmt::format("the budget of {} evaluation{} is spent", most, most == 1 ? "" : "s"));
}

PromptInputs Spine::Inputs(const std::string& call_type) const {
  PromptInputs inputs;
  inputs.call_type = call_type;
  inputs.target = recorder_.run().target;
  inputs.task_name = task_.name;
  inputs.task_source = task_.source;
  inputs.card = context_.card;
  inputs.best_baseline = context_.best_rung;
  inputs.best_us = context_.best_us;
  inputs.device = context_.device;
  return inputs;
}

CandidateRecord Spine::MakeCandidate(const std::string& key, const std::string& parent,
                                     const std::string& phase, const std::string& source) const {
  CandidateRecord candidate = judge_.Describe(key, phase, source, task_.source);
  candidate.run_id = recorder_.run().id;
  candidate.parent_key = parent;
  candidate.proposer = recorder_.run().proposer;
  return candidate;
}

CandidateFile Spine::FileOf(const CandidateRecord& candidate) const {
  const std::string name = FileNameOf(candidate.key);
  return {recorder_.folder() / "code" / (name + ".py"), name, candidate.source, candidate.sha256};
}

Result<CandidateRecord> Spine::Judge(CandidateRecord candidate) {
  if (candidate.judged()) return candidate;
  HONE_RETURN_IF_ERROR(MayGoOn());
  const std::string key = candidate.key;
  const CandidateFile file = FileOf(candidate);
  HONE_ASSIGN_OR_RETURN(const std::optional<Judged> known, judge_.Known(file));
  if (known) {
    const Json from = GetMember(Json(known->record), "from_store");
    recorder_.Say(fmt::format("{}: this verdict is taken from the store: {} of {}; --again judges anew", key,
                              GetString(from, "id"), GetString(from, "created")));
    TakeVerdict(*known, &candidate);
    HONE_RETURN_IF_ERROR(recorder_.Keep(candidate));
    return candidate;
  }
  HONE_RETURN_IF_ERROR(ReserveEvaluation());
  const Stopwatch watch;
  const Result<Judged> judged =
      Answer(judge_.Judge(file, [&](const std::string& phase, int, int) { recorder_.Doing(key, phase); }));
  recorder_.Doing(key, "");
  if (!judged.ok()) {
    --evaluations_;
    return judged.error();
  }
  candidate.seconds = watch.seconds();
  TakeVerdict(*judged, &candidate);
  HONE_RETURN_IF_ERROR(recorder_.Keep(candidate));
  return candidate;
}

}  // namespace hone

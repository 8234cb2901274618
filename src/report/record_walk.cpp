#include "report/record_walk.h"

#include <algorithm>
#include <mutex>

#include "base/ids.h"
#include "base/text.h"
#include "model/replies.h"
#include "pipeline/kept_verdict.h"
#include "pipeline/mending.h"
#include "pipeline/spine.h"

namespace hone {

namespace {

// Shared by both ends of the walk: the record, and the missing keys. Seeds run in parallel.
class Record {
 public:
  Record(const RunStory& story, Questions* own, const Questions* asked)
      : story_(story), own_(own), asked_(asked) {}

  const RunStory& story() const { return story_; }

  const CandidateRecord* Candidate(const std::string& key) const {
    for (const CandidateRecord& one : story_.candidates)
      if (one.key == key) return &one;
    return nullptr;
  }
  const CandidateRecord* CandidateOfFile(const std::string& name) const {
    for (const CandidateRecord& one : story_.candidates)
      if (FileNameOf(one.key) == name) return &one;
    return nullptr;
  }
  const CallRecord* Call(const std::string& key) const {
    for (const CallRecord& one : story_.calls)
      if (one.key == key) return &one;
    return nullptr;
  }
  // The decision about a file: `about` is "look:" and the key.
  const DecisionRecord* Decision(const std::string& about, const std::string& file) const {
    for (const DecisionRecord& one : story_.decisions)
      if (StartsWith(one.key, about) && FileNameOf(one.key.substr(about.size())) == file) return &one;
    return nullptr;
  }

  Error Unknown(const std::string& key, const std::string& why) {
    const std::scoped_lock lock(mutex_);
    unknown_.emplace_back(key, why);
    return Error{ErrorKind::kNotFound, key + " is not on record"};
  }

  // Whether the question equals the one of the run's own walk. On that walk itself, records it.
  bool SamePrompt(const std::string& key, const std::string& prompt) {
    const std::scoped_lock lock(mutex_);
    return Same(own_ != nullptr ? &own_->prompts : nullptr, asked_ != nullptr ? &asked_->prompts : nullptr,
                key, prompt);
  }
  bool SameLook(const std::string& file, const std::string& sha256) {
    const std::scoped_lock lock(mutex_);
    return Same(own_ != nullptr ? &own_->looks : nullptr, asked_ != nullptr ? &asked_->looks : nullptr, file,
                sha256);
  }

  // In the order of keys, because threads find them in any order.
  std::vector<std::pair<std::string, std::string>> TakeUnknown() {
    std::sort(unknown_.begin(), unknown_.end());
    return std::move(unknown_);
  }

 private:
  using Noted = std::map<std::string, std::string>;
  static bool Same(Noted* own, const Noted* asked, const std::string& key, const std::string& question) {
    if (own != nullptr) {
      (*own)[key] = question;
      return true;
    }
    const auto found = asked->find(key);
    return found != asked->end() && found->second == question;
  }

  const RunStory& story_;
  Questions* own_;
  const Questions* asked_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> unknown_;
};

class RecordModel : public Model {
 public:
  explicit RecordModel(Record& record) : record_(record) {}

  ModelReply Ask(const ModelRequest& request, const ModelProgress&) override {
    const CallRecord* call = record_.Call(request.key);
    if (call == nullptr) return NotOnRecord(request.key, "never_asked");
    if (!record_.SamePrompt(request.key, request.system + "\n" + request.prompt))
      return NotOnRecord(request.key, WhyOther(request));
    ModelReply reply;
    reply.model = call->model;
    reply.text = call->reply;
    reply.thinking = call->thinking;
    reply.finish_reason = call->finish_reason;
    reply.message = call->error;
    reply.usage = *call;
    reply.seconds = call->seconds;
    reply.attempts = call->attempts;
    // A failure that stopped the run then would now stop other branches at arbitrary points, so it ends only
    // its own.
    if (call->status != "answered") {
      const ModelFailure failure = FailureFromName(call->status);
      const bool stopped = StopsTheRun(failure) || failure == ModelFailure::kOutOfTime ||
                           failure == ModelFailure::kOutOfBudget;
      reply.failure = stopped ? ModelFailure::kBadReply : failure;
    }
    return reply;
  }
  ModelReply AskForSeveral(const ModelRequest& request, int, const ModelProgress& progress) override {
    ModelReply reply = Ask(request, progress);
    const CallRecord* call = record_.Call(request.key);
    if (reply.ok() && call != nullptr) reply.more = RepliesFrom(call->more_replies);
    return reply;
  }
  std::string name() const override { return record_.story().run.model; }

 private:
  ModelReply NotOnRecord(const std::string& key, const std::string& why) {
    ModelReply reply;
    reply.failure = ModelFailure::kNotOnRecord;
    reply.message = record_.Unknown(key, why).message;
    return reply;
  }

  // A prompt shows the candidate that it is about.
  std::string WhyOther(const ModelRequest& request) const {
    const CandidateRecord* made = record_.Candidate(request.key);
    const CandidateRecord* parent = made != nullptr ? record_.Candidate(made->parent_key) : nullptr;
    return parent != nullptr && !Contains(request.prompt, std::string(Trim(parent->source))) ? "other_base"
                                                                                             : "other_prompt";
  }

  Record& record_;
};

Judged JudgedAsKept(const CandidateRecord& kept) {
  Judged judged;
  judged.verdict = VerdictOf(kept);
  const Result<Json> json = ParseJson(kept.json);
  if (json.ok() && json->is_object()) judged.record = *json;
  return judged;
}

class RecordJudge : public CandidateJudge {
 public:
  explicit RecordJudge(Record& record) : record_(record) {}

  void EndAt(Deadline) override {}

  CandidateRecord Describe(const std::string& key, const std::string& phase, const std::string& source,
                           const std::string& task_source) override {
    const CandidateRecord* kept = record_.Candidate(key);
    if (kept == nullptr || kept->source != source)
      return CandidateJudge::Describe(key, phase, source, task_source);
    CandidateRecord candidate;
    candidate.key = key;
    candidate.phase = phase;
    candidate.created = kept->created;
    candidate.source = source;
    candidate.sha256 = kept->sha256;
    candidate.kernel_class = kept->kernel_class;
    candidate.facts = kept->facts;
    candidate.findings = kept->findings;
    return candidate;
  }

  // Repairs only what was repaired then, because this version may have more fixes than the run's.
  MendedSource Mend(const CandidateRecord& failed, const std::string& task_source,
                    const Json& facts) override {
    const CandidateRecord* kept = record_.Candidate(failed.key);
    if (kept == nullptr || kept->source != failed.source)
      return CandidateJudge::Mend(failed, task_source, facts);
    MendedSource mended;
    mended.text = failed.source;
    const CandidateRecord* made = record_.Candidate(failed.key + kMendedKey);
    if (made == nullptr) return mended;
    mended.text = made->source;
    mended.fixes.resize(1);  // the run's record says which they were
    return mended;
  }

  Result<TaskContext> Context(const Progress&) override {
    const Result<Json> context = ParseJson(record_.story().run.card);
    return TaskContextFromJson(context.ok() ? *context : Json());
  }

  Result<Judged> Judge(const CandidateFile& file, const Progress&) override {
    const CandidateRecord* kept = record_.CandidateOfFile(file.name);
    if (kept == nullptr) return record_.Unknown(file.name, "unfinished");
    if (kept->source != file.source) return record_.Unknown(kept->key, "other_base");
    if (!kept->judged()) return record_.Unknown(kept->key, "unfinished");
    return JudgedAsKept(*kept);
  }

  // A verdict that cost that run no evaluation costs none now.
  Result<std::optional<Judged>> Known(const CandidateFile& file) override {
    const CandidateRecord* kept = record_.CandidateOfFile(file.name);
    if (kept == nullptr || kept->source != file.source || !kept->judged()) return std::optional<Judged>();
    Judged judged = JudgedAsKept(*kept);
    if (!IsFromStore(Json(judged.record))) return std::optional<Judged>();
    return std::optional<Judged>(std::move(judged));
  }

  Result<QuickLook> Look(const CandidateFile& file, const Progress&) override {
    const DecisionRecord* kept = record_.Decision("look:", file.name);
    const Result<Json> json = ParseJson(kept != nullptr ? kept->json : "");
    if (!json.ok()) return record_.Unknown(file.name, "never_asked");
    if (!record_.SameLook(file.name, Sha256(file.source))) return record_.Unknown(file.name, "other_base");
    return QuickLook{GetBool(*json, "right"), GetString(*json, "why"), GetNumber(*json, "call_us")};
  }

  Result<KernelProfile> Profile(const CandidateFile& file) override {
    const DecisionRecord* kept = record_.Decision("profile:", file.name);
    const Result<Json> json = ParseJson(kept != nullptr ? kept->json : "");
    if (json.ok()) return KernelProfileFromJson(*json);
    const CandidateRecord* about = record_.CandidateOfFile(file.name);
    const std::string key = about != nullptr ? about->key : file.name;
    // Runs of older versions continued from here without an analysis.
    const bool went_on = record_.Call(key + ".analysis") != nullptr ||
                         std::any_of(record_.story().candidates.begin(), record_.story().candidates.end(),
                                     [&](const CandidateRecord& one) {
                                       return one.parent_key == key && StartsWith(one.key, kTuningKeys);
                                     });
    if (went_on) return KernelProfile{"it is not on record", {}};
    return record_.Unknown("profile:" + key, "never_asked");
  }

 private:
  Record& record_;
};

// Copies what the walk cannot reproduce: seeds from runs in another store, and on the run's own walk the
// choices of the search, which used verdicts from before the winner was judged again.
bool CopyGiven(const RunStory& story, bool own_way, int64_t run_id, RunStore* store) {
  for (const DecisionRecord& one : story.decisions) {
    const bool choice = own_way && StepOf(one.key) > 0 && !EndsWith(one.key, ".end");
    if ((choice || StartsWith(one.key, "from:")) && !store->SaveDecision(run_id, one).ok()) return false;
  }
  for (const CandidateRecord& one : story.candidates) {
    if (one.phase != "inherited") continue;
    CandidateRecord seed = one;
    seed.run_id = run_id;
    seed.verdict.clear();
    seed.json.clear();
    if (!store->SaveCandidate(seed).ok()) return false;
  }
  return true;
}

Walked Walk(const RunStory& story, RunOptions options, Questions* own, const Questions* asked) {
  Walked walked;
  Record record(story, own, asked);
  const Result<std::unique_ptr<RunStore>> store = RunStore::OpenInMemory();
  if (!store.ok()) return walked;
  options.budget = Budget();  // what a budget cut off is not on record, and nothing else stops the walk
  RunRecord run;
  run.name = story.run.name;
  run.status = "running";
  run.task = story.run.task;
  run.target = story.run.target;
  run.proposer = story.run.proposer;
  const Result<int64_t> id = (*store)->AddRun(run);
  if (!id.ok()) return walked;
  run.id = *id;
  if (!CopyGiven(story, own != nullptr, run.id, store->get())) return walked;
  const TaskFile task{story.run.task_path, story.run.task, story.run.task_source, story.run.task_sha256};
  RecordModel model(record);
  RecordJudge judge(record);
  Recorder recorder(**store, run, {});
  // The walk ends with an Error where the record ends. The store has its results up to that point.
  (void)Spine(recorder, judge, &model, task, options).Run().ok();
  walked.unknown = record.TakeUnknown();
  if (const auto candidates = (*store)->Candidates(run.id); candidates.ok())
    for (const CandidateRecord& one : *candidates)
      if (one.phase != "zero" && one.judged()) walked.candidates.insert(one.key);
  if (const auto calls = (*store)->Calls(run.id); calls.ok())
    for (const CallRecord& one : *calls) walked.calls.insert(one.key);
  return walked;
}

}  // namespace

Walked WalkOwnWay(const RunStory& story, const RunOptions& options, Questions* asked) {
  return Walk(story, options, asked, nullptr);
}

Walked WalkOtherWay(const RunStory& story, const RunOptions& options, const Questions& asked) {
  return Walk(story, options, nullptr, &asked);
}

}  // namespace hone

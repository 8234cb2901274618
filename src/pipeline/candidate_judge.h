// The pipeline's interface to the judge: what the spine needs of it, the real judge over a reference session,
// and a fake for tests. The session is opened by the first call that needs it, so that resuming a run whose
// verdicts are all in the store costs no import of torch.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>

#include "analysis/mend.h"
#include "base/clock.h"
#include "evaluation/evaluator.h"
#include "evaluation/kernel_profile.h"
#include "pipeline/verdict_reuse.h"
#include "store/run_store.h"
#include "verdict/verdict.h"

namespace hone {

struct Judged {
  Verdict verdict;
  // What `bench --json` prints. Of a verdict from the store it has the measurement as well, and says where it
  // was reached (from_store).
  OrderedJson record;
  Measurement measurement;
};
// A verdict that was recorded. What a run keeps of a verdict is in it; the rest stays in the record.
Judged JudgedFromRecord(const Json& record);
// Whether the record of a verdict says that it was taken from the store.
bool IsFromStore(const Json& record);

// What prompts and the expert want to know about the task on this device; plain values, kept with the run.
struct TaskContext {
  Json card;
  Json facts;    // as the reference worker reported them
  Json device;   // limits, for prompts
  Json machine;  // for the expert
  Json graph;    // graph/graph_json.h; null if it could not be captured, and why_no_graph says why
  std::string why_no_graph;
  Json preparation;  // seconds, and steps by name
  std::string device_name;
  std::string best_rung;  // the best baseline, by a short timing
  double best_us = 0;
};
Json ToJson(const TaskContext& context);
TaskContext TaskContextFromJson(const Json& json);

class CandidateJudge {
 public:
  virtual ~CandidateJudge() = default;
  // Said once, before the first question: whatever is being answered then ends with an Error, as with Ctrl-C.
  virtual void EndAt(Deadline end) = 0;
  // A candidate before it is judged, with what static analysis says of it.
  virtual CandidateRecord Describe(const std::string& key, const std::string& phase,
                                   const std::string& source, const std::string& task_source);
  // A failed candidate as mechanical repair leaves it, on the machine of the facts (mending.h).
  virtual MendedSource Mend(const CandidateRecord& failed, const std::string& task_source, const Json& facts);
  virtual Result<TaskContext> Context(const Progress& progress) = 0;
  // A settled verdict on the same bytes under the same conditions, which does not count as an evaluation.
  virtual Result<std::optional<Judged>> Known(const CandidateFile&) { return std::optional<Judged>(); }
  virtual Result<Judged> Judge(const CandidateFile& candidate, const Progress& progress) = 0;
  // Judges an accepted candidate on cases that nobody has seen yet. Nothing: this judge has no other cases.
  // `chosen`: it is the best of several, so part of its lead may be chance; otherwise one more pair of
  // processes that is ahead is enough.
  virtual Result<std::optional<Judged>> JudgeAnew(const CandidateFile&, bool /*chosen*/, const Progress&) {
    return std::optional<Judged>();
  }
  virtual Result<QuickLook> Look(const CandidateFile& candidate, const Progress& progress) = 0;
  virtual Result<KernelProfile> Profile(const CandidateFile& candidate) = 0;
};

class SessionJudge : public CandidateJudge {
 public:
  // `several`: more than one candidate will follow; a second interpreter may wait.
  SessionJudge(TaskFile task, SessionOptions options, bool several);

  void EndAt(Deadline end) override { options_.end = end; }
  Result<TaskContext> Context(const Progress& progress) override;
  Result<std::optional<Judged>> Known(const CandidateFile& candidate) override;
  Result<Judged> Judge(const CandidateFile& candidate, const Progress& progress) override;
  Result<std::optional<Judged>> JudgeAnew(const CandidateFile& candidate, bool chosen,
                                          const Progress& progress) override;
  Result<QuickLook> Look(const CandidateFile& candidate, const Progress& progress) override;
  Result<KernelProfile> Profile(const CandidateFile& candidate) override;

  Result<ReferenceSession*> Session(const Progress& progress);
  // Verdicts of this store are given again; without one every question is judged.
  void ReuseFrom(RunStore* store) { known_ = store; }
  // What follows the candidates that are judged from now on: no interpreter is started for one that never
  // comes.
  void SetNext(NextCandidate next) { next_ = next; }

 private:
  Result<Judged> JudgeIn(const CandidateFile& candidate, bool once_more, const Progress& progress);
  const JudgingMachine& Machine();

  TaskFile task_;
  SessionOptions options_;
  RunStore* known_ = nullptr;
  std::once_flag identified_;
  JudgingMachine machine_;
  bool several_;
  std::atomic<NextCandidate> next_;
  std::mutex mutex_;
  std::unique_ptr<ReferenceSession> session_;
  std::unique_ptr<Evaluator> evaluator_;
  // On a CPU the cores are the device: one evaluation at a time. Beside a GPU, compilers may share them.
  std::counting_semaphore<16> slots_;
  double prepared_s_ = 0;
  double prepared_reference_s_ = 0;
};

}  // namespace hone

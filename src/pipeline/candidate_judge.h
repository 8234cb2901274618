// The pipeline's interface to the judge: what the spine needs from it, the real judge over a reference
// session, and a fake for tests. The first call that needs the session opens it, so that resuming a run whose
// verdicts are all stored does not import torch.
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
  // The output of `bench --json`. For a verdict from the store it also has the measurement and the origin
  // (from_store).
  OrderedJson record;
  Measurement measurement;
};
// Converts a recorded verdict. It has the fields that a run keeps; the rest stays in the record.
Judged JudgedFromRecord(const Json& record);
// The record that a run keeps: with the measurement.
OrderedJson RecordWithMeasurement(const Judged& judged);
// Whether a verdict's record says that it was taken from the store.
bool IsFromStore(const Json& record);

// Facts about the task on this device for prompts and the expert; plain values, stored with the run.
struct TaskContext {
  Json card;
  Json facts;    // reported by the reference worker
  Json device;   // limits, for prompts
  Json machine;  // for the expert
  Json graph;    // graph/graph_json.h; null if the capture failed, and why_no_graph has the reason
  std::string why_no_graph;
  Json preparation;  // seconds, and steps by name
  std::string device_name;
  std::string best_rung;  // the best baseline in a short timing
  double best_us = 0;
};
Json ToJson(const TaskContext& context);
TaskContext TaskContextFromJson(const Json& json);

class CandidateJudge {
 public:
  virtual ~CandidateJudge() = default;
  // Call once, before the first request: a request that is running at this time ends with an Error, as with
  // Ctrl-C.
  virtual void EndAt(Deadline end) = 0;
  // Describes a candidate before it is judged, with the findings of static analysis.
  virtual CandidateRecord Describe(const std::string& key, const std::string& phase,
                                   const std::string& source, const std::string& task_source);
  // The failed candidate after mechanical repair, for the machine that the facts describe (mending.h).
  virtual MendedSource Mend(const CandidateRecord& failed, const std::string& task_source, const Json& facts);
  virtual Result<TaskContext> Context(const Progress& progress) = 0;
  // A settled verdict on the same bytes under the same conditions. It does not count as an evaluation.
  virtual Result<std::optional<Judged>> Known(const CandidateFile&) { return std::optional<Judged>(); }
  virtual Result<Judged> Judge(const CandidateFile& candidate, const Progress& progress) = 0;
  // Judges an accepted candidate on new cases. No value if this judge has no other cases. `chosen`: it is the
  // best of several, so part of its lead may be chance. Otherwise one more pair of processes that is ahead
  // suffices.
  virtual Result<std::optional<Judged>> JudgeAnew(const CandidateFile&, bool /*chosen*/, const Progress&) {
    return std::optional<Judged>();
  }
  virtual Result<QuickLook> Look(const CandidateFile& candidate, const Progress& progress) = 0;
  virtual Result<KernelProfile> Profile(const CandidateFile& candidate) = 0;
};

class SessionJudge : public CandidateJudge {
 public:
  // `several`: more than one candidate will follow, so a second interpreter may wait.
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
  // Reuses verdicts of this store. Without one, every request is judged.
  void ReuseFrom(RunStore* store) { known_ = store; }
  // Says what follows the next candidates, so that no interpreter is started for a candidate that never
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
  // On a CPU the cores are the device, so only one evaluation runs at a time. With a GPU, compilers may share
  // them.
  std::counting_semaphore<16> slots_;
  double prepared_s_ = 0;
  double prepared_reference_s_ = 0;
};

}  // namespace hone

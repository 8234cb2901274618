// The pipeline from top to bottom: card, candidates, judge, repair, analysis, algorithm, tuning or search,
// best of all.
//
// A run is a function of its options and the answers of models and the judge, and every answer is stored
// under a key. Resuming runs it again: stored answers are not requested a second time, so a run killed at any
// moment ends as if undisturbed.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "model/analysis_record.h"
#include "model/model.h"
#include "model/prompt.h"
#include "pipeline/agent_desk.h"
#include "pipeline/agent_program.h"
#include "pipeline/candidate_judge.h"
#include "pipeline/operator_choice.h"
#include "pipeline/recorder.h"
#include "pipeline/rules.h"
#include "pipeline/run_options.h"
#include "pipeline/spend_gate.h"

namespace hone {

struct RunEnd {
  std::string status;   // "done", "stopped" or "failed"
  std::string result;   // see store/run_result.h
  std::string outcome;  // one sentence
  std::optional<CandidateRecord> best;
};

class Spine {
 public:
  // `model` is null for the expert and for imported files.
  Spine(Recorder& recorder, CandidateJudge& judge, Model* model, const TaskFile& task, RunOptions options);

  // Replaces the agent's process in tests.
  void UseAgent(AgentProgram* program) { agent_ = program; }

  // Returns an Error only if Hone itself failed. Ctrl-C, a spent budget and an unreachable model end the run
  // with its best so far.
  Result<RunEnd> Run();

 private:
  // The stages, in order (spine.cpp, branch.cpp, expert_stage.cpp, inherited.cpp, tuning.cpp,
  // population_stage.cpp, profiling.cpp).
  Status LearnTask();
  Status KeepPyTorchAsZero();
  Status Expert();
  Status Imported();
  Status Agent();
  Status Seeds();
  Status Branch(int seed);
  Status Inherited();
  Status Tuning();
  Status Population();
  Result<RunEnd> Conclude(const Status& went);
  // Empty if there was a candidate, however wrong.
  Result<std::string> WhyNoCandidateCame();

  // The steps of one seed (branch.cpp).
  Result<std::optional<CandidateRecord>> ProposeAndRepair(const std::string& key, const std::string& parent,
                                                          const std::string& call_type,
                                                          const std::string& repair_type, PromptInputs inputs,
                                                          const std::optional<AnalysisRecord>& asked);
  // The failed candidate, or its mechanical repair if that reached at least the same step (mending.cpp).
  // `was_left`: an earlier session continued after this candidate, with or without a repair of it.
  Result<CandidateRecord> MendMechanically(const CandidateRecord& failed, bool was_left = false);
  Result<bool> WentOnFrom(const CandidateRecord& failed);
  Result<bool> OpeningHasBegun();
  Result<std::optional<AnalysisRecord>> Analyse(const CandidateRecord& candidate);

  // An agent's session (agent_stage.cpp).
  struct AgentSitting;
  Status OpenAgentFolder(AgentSitting& sitting);
  Status SitWith(AgentSitting& sitting);
  Json AnswerAgent(AgentSitting& sitting, const DeskRequest& request,
                   const std::function<bool()>& still_there);
  Result<Json> BenchForAgent(AgentSitting& sitting, const DeskRequest& request,
                             const std::function<bool()>& still_there);
  Result<std::optional<CandidateRecord>> OfAgent(const std::string& sha256);
  Json LeftForAgent(const AgentSitting& sitting);

  // Tuning (tuning.cpp).
  Result<std::string> WhyNotTunedNow(const CandidateRecord& best);
  Status Stage(const std::string& stage, CandidateRecord* best);
  Result<std::optional<CandidateRecord>> Search(const CandidateRecord& base, const std::string& key);

  // The search after the opening (population_stage.cpp).
  Status SayThatTheSearchBegins();
  Result<SearchArchive> ReadArchive(int before_step);
  // Null where no recording is followed, or it has no such step.
  const RecordedStep* RecordedAs(int number) const;
  Result<StepChoice> DecideStep(const SearchArchive& archive, int number);
  Status MakeStep(int number, const StepChoice& choice);
  Status MakeStepAsRecorded(int number, const StepChoice& choice);
  int FirstOfGroup(int number) const;
  Result<Json> StepProfile(Operator op, const CandidateRecord& parent, int number);
  Status MakeSteps(const std::vector<std::pair<int, StepChoice>>& steps);
  Status TuneStep(const std::string& key, const CandidateRecord& parent);
  Status EndStep(int number, const StepChoice& choice);
  Result<std::string> DescriptionOf(const CandidateRecord& candidate);
  Result<Json> FailedFacts(const SearchArchive& archive);
  Result<Json> SearchFacts(const StepChoice& choice, int number);

  // From a prompt to judged candidates (proposing.cpp). All of it is stored by key.
  Result<ModelReply> Ask(const std::string& key, const PromptInputs& inputs, int replies = 1);
  Result<std::vector<CandidateRecord>> Propose(const std::string& key, const std::string& parent,
                                               const PromptInputs& inputs, const std::string& other_parent);
  Result<std::vector<CandidateRecord>> ProposeSeveral(const std::string& key, const std::string& parent,
                                                      const std::string& call_type,
                                                      const std::string& other_parent,
                                                      const ModelReply& reply);
  // The best of them. No value if the model could not answer.
  Result<std::optional<CandidateRecord>> ProposeAndJudge(const std::string& key, const std::string& parent,
                                                         const PromptInputs& inputs,
                                                         const std::string& other_parent = "");
  Result<std::string> SaidBefore(const std::string& file, std::string parent);

  // Functions for every stage (spine.cpp). Their results are stored by key.
  Result<CandidateRecord> Judge(CandidateRecord candidate);
  Status ConfirmBest();
  Status SayWhereTimeWent();
  CandidateFile FileOf(const CandidateRecord& candidate) const;
  Result<QuickLook> Look(const std::string& key, const std::string& source);
  // `step` is the search step that requests it; 0: the opening.
  Result<KernelProfile> Profile(const CandidateRecord& candidate, int step = 0);
  // The same for prompts, or what the judge saw if there are no counters.
  Result<Json> ProfileForPrompt(const CandidateRecord& candidate, int step = 0);
  CandidateRecord MakeCandidate(const std::string& key, const std::string& parent, const std::string& phase,
                                const std::string& source) const;
  PromptInputs Inputs(const std::string& call_type) const;
  // The best right candidate of any speed. Tuned candidates that a resumed run finds in the store do not
  // count.
  Result<std::optional<CandidateRecord>> BestBeforeTuning();
  // Call before any costly step. Returns an Error if a budget is spent or the user pressed Ctrl-C.
  Status MayGoOn();
  // One call of the model, within the budget of tokens or money.
  ModelReply AskWithin(const ModelRequest& request, int replies, ModelProgress progress);
  Status ReserveCall();
  Status ReserveEvaluation();
  bool EvaluationsSpent() const;
  Status StopOutOfEvaluations();
  // Handles a result of the judge. If the budget of minutes interrupted it, the run stops.
  template <class T>
  Result<T> Answer(Result<T> answer);
  Error StopOutOfTime();
  Status CountEarlierSittings();
  std::string InterruptedWords();
  Status StopRun(const std::string& status, const std::string& why);
  // The budget for the model is spent: of calls, tokens or money. The winner is still confirmed.
  Status StopAsking(const std::string& why);
  bool AskingStopped();

  Recorder& recorder_;
  CandidateJudge& judge_;
  Model* model_;
  AgentProgram* agent_ = nullptr;
  const TaskFile& task_;
  const RunOptions options_;
  TaskContext context_;
  Deadline deadline_ = Deadline::Never();
  std::map<std::string, ArchiveMember> members_;  // of the archive, by key and whether it
                                                  // was profiled; guarded by members_mutex_
  std::mutex members_mutex_;
  // Evaluations of all sessions, including those reserved by threads.
  std::atomic<int> evaluations_{0};
  std::atomic<int> calls_{0};
  SpendGate spend_gate_;
  std::mutex stop_mutex_;
  std::string stop_status_;  // if not empty, the run ends with this status
  std::string stop_why_;
  bool asking_stopped_ = false;  // the run ends because of StopAsking
  bool confirming_ = false;
};

template <class T>
Result<T> Spine::Answer(Result<T> answer) {
  const bool cut_off = !answer.ok() && answer.error().kind == ErrorKind::kInterrupted;
  if (cut_off && !Interrupted() && deadline_.passed()) return StopOutOfTime();
  return answer;
}

}  // namespace hone

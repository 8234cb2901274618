// The pipeline, read top to bottom: card, candidates, judge, repair, analysis, algorithm, tuning or search,
// best of all.
//
// A run is a function of its options and of what models and the judge answer, and every answer is kept under
// a key. Resuming is running it again: what the store knows is not asked a second time, so a run killed at
// any moment ends as if nothing had happened.
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

namespace hone {

struct RunEnd {
  std::string status;   // "done", "stopped" or "failed"
  std::string result;   // see store/run_result.h
  std::string outcome;  // one sentence
  std::optional<CandidateRecord> best;
};

class Spine {
 public:
  // `model`: null for the expert and for imported files.
  Spine(Recorder& recorder, CandidateJudge& judge, Model* model, const TaskFile& task, RunOptions options);

  // What stands in for the agent's process, in tests.
  void UseAgent(AgentProgram* program) { agent_ = program; }

  // An Error only when Hone itself could not go on; Ctrl-C, a spent budget and a model that cannot be reached
  // end the run with its best so far.
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
  // Empty when one did, be it ever so wrong.
  Result<std::string> WhyNoCandidateCame();

  // One seed's way (branch.cpp).
  Result<std::optional<CandidateRecord>> ProposeAndRepair(const std::string& key, const std::string& parent,
                                                          const std::string& call_type,
                                                          const std::string& repair_type, PromptInputs inputs,
                                                          const std::optional<AnalysisRecord>& asked);
  // The failed candidate, or what mechanical repair makes of it if that got as far (mending.cpp).
  Result<CandidateRecord> MendMechanically(const CandidateRecord& failed);
  Result<std::optional<AnalysisRecord>> Analyse(const CandidateRecord& candidate);

  // An agent's sitting (agent_stage.cpp).
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
  Result<SearchArchive> ReadArchive(int before_step);
  Result<StepChoice> DecideStep(const SearchArchive& archive, int number);
  Status MakeStep(int number, const StepChoice& choice);
  int FirstOfGroup(int number) const;
  Result<Json> StepProfile(Operator op, const CandidateRecord& parent, int number);
  Status MakeSteps(const std::vector<std::pair<int, StepChoice>>& steps);
  Status TuneStep(const std::string& key, const CandidateRecord& parent);
  Status EndStep(int number, const StepChoice& choice);
  Result<std::string> DescriptionOf(const CandidateRecord& candidate);
  Result<Json> SearchFacts(const StepChoice& choice, int number);

  // From a prompt to judged candidates (proposing.cpp). All of it is remembered by key.
  Result<ModelReply> Ask(const std::string& key, const PromptInputs& inputs, int replies = 1);
  Result<std::vector<CandidateRecord>> Propose(const std::string& key, const std::string& parent,
                                               const PromptInputs& inputs, const std::string& other_parent);
  Result<std::vector<CandidateRecord>> ProposeSeveral(const std::string& key, const std::string& parent,
                                                      const std::string& call_type,
                                                      const std::string& other_parent,
                                                      const ModelReply& reply);
  // The best of them; nothing if the model could not answer.
  Result<std::optional<CandidateRecord>> ProposeAndJudge(const std::string& key, const std::string& parent,
                                                         const PromptInputs& inputs,
                                                         const std::string& other_parent = "");
  Result<std::string> SaidBefore(const std::string& file, std::string parent);

  // What every stage uses (spine.cpp). All of it is remembered by key.
  Result<CandidateRecord> Judge(CandidateRecord candidate);
  Status ConfirmBest();
  Status SayWhereTimeWent();
  CandidateFile FileOf(const CandidateRecord& candidate) const;
  Result<QuickLook> Look(const std::string& key, const std::string& source);
  Result<KernelProfile> Profile(const CandidateRecord& candidate);
  // The same for prompts, or what the judge saw where there are no counters.
  Result<Json> ProfileForPrompt(const CandidateRecord& candidate);
  CandidateRecord MakeCandidate(const std::string& key, const std::string& parent, const std::string& phase,
                                const std::string& source) const;
  PromptInputs Inputs(const std::string& call_type) const;
  // Right, whatever its speed. A resumed run may find tuned candidates in the store: they do not count.
  Result<std::optional<CandidateRecord>> BestBeforeTuning();
  // Before anything that costs: an Error once a budget is spent or the user pressed Ctrl-C.
  Status MayGoOn();
  // Counts what calls have used so far; the caller holds the turn (model_turn_).
  Status SpendOnModel();
  Status ReserveCall();
  Status ReserveEvaluation();
  bool EvaluationsSpent() const;
  Status StopOutOfEvaluations();
  // Of the judge; where the budget of minutes cut it off, the run stops.
  template <class T>
  Result<T> Answer(Result<T> answer);
  Error StopOutOfTime();
  Status CountEarlierSittings();
  std::string InterruptedWords();
  Status StopRun(const std::string& status, const std::string& why);

  Recorder& recorder_;
  CandidateJudge& judge_;
  Model* model_;
  AgentProgram* agent_ = nullptr;
  const TaskFile& task_;
  const RunOptions options_;
  TaskContext context_;
  Deadline deadline_ = Deadline::Never();
  std::map<std::string, ArchiveMember> members_;  // of the archive, by key; guarded by members_mutex_
  std::mutex members_mutex_;
  // Made in all sittings, or reserved by a thread that works on one.
  std::atomic<int> evaluations_{0};
  std::atomic<int> calls_{0};
  // What a call will use is not known before it ends. With a budget of tokens or money calls therefore take
  // turns, so that only the one that crosses the budget can exceed it, however many seeds go side by side.
  std::mutex model_turn_;
  std::mutex stop_mutex_;
  std::string stop_status_;  // not empty: the run ends, with this status
  std::string stop_why_;
};

template <class T>
Result<T> Spine::Answer(Result<T> answer) {
  const bool cut_off = !answer.ok() && answer.error().kind == ErrorKind::kInterrupted;
  if (cut_off && !Interrupted() && deadline_.passed()) return StopOutOfTime();
  return answer;
}

}  // namespace hone

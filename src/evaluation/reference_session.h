// All that does not depend on a candidate: the reference worker, the truth (truth.h), the card, and the
// baselines (baselines.h). It is prepared once and used for every candidate of the task.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/baselines.h"
#include "evaluation/device_plane.h"
#include "evaluation/progress.h"
#include "evaluation/session_options.h"
#include "evaluation/task_graph.h"
#include "evaluation/truth.h"
#include "evaluation/truth_builder.h"
#include "evaluation/worker.h"
#include "task/card.h"
#include "task/task_file.h"

namespace hone {

struct Trial;

class ReferenceSession {
 public:
  static Result<std::unique_ptr<ReferenceSession>> Open(TaskFile task, SessionOptions options,
                                                        const Progress& progress);

  const TaskFile& task() const { return task_; }
  const SessionOptions& options() const { return options_; }
  const Card& card() const { return card_; }
  const Truth& truth() const { return truth_; }
  // The task's graph, or the reason why there is none.
  const TaskGraph& graph() const { return graph_; }
  const std::vector<Case>& cases() const { return truth_.cases; }
  const std::vector<Instance>& instances() const { return truth_.instances; }
  const std::vector<MutantResult>& mutants() const { return truth_.mutants; }
  bool stateful() const { return truth_.stateful; }
  bool random_in_forward() const { return truth_.random; }
  const std::string& truth_note() const { return truth_.note; }
  Limit LimitFor(size_t instance, size_t leaf) const { return truth_.LimitFor(instance, leaf); }
  double WidestLimit() const { return truth_.WidestLimit(); }
  double WidestReferenceError() const { return truth_.WidestReferenceError(); }

  const Ladder& ladder() const { return baselines_->ladder(); }
  const Ceilings& ceilings() const { return baselines_->ceilings(); }
  int threads() const { return baselines_->threads(); }
  double eager_us() const { return baselines_->eager_us(); }
  Status PrepareCompile(const Progress& progress) { return baselines_->PrepareCompile(progress); }
  void RememberCompile(const Timing& timing) const { baselines_->RememberCompile(timing); }
  // Measures PyTorch's current time in microseconds.
  Result<double> TimeEager() { return baselines_->TimeAlone("eager"); }

  const TensorTree& init_inputs() const { return init_inputs_; }
  bool init_inputs_opaque() const { return init_opaque_; }
  const Json& facts() const { return facts_; }
  // -1: not counted yet.
  int64_t reference_launches() const { return launches_; }
  Status CountLaunches();
  WorkerProcess& worker() { return *worker_; }
  // The parent's own access to the device. Null on a CPU and if memory cannot be shared.
  DevicePlane* device_plane() { return plane_.get(); }
  // Holds the values of a case until the lease ends (truth_builder.h).
  Result<CaseLease> Hold(const Case& one, CaseValues wanted = CaseValues::kAll) {
    return builder_->Hold(one, wanted);
  }
  // Whether an answer to the inputs of a timed call passes as in a trial, with a float64 result for these
  // inputs. False if that cannot be checked: with state or random draws, calls depend on earlier calls.
  Result<bool> IsRightAnswer(uint64_t input_seed, const TensorTree& answer);
  // Compares a trial that is nearly right with further samples of PyTorch's own error (second_look.h).
  // Returns the number of samples.
  Result<int> LookAgain(const Case& one, Trial* trial);
  // For callers that use the reference's worker while several candidates are checked at once.
  std::unique_lock<std::recursive_mutex> Alone() { return builder_->Alone(); }
  // Makes other cases under other seeds: inputs, stress weights, and the results of PyTorch and float64. No
  // candidate may be under evaluation.
  Status DrawAnew(const Progress& progress);
  // How inputs and answers of timed blocks are passed.
  const std::string& memory_note() const { return memory_note_; }
  // Starts a fresh process with the first instance and these baselines.
  Result<std::unique_ptr<WorkerProcess>> StartFresh(const std::vector<std::string>& rungs);
  // Makes later processes start with the imports of these baselines.
  void ImportAhead(const std::vector<std::string>& rungs);
  // Seconds for each step of the preparation.
  const std::vector<std::pair<std::string, double>>& preparation() const { return preparation_; }
  // The deadline for one call of a candidate, in seconds.
  double CallDeadline() const;

 private:
  ReferenceSession() = default;
  Status Start(const Progress& progress);
  Status StartWorker(const Progress& progress);
  void OpenDevice();
  // Captures the graph if it is requested, or if the answers do not seem to depend on the inputs.
  Status LearnGraph(const Progress& progress);
  // Uses a separate process, so that the imports and allocations of the capture end with it.
  Result<TaskGraph> CaptureInFreshProcess();
  // Starts a fresh process with the first instance.
  Result<std::unique_ptr<WorkerProcess>> StartInstance();
  // Makes later processes start with torch's compiler imported.
  void ImportCompiler();
  void EndStep(const char* name);

  TaskFile task_;
  SessionOptions options_;
  std::unique_ptr<DevicePlane> plane_;  // destroyed after the members whose values it holds
  std::unique_ptr<WorkerProcess> worker_;
  Json facts_;
  Card card_;
  Truth truth_;
  TaskGraph graph_{{}, "it was not captured"};
  std::unique_ptr<TruthBuilder> builder_;
  std::optional<Baselines> baselines_;
  TensorTree init_inputs_;
  bool init_opaque_ = false;
  bool has_stress_ = false;
  std::vector<std::string> variants_;
  int64_t launches_ = -1;
  Stopwatch step_;
  std::vector<std::pair<std::string, double>> preparation_;
  std::string memory_note_ = "shared memory";
};

}  // namespace hone

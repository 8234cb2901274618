// One of the two processes of a contest, and the blocks it runs.
//
// The memory belongs to the parent. On a CPU a block's inputs are in a region made for this block and passed
// with its message, so no worker process has seen them before. The span ends when the side has reported the
// addresses of its answers and is frozen. The parent then reads them there, so collecting takes no time and
// the side cannot compute meanwhile. On a GPU mapping takes milliseconds, so a side keeps its regions. There
// the span begins before the parent writes the inputs into one region. It ends when the answers have been
// copied into another one and the parent has computed their digest. An empty block takes the same steps, and
// its time is subtracted. If a process's memory cannot be read, answers are collected on the host as well.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluation/answer_form.h"
#include "evaluation/measurement.h"
#include "evaluation/tensor_tree.h"
#include "evaluation/timed_memory.h"
#include "evaluation/worker.h"

namespace hone {

// One draw of get_inputs.
struct InputSet {
  Json tree;
  std::shared_ptr<const TimedRegion> drawn;  // shared with other sets
  size_t base = 0;                           // offset of this set in the region
  size_t size = 0;
  uint64_t seed = 0;
};

// Makes the reference draw one set per seed.
Result<std::vector<InputSet>> DrawInputs(WorkerProcess& reference, TimedMemory& memory,
                                         const std::vector<uint64_t>& seeds);

struct Block {
  std::vector<const InputSet*> revealed;  // all sets that the worker can see
  int calls = 0;                          // calls use the first ones of these
  std::string rung;                       // for the reference; empty for the candidate
  std::string mode = "run";  // "run", "collect" (copy a stored answer instead of calling), "flush" (no call)
  uint64_t seed = 0;
  int64_t flush_bytes = 0;
  // Index of the memory in which answers are collected, if they are. They stay valid until its next block.
  int place = 0;
  bool warms_up = false;  // its answers are not read
};
constexpr int kPlaces = 3;

struct Span {
  double seconds = 0;
  double event_us = 0;            // reported by the worker, not verified
  std::vector<AnswerForm> forms;  // per call; reported by the worker, not verified
};

class TimedSide {
 public:
  TimedSide(WorkerProcess& worker, bool is_candidate, double deadline_s, TimedMemory memory)
      : worker_(worker),
        is_candidate_(is_candidate),
        deadline_s_(deadline_s),
        memory_(memory),
        reads_memory_(!memory.on_device()) {}

  // Prepares for answers with the form of `like`, up to `slots` of them per block. `room` is the size of an
  // answer whose shape depends on the values.
  void ExpectAnswers(const TensorTree& like, int slots, size_t room = 0);
  // Runs one block. Returns no value if the candidate failed; see stop().
  Result<std::optional<Span>> Run(const Block& block);
  // Makes the worker store one answer to inputs that it has, for blocks that only collect. Returns false if
  // the candidate failed.
  Result<bool> KeepSample(const std::string& inputs);
  // Makes the worker free its memory for blocks. Does nothing if the worker has ended.
  void Finish();

  // The answers of the last block.
  const KeptAnswers& answers() const { return answers_; }
  // Whether answers are read in place, so that collecting them takes no time.
  bool reads_memory() const { return reads_memory_; }
  size_t stride() const { return stride_; }
  // The form of an answer. In a block, answers are stride() bytes apart.
  const TensorTree& form() const { return form_; }
  // Whether the inputs of the last block are unchanged.
  bool inputs_intact() const { return inputs_intact_; }
  // Whether calls returned memory of earlier answers. The worker reports it after the next block; it is not
  // verified.
  bool reuses_memory() const { return reuses_memory_; }
  bool is_candidate() const { return is_candidate_; }
  WorkerProcess& worker() { return worker_; }
  const std::optional<Stop>& stop() const { return stop_; }
  // Total time to free inputs and answers, over all blocks.
  double clear_seconds() const { return clear_s_; }
  // Frees the inputs and answers of the last block now.
  Result<bool> Clear();

 private:
  Result<std::shared_ptr<TimedRegion>> InputsOf(size_t bytes);
  Result<std::shared_ptr<TimedRegion>> AnswersAt(const Block& block);
  Status ReadAnswers(const Json& addresses, int calls, std::vector<AnswerForm>* forms);
  Status ReadOthers(std::vector<AnswerForm>* forms);
  Status RefuseInputsAsAnswers(const Json& addresses, int inputs, std::vector<AnswerForm>* forms);
  // Returns no value if the candidate failed.
  template <class Request>
  Result<std::optional<WorkerReply<typename Request::Reply>>> Ask(const Request& request,
                                                                  const std::vector<int>& descriptors);

  WorkerProcess& worker_;
  bool is_candidate_;
  double deadline_s_;
  TimedMemory memory_;
  bool reads_memory_;
  KeptAnswers answers_;
  Json described_;
  std::string last_rung_, last_mode_;
  int slots_ = 0;
  size_t stride_ = 0;
  TensorTree form_;
  // Regions on the device, and whether the worker has mapped them.
  std::shared_ptr<TimedRegion> inputs_, places_[kPlaces];
  bool mapped_inputs_ = false, mapped_places_[kPlaces] = {};
  bool holds_inputs_ = false;
  bool inputs_intact_ = true;
  bool reuses_memory_ = false;
  double clear_s_ = 0;
  std::optional<Stop> stop_;
};

}  // namespace hone

// One of the two processes of a contest, and the blocks it is given.
//
// The memory belongs to the parent. On a CPU a block's inputs lie in a region that is made for this block
// alone and handed over with its message: before that, no process below has seen them. The span ends when the
// side has said where its answers lie and is frozen; the parent then reads them there, so that collecting
// costs nothing and nothing can be computed meanwhile. On a GPU mapping takes milliseconds, so a side keeps
// its regions: the span begins before the parent writes the inputs into one, and ends when the answers were
// copied into another one and the parent has computed their digest. An empty block takes the same steps, and
// its time is subtracted. Where a process's memory must not be read, answers are collected on the host as
// well.
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
  std::shared_ptr<const TimedRegion> drawn;  // with other sets
  size_t base = 0;                           // where it begins there
  size_t size = 0;
  uint64_t seed = 0;
};

// Has the reference draw one set per seed.
Result<std::vector<InputSet>> DrawInputs(WorkerProcess& reference, TimedMemory& memory,
                                         const std::vector<uint64_t>& seeds);

struct Block {
  std::vector<const InputSet*> revealed;  // all that the worker gets to see
  int calls = 0;                          // the first ones of these are called with
  std::string rung;                       // of the reference; empty for the candidate
  std::string mode = "run";  // "run", "collect" (copy a kept answer instead of calling), "flush" (no call)
  uint64_t seed = 0;
  int64_t flush_bytes = 0;
  // Which memory the answers are collected in, where they are: those of a place stay until its next block.
  int place = 0;
  bool warms_up = false;  // nobody looks at its answers
};
constexpr int kPlaces = 3;

struct Span {
  double seconds = 0;
  double event_us = 0;            // the worker's word
  std::vector<AnswerForm> forms;  // per call, as the worker reports it (not verified)
};

class TimedSide {
 public:
  TimedSide(WorkerProcess& worker, bool is_candidate, double deadline_s, TimedMemory memory)
      : worker_(worker),
        is_candidate_(is_candidate),
        deadline_s_(deadline_s),
        memory_(memory),
        reads_memory_(!memory.on_device()) {}

  // Answers will be shaped like `like`; every block has room for `slots` of them. `room`: the bytes of an
  // answer whose shape depends on the values.
  void ExpectAnswers(const TensorTree& like, int slots, size_t room = 0);
  // Runs one block. Nothing: the candidate failed, see stop().
  Result<std::optional<Span>> Run(const Block& block);
  // Has the worker keep one answer to inputs that it holds, for blocks that only collect. False: the
  // candidate failed.
  Result<bool> KeepSample(const std::string& inputs);
  // Has the worker free its memory of blocks. A worker that has ended has done so.
  void Finish();

  // What the last block answered.
  const KeptAnswers& answers() const { return answers_; }
  // Whether answers are read where they lie; then collecting them costs nothing.
  bool reads_memory() const { return reads_memory_; }
  size_t stride() const { return stride_; }
  // What an answer looks like; its leaves begin at the multiples of stride().
  const TensorTree& form() const { return form_; }
  // Whether the last block left its inputs as they were revealed.
  bool inputs_intact() const { return inputs_intact_; }
  // Whether calls returned memory of earlier answers. Reported by the worker, not verified; known once the
  // next block is run.
  bool reuses_memory() const { return reuses_memory_; }
  bool is_candidate() const { return is_candidate_; }
  WorkerProcess& worker() { return worker_; }
  const std::optional<Stop>& stop() const { return stop_; }
  // Time to free inputs and answers so far, over all blocks.
  double clear_seconds() const { return clear_s_; }
  // Lets go of the last block's now.
  Result<bool> Clear();

 private:
  Result<std::shared_ptr<TimedRegion>> InputsOf(size_t bytes);
  Result<std::shared_ptr<TimedRegion>> AnswersAt(const Block& block);
  Status ReadAnswers(const Json& addresses, int calls, std::vector<AnswerForm>* forms);
  Status ReadOthers(std::vector<AnswerForm>* forms);
  Status RefuseInputsAsAnswers(const Json& addresses, int inputs, std::vector<AnswerForm>* forms);
  // Nothing: the candidate failed.
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
  // On the device, and whether the worker has mapped them.
  std::shared_ptr<TimedRegion> inputs_, places_[kPlaces];
  bool mapped_inputs_ = false, mapped_places_[kPlaces] = {};
  bool holds_inputs_ = false;
  bool inputs_intact_ = true;
  bool reuses_memory_ = false;
  double clear_s_ = 0;
  std::optional<Stop> stop_;
};

}  // namespace hone

// One of the two processes of a contest, and the blocks it is given.
//
// The memory belongs to the parent. A block's inputs lie in a region that is made for this block alone and
// handed over with its message: before that, no process below has seen them. On a CPU the span ends when the
// side has said where its answers lie and is frozen; the parent then reads them there, so that collecting
// costs nothing and nothing can be computed meanwhile. On a GPU, and where a process's memory must not be
// read, the memory for the answers is handed over when the calls are done, and the span ends when they are
// copied into it and the parent has taken hold of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluation/measurement.h"
#include "evaluation/tensor_tree.h"
#include "evaluation/timed_memory.h"
#include "evaluation/worker.h"

namespace hone {

// One draw of get_inputs.
struct InputSet {
  Json tree;
  size_t base = 0;  // where it begins in the bytes it was drawn into
  SharedBlob drawn;
  size_t size = 0;

  std::span<const std::byte> bytes() const { return drawn.bytes().subspan(base, size); }
};

// Has the reference draw one set per seed.
Result<std::vector<InputSet>> DrawInputs(WorkerProcess& reference, const std::vector<uint64_t>& seeds);

struct Block {
  std::vector<const InputSet*> revealed;  // all that the worker gets to see
  int calls = 0;                          // the first ones of these are called with
  std::string rung;                       // of the reference; empty for the candidate
  std::string mode = "run";  // "run", "collect" (copy a kept answer instead of calling), "flush" (no call)
  uint64_t seed = 0;
  int64_t flush_bytes = 0;
};

struct Span {
  double seconds = 0;
  double event_us = 0;  // the worker's word
  Json odd;             // answers of another shape than expected, by the worker's word
};

class TimedSide {
 public:
  TimedSide(WorkerProcess& worker, bool is_candidate, double deadline_s, TimedMemory memory)
      : worker_(worker),
        is_candidate_(is_candidate),
        deadline_s_(deadline_s),
        memory_(memory),
        reads_memory_(!memory.on_device()) {}

  // Answers will be shaped like `like`; every block has room for `slots` of them.
  void ExpectAnswers(const TensorTree& like, int slots);
  // Runs one block. Nothing: the candidate failed, see stop().
  Result<std::optional<Span>> Run(const Block& block);
  // Has the worker keep one answer to inputs that it holds, for blocks that only collect. False: the
  // candidate failed.
  Result<bool> KeepSample(const std::string& inputs);

  // What the last block answered.
  const KeptAnswers& answers() const { return answers_; }
  // Whether answers are read where they lie; then collecting them costs nothing.
  bool reads_memory() const { return reads_memory_; }
  size_t stride() const { return stride_; }
  const std::vector<TensorLeaf>& leaves() const { return leaves_; }
  // Whether the last block left its inputs as they were revealed.
  bool inputs_intact() const { return inputs_intact_; }
  // Whether calls handed out memory of earlier answers, by the worker's word. Known once the next block is
  // run.
  bool reuses_memory() const { return reuses_memory_; }
  bool is_candidate() const { return is_candidate_; }
  WorkerProcess& worker() { return worker_; }
  const std::optional<Stop>& stop() const { return stop_; }

 private:
  Status ReadAnswers(const Json& addresses, int calls);
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
  std::vector<TensorLeaf> leaves_;
  bool holds_inputs_ = false;
  bool inputs_intact_ = true;
  bool reuses_memory_ = false;
  std::optional<Stop> stop_;
};

}  // namespace hone

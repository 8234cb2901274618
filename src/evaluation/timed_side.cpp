#include "evaluation/timed_side.h"

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "evaluation/compare.h"
#include "evaluation/timing_messages.h"
#include "process/peer_memory.h"

namespace hone {

namespace {

constexpr size_t kAlign = 64;

size_t Aligned(size_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

Result<std::vector<InputSet>> DrawInputs(WorkerProcess& reference, const std::vector<uint64_t>& seeds) {
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("drawn inputs"));
  HONE_ASSIGN_OR_RETURN(DrawReply reply, reference.Require(DrawRequest{seeds}, {blob.fd()}));
  HONE_RETURN_IF_ERROR(blob.Seal());
  const bool alike = reply.trees.empty();
  if (!alike && reply.trees.size() != reply.bases.size())
    return Error{ErrorKind::kInvalid, "the reference drew inputs that it does not describe"};
  std::vector<InputSet> sets;
  for (size_t i = 0; i < reply.bases.size(); ++i) {
    const size_t end = i + 1 < reply.bases.size() ? reply.bases[i + 1] : blob.bytes().size();
    if (reply.bases[i] > end || end > blob.bytes().size())
      return Error{ErrorKind::kInvalid, "the reference drew inputs outside of their memory"};
    InputSet set;
    set.tree = alike ? reply.layout : std::move(reply.trees[i]);
    set.base = reply.bases[i];
    set.drawn = blob;
    set.size = end - set.base;
    sets.push_back(std::move(set));
  }
  return sets;
}

template <class Request>
Result<std::optional<WorkerReply<typename Request::Reply>>> TimedSide::Ask(
    const Request& request, const std::vector<int>& descriptors) {
  using Reply = WorkerReply<typename Request::Reply>;
  HONE_ASSIGN_OR_RETURN(Reply reply, worker_.Call(request, descriptors, deadline_s_));
  if (reply.ok()) return std::optional<Reply>(std::move(reply));
  if (!is_candidate_)
    return Error{ErrorKind::kInvalid,
                 "the reference failed while it was timed: " + SafeForTerminal(reply.failure->message)};
  stop_ = Stop{Phase::kTiming, *reply.failure};
  return std::optional<Reply>();
}

Result<bool> TimedSide::KeepSample(const std::string& inputs) {
  worker_.Thaw();
  KeepSampleRequest request;
  request.inputs = inputs;
  HONE_ASSIGN_OR_RETURN(const auto reply, Ask(request, {}));
  return reply.has_value();
}

void TimedSide::ExpectAnswers(const TensorTree& like, int slots) {
  leaves_ = like.leaves;
  stride_ = 0;
  slots_ = slots;
  described_ = Json::array();
  for (TensorLeaf& leaf : leaves_) {
    leaf.offset = stride_;
    stride_ += Aligned(leaf.bytes);
    described_.push_back({{"dtype", DtypeName(leaf.dtype)},
                          {"shape", leaf.shape},
                          {"offset", leaf.offset},
                          {"bytes", leaf.bytes}});
  }
}

Result<std::optional<Span>> TimedSide::Run(const Block& block) {
  worker_.Thaw();
  if (holds_inputs_) {
    ClearRequest request;
    request.rung = last_rung_;
    request.mode = last_mode_;
    HONE_ASSIGN_OR_RETURN(const auto cleared, Ask(request, {}));
    if (!cleared) return std::optional<Span>();
    reuses_memory_ = cleared->body.reused;
  }
  size_t total = 0;
  std::vector<size_t> bases;
  std::vector<Json> trees;
  bool alike = true;
  for (const InputSet* set : block.revealed) {
    bases.push_back(total);
    total += Aligned(set->size);
    trees.push_back(set->tree);
    alike = alike && set->tree == block.revealed.front()->tree;
  }
  answers_ = KeptAnswers();
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<TimedRegion> inputs, memory_.Make("inputs of a block", total));
  for (size_t i = 0; i < bases.size(); ++i)
    HONE_RETURN_IF_ERROR(memory_.Put(*inputs, bases[i], block.revealed[i]->bytes()));
  KeptAnswers as_revealed;  // on the device a digest is cheaper than reading the inputs back
  if (memory_.on_device()) {
    HONE_ASSIGN_OR_RETURN(as_revealed, memory_.Keep(inputs));
  }
  BlockRequest request;
  request.bytes = inputs->mapped;
  request.on_device = memory_.on_device();
  request.bases = bases;
  request.calls = block.calls;
  request.rung = block.rung;
  request.mode = block.mode;
  request.seed = block.seed;
  request.flush = block.flush_bytes;
  if (reads_memory_) request.leaves = described_;
  if (alike && !block.revealed.empty())
    request.layout = block.revealed.front()->tree;
  else
    request.trees = std::move(trees);
  HONE_ASSIGN_OR_RETURN(auto reply, Ask(request, {inputs->fd()}));
  if (!reply) return std::optional<Span>();
  Span span;
  if (reads_memory_) {
    worker_.Freeze();
    span.seconds = static_cast<double>(NowNs() - reply->sent_ns) * 1e-9;
    span.odd = std::move(reply->body.odd);
    const Status read = ReadAnswers(reply->body.answers, block.calls);
    if (!read.ok() && read.error().kind == ErrorKind::kUnavailable) {
      reads_memory_ = false;  // for good: this kernel does not allow it
      return Run(block);
    }
    if (!read.ok()) {
      if (!is_candidate_) return read.error();
      stop_ = Stop{Phase::kTiming, WorkerFailure{FailureKind::kProtocol, "", read.error().message, ""}};
      return std::optional<Span>();
    }
  } else {
    HONE_ASSIGN_OR_RETURN(const std::shared_ptr<TimedRegion> answers,
                          memory_.Make("answers", stride_ * static_cast<size_t>(slots_)));
    HONE_RETURN_IF_ERROR(memory_.Fill(*answers, kPoisonByte));
    CollectRequest collect;
    collect.leaves = described_;
    collect.stride = stride_;
    collect.bytes = answers->mapped;
    collect.on_device = memory_.on_device();
    HONE_ASSIGN_OR_RETURN(auto collected, Ask(collect, {answers->fd()}));
    if (!collected) return std::optional<Span>();
    // What runs on a device cannot be stopped; the digest says what the answers were.
    if (!memory_.on_device()) worker_.Freeze();
    int64_t end_ns = NowNs();
    HONE_ASSIGN_OR_RETURN(answers_, memory_.Keep(answers));
    if (memory_.on_device()) end_ns = NowNs();
    worker_.Freeze();
    span.seconds = static_cast<double>(end_ns - reply->sent_ns) * 1e-9;
    span.odd = std::move(collected->body.odd);
  }
  span.event_us = reply->body.event_us;
  last_rung_ = block.rung;
  last_mode_ = block.mode;
  holds_inputs_ = true;
  inputs_intact_ = true;
  if (memory_.on_device()) {
    HONE_ASSIGN_OR_RETURN(inputs_intact_, memory_.Unchanged(as_revealed));
  }
  for (size_t i = 0; !memory_.on_device() && inputs_intact_ && i < bases.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(inputs_intact_, memory_.Holds(*inputs, bases[i], block.revealed[i]->bytes()));
  }
  return std::optional<Span>(span);
}

// One address per leaf and call, as the worker told them. A worker that lies about them has answered
// something else.
Status TimedSide::ReadAnswers(const Json& addresses, int calls) {
  answers_.bytes.assign(stride_ * static_cast<size_t>(slots_), static_cast<std::byte>(kPoisonByte));
  for (size_t call = 0; call < static_cast<size_t>(calls); ++call)
    for (size_t i = 0; i < leaves_.size(); ++i) {
      const bool told = addresses.is_array() && call < addresses.size() && addresses[call].is_array() &&
                        i < addresses[call].size() && addresses[call][i].is_number_integer();
      const uint64_t address = told ? static_cast<uint64_t>(addresses[call][i].get<int64_t>()) : 0;
      if (leaves_[i].bytes == 0 || address == 0)
        continue;  // stays poison: it was told to be of another shape
      const std::span<std::byte> to =
          std::span(answers_.bytes).subspan(call * stride_ + leaves_[i].offset, leaves_[i].bytes);
      HONE_RETURN_IF_ERROR(ReadPeerMemory(worker_.pid(), address, to));
    }
  return Ok();
}

}  // namespace hone

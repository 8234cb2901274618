#include "evaluation/timed_side.h"

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "evaluation/compare.h"
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
  HONE_ASSIGN_OR_RETURN(const Json reply, reference.Require("draw", {{"seeds", seeds}}, {blob.fd()}));
  HONE_RETURN_IF_ERROR(blob.Seal());
  const Json& bases = GetMember(reply, "bases");
  const Json& trees = GetMember(reply, "trees");
  std::vector<InputSet> sets;
  for (size_t i = 0; i < bases.size(); ++i) {
    InputSet set;
    set.tree = trees.is_array() ? trees[i] : GetMember(reply, "layout");
    set.base = bases[i].get<size_t>();
    set.drawn = blob;
    set.size = (i + 1 < bases.size() ? bases[i + 1].get<size_t>() : blob.bytes().size()) - set.base;
    sets.push_back(std::move(set));
  }
  return sets;
}

Result<std::optional<WorkerReply>> TimedSide::Ask(const std::string& verb, Json message,
                                                  const std::vector<int>& descriptors) {
  message["slot"] = "default";
  HONE_ASSIGN_OR_RETURN(WorkerReply reply, worker_.Call(verb, std::move(message), descriptors, deadline_s_));
  if (reply.ok()) return std::optional<WorkerReply>(std::move(reply));
  if (!is_candidate_)
    return Error{ErrorKind::kInvalid,
                 "the reference failed while it was timed: " + SafeForTerminal(reply.failure->message)};
  stop_ = Stop{"timing", *reply.failure};
  return std::optional<WorkerReply>();
}

Result<bool> TimedSide::Tell(const std::string& verb, Json message) {
  worker_.Thaw();
  HONE_ASSIGN_OR_RETURN(const auto reply, Ask(verb, std::move(message), {}));
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
    HONE_ASSIGN_OR_RETURN(const auto cleared, Ask("clear", {{"rung", last_rung_}, {"mode", last_mode_}}, {}));
    if (!cleared) return std::optional<Span>();
    reuses_memory_ = GetBool(cleared->body, "reused");
  }
  size_t total = 0;
  std::vector<size_t> bases;
  Json trees = Json::array();
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
  Json message = {{"bytes", inputs->mapped}, {"on_device", memory_.on_device()},
                  {"bases", bases},          {"calls", block.calls},
                  {"rung", block.rung},      {"mode", block.mode},
                  {"seed", block.seed},      {"flush", block.flush_bytes}};
  if (reads_memory_) message["leaves"] = described_;
  if (alike && !block.revealed.empty())
    message["layout"] = block.revealed.front()->tree;
  else
    message["trees"] = std::move(trees);
  HONE_ASSIGN_OR_RETURN(const auto reply, Ask("block", std::move(message), {inputs->fd()}));
  if (!reply) return std::optional<Span>();
  Span span;
  if (reads_memory_) {
    worker_.Freeze();
    span.seconds = static_cast<double>(NowNs() - reply->sent_ns) * 1e-9;
    span.odd = GetMember(reply->body, "odd");
    const Status read = ReadAnswers(GetMember(reply->body, "answers"), block.calls);
    if (!read.ok() && read.error().kind == ErrorKind::kUnavailable) {
      reads_memory_ = false;  // for good: this kernel does not allow it
      return Run(block);
    }
    if (!read.ok()) {
      if (!is_candidate_) return read.error();
      stop_ = Stop{"timing", WorkerFailure{FailureKind::kProtocol, "", read.error().message, ""}};
      return std::optional<Span>();
    }
  } else {
    HONE_ASSIGN_OR_RETURN(const std::shared_ptr<TimedRegion> answers,
                          memory_.Make("answers", stride_ * static_cast<size_t>(slots_)));
    HONE_RETURN_IF_ERROR(memory_.Fill(*answers, kPoisonByte));
    HONE_ASSIGN_OR_RETURN(const auto collected, Ask("collect",
                                                    {{"leaves", described_},
                                                     {"stride", stride_},
                                                     {"bytes", answers->mapped},
                                                     {"on_device", memory_.on_device()}},
                                                    {answers->fd()}));
    if (!collected) return std::optional<Span>();
    // What runs on a device cannot be stopped; the digest says what the answers were.
    if (!memory_.on_device()) worker_.Freeze();
    int64_t end_ns = NowNs();
    HONE_ASSIGN_OR_RETURN(answers_, memory_.Keep(answers));
    if (memory_.on_device()) end_ns = NowNs();
    worker_.Freeze();
    span.seconds = static_cast<double>(end_ns - reply->sent_ns) * 1e-9;
    span.odd = GetMember(collected->body, "odd");
  }
  span.event_us = GetNumber(reply->body, "event_us");
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

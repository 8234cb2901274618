#include "evaluation/timed_side.h"

#include <algorithm>

#include "base/clock.h"
#include "base/ids.h"
#include "base/text.h"
#include "evaluation/compare.h"
#include "evaluation/run_messages.h"
#include "evaluation/timing_messages.h"
#include "process/peer_memory.h"

namespace hone {

namespace {

constexpr size_t kAlign = 64;
constexpr size_t kOtherRoom = 8;
// Checks one block in four, at random, because reading a process's mappings takes a millisecond.
constexpr uint64_t kLooksAtMappings = 4;
constexpr size_t kLeastRoom = size_t{1} << 20;

size_t Aligned(size_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

// Input sets that are adjacent both where they were drawn and in the block.
struct Stretch {
  const TimedRegion* drawn = nullptr;
  size_t base = 0, to = 0, size = 0;
};

std::vector<Stretch> StretchesOf(const std::vector<const InputSet*>& sets, const std::vector<size_t>& bases) {
  std::vector<Stretch> found;
  for (size_t i = 0; i < sets.size(); ++i) {
    const InputSet& set = *sets[i];
    if (!found.empty()) {
      Stretch& last = found.back();
      const size_t gap = bases[i] - last.to - last.size;  // up to the next multiple of the alignment
      if (last.drawn == set.drawn.get() && set.base == last.base + last.size + gap) {
        last.size += gap + set.size;
        continue;
      }
    }
    found.push_back({set.drawn.get(), set.base, bases[i], set.size});
  }
  return found;
}

}  // namespace

Result<std::vector<InputSet>> DrawInputs(WorkerProcess& reference, TimedMemory& memory,
                                         const std::vector<uint64_t>& seeds) {
  std::shared_ptr<TimedRegion> drawn;
  DrawReply reply;
  if (memory.on_device()) {
    HONE_ASSIGN_OR_RETURN(reply, reference.Require(DrawRequest{seeds, true}));
    HONE_ASSIGN_OR_RETURN(drawn, memory.Make("drawn inputs", reply.total));
    HONE_RETURN_IF_ERROR(reference.Require(FetchRequest{drawn->mapped, true}, {drawn->fd()}));
  } else {
    HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("drawn inputs"));
    HONE_ASSIGN_OR_RETURN(reply, reference.Require(DrawRequest{seeds}, {blob.fd()}));
    HONE_RETURN_IF_ERROR(blob.Seal());
    drawn = std::make_shared<TimedRegion>();
    drawn->bytes = blob.bytes().size();
    drawn->sealed = std::move(blob);
  }
  const bool alike = reply.trees.empty();
  if (!alike && reply.trees.size() != reply.bases.size())
    return Error{ErrorKind::kInvalid, "the reference drew inputs that it does not describe"};
  std::vector<InputSet> sets;
  for (size_t i = 0; i < reply.bases.size(); ++i) {
    const size_t end = i + 1 < reply.bases.size() ? reply.bases[i + 1] : drawn->bytes;
    if (reply.bases[i] > end || end > drawn->bytes)
      return Error{ErrorKind::kInvalid, "the reference drew inputs outside of their memory"};
    InputSet set;
    set.tree = alike ? reply.layout : std::move(reply.trees[i]);
    set.drawn = drawn;
    set.base = reply.bases[i];
    set.size = end - set.base;
    set.seed = i < seeds.size() ? seeds[i] : 0;
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

void TimedSide::ExpectAnswers(const TensorTree& like, int slots, size_t room) {
  form_ = like;
  form_.blob = SharedBlob();
  form_.device.reset();
  for (int i = 0; i < kPlaces; ++i) {
    places_[i].reset();
    mapped_places_[i] = false;
  }
  stride_ = 0;
  slots_ = slots;
  described_ = Json::array();
  for (TensorLeaf& leaf : form_.leaves) {
    leaf.offset = stride_;
    stride_ += Aligned(leaf.bytes);
    described_.push_back({{"dtype", DtypeName(leaf.dtype)},
                          {"shape", leaf.shape},
                          {"offset", leaf.offset},
                          {"bytes", leaf.bytes}});
  }
  form_.size = stride_;
  stride_ = std::max(stride_, Aligned(room));
}

void TimedSide::Finish() {
  if (!worker_.alive()) return;
  worker_.Thaw();
  ClearRequest request;
  request.end = true;
  (void)worker_.Call(request, deadline_s_);
}

Result<std::shared_ptr<TimedRegion>> TimedSide::InputsOf(size_t bytes) {
  if (!memory_.on_device()) return memory_.Make("inputs of a block", bytes);
  if (inputs_ == nullptr || inputs_->bytes < bytes) {
    inputs_.reset();
    HONE_ASSIGN_OR_RETURN(inputs_, memory_.Make("inputs of a block", bytes));
    mapped_inputs_ = false;
  }
  return inputs_;
}

// Memory for the answers, filled with the poison byte.
Result<std::shared_ptr<TimedRegion>> TimedSide::AnswersAt(const Block& block) {
  std::shared_ptr<TimedRegion>& place = places_[block.place];
  if (place == nullptr || !memory_.on_device()) {
    HONE_ASSIGN_OR_RETURN(place, memory_.Make("answers", stride_ * static_cast<size_t>(slots_)));
    HONE_RETURN_IF_ERROR(memory_.Fill(*place, kPoisonByte));
    mapped_places_[block.place] = false;
  } else if (block.calls > 0) {
    HONE_RETURN_IF_ERROR(memory_.Fill(*place, kPoisonByte));
  }
  return place;
}

// A candidate could use this step for hidden work, so it is timed on both sides (Round::clear_s).
Result<bool> TimedSide::Clear() {
  worker_.Thaw();
  if (!holds_inputs_) return true;
  ClearRequest request;
  request.rung = last_rung_;
  request.mode = last_mode_;
  HONE_ASSIGN_OR_RETURN(const auto cleared, Ask(request, {}));
  if (!cleared) return false;
  clear_s_ += cleared->seconds();
  reuses_memory_ = cleared->body.reused;
  holds_inputs_ = false;
  return true;
}

Result<std::optional<Span>> TimedSide::Run(const Block& block) {
  const bool on_device = memory_.on_device();
  if (on_device) {
    HONE_ASSIGN_OR_RETURN(const bool cleared, Clear());
    if (!cleared) return std::optional<Span>();
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
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<TimedRegion> inputs, InputsOf(total));
  std::shared_ptr<TimedRegion> answers;
  if (!reads_memory_) {
    HONE_ASSIGN_OR_RETURN(answers, AnswersAt(block));
  }
  int64_t begin_ns = NowNs();
  const std::vector<Stretch> stretches = StretchesOf(block.revealed, bases);
  for (const Stretch& one : stretches)
    HONE_RETURN_IF_ERROR(memory_.Put(*inputs, one.to, *one.drawn, one.base, one.size));
  // On a host the side stays frozen until everything is ready. Its pool of threads spins for milliseconds
  // after it was thawed. Beside the copies above, two of its threads would share a processor, and the block
  // would begin by waiting for the scheduler to part them.
  if (!on_device) {
    HONE_ASSIGN_OR_RETURN(const bool cleared, Clear());
    if (!cleared) return std::optional<Span>();
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
  if (reads_memory_) request.form = form_.description;
  if (alike && !block.revealed.empty())
    request.layout = block.revealed.front()->tree;
  else
    request.trees = std::move(trees);
  HONE_ASSIGN_OR_RETURN(auto reply,
                        Ask(request, mapped_inputs_ ? std::vector<int>() : std::vector<int>{inputs->fd()}));
  if (!reply) return std::optional<Span>();
  mapped_inputs_ = on_device;
  if (!on_device) begin_ns = reply->sent_ns;  // no process had access to the region before
  Span span;
  if (reads_memory_) {
    worker_.Freeze();
    span.seconds = static_cast<double>(NowNs() - begin_ns) * 1e-9;
    const int calls = block.warms_up ? 0 : block.calls;  // answers of a warm-up are not needed
    span.forms = ReadForms(reply->body.numbers, reply->body.odd, calls);
    const Status read = ReadAnswers(reply->body.answers, calls, &span.forms);
    if (is_candidate_ && read.ok() && calls > 0 && RandomU64() % kLooksAtMappings == 0)
      HONE_RETURN_IF_ERROR(RefuseInputsAsAnswers(reply->body.answers, inputs->fd(), &span.forms));
    if (!read.ok() && read.error().kind == ErrorKind::kUnavailable) {
      reads_memory_ = false;  // permanently, because this kernel forbids it
      return Run(block);
    }
    if (!read.ok()) {
      if (!is_candidate_) return read.error();
      stop_ = Stop{Phase::kTiming, WorkerFailure{FailureKind::kProtocol, "", read.error().message, ""}};
      return std::optional<Span>();
    }
  } else {
    CollectRequest collect;
    collect.form = form_.description;
    collect.leaves = described_;
    collect.stride = stride_;
    collect.bytes = answers->mapped;
    collect.on_device = on_device;
    collect.place = block.place;
    bool& mapped = mapped_places_[block.place];
    HONE_ASSIGN_OR_RETURN(auto collected,
                          Ask(collect, mapped ? std::vector<int>() : std::vector<int>{answers->fd()}));
    if (!collected) return std::optional<Span>();
    mapped = on_device;
    // Work on a device cannot be stopped. The digest records the answers.
    if (!on_device) worker_.Freeze();
    int64_t end_ns = NowNs();
    HONE_ASSIGN_OR_RETURN(answers_, memory_.Keep(answers));
    if (on_device) end_ns = NowNs();
    worker_.Freeze();
    span.seconds = static_cast<double>(end_ns - begin_ns) * 1e-9;
    span.forms = ReadForms(collected->body.numbers, collected->body.odd, block.calls);
    for (size_t call = 0; call < span.forms.size(); ++call) {
      AnswerForm& form = span.forms[call];
      form.base = call * stride_;
      form.lost = form.lost || (form.other != nullptr && form.other->size > stride_);
    }
  }
  span.event_us = reply->body.event_us;
  last_rung_ = block.rung;
  last_mode_ = block.mode;
  holds_inputs_ = true;
  inputs_intact_ = true;
  if (block.warms_up || block.calls == 0) return std::optional<Span>(span);  // the answers are not needed
  for (const Stretch& one : stretches) {
    HONE_ASSIGN_OR_RETURN(const bool intact, memory_.Holds(*inputs, one.to, *one.drawn, one.base, one.size));
    inputs_intact_ = inputs_intact_ && intact;
  }
  return std::optional<Span>(span);
}

// The worker reports one address per leaf and call. A false address only makes its answer wrong.
Status TimedSide::ReadAnswers(const Json& addresses, int calls, std::vector<AnswerForm>* forms) {
  if (calls == 0) return Ok();
  answers_.bytes.assign(stride_ * static_cast<size_t>(slots_), static_cast<std::byte>(kPoisonByte));
  for (size_t call = 0; call < static_cast<size_t>(calls); ++call)
    for (size_t i = 0; i < form_.leaves.size(); ++i) {
      const TensorLeaf& leaf = form_.leaves[i];
      const bool told = addresses.is_array() && call < addresses.size() && addresses[call].is_array() &&
                        i < addresses[call].size() && addresses[call][i].is_number_integer();
      const uint64_t address = told ? static_cast<uint64_t>(addresses[call][i].get<int64_t>()) : 0;
      if (leaf.bytes == 0 || address == 0)
        continue;  // stays poison, because its form was reported as different
      const std::span<std::byte> to =
          std::span(answers_.bytes).subspan(call * stride_ + leaf.offset, leaf.bytes);
      HONE_RETURN_IF_ERROR(ReadPeerMemory(worker_.pid(), address, to));
    }
  return ReadOthers(forms);
}

// Answers are read in place, so a worker could report an input's address as its answer, also through a second
// mapping of that memory.
Status TimedSide::RefuseInputsAsAnswers(const Json& addresses, int inputs, std::vector<AnswerForm>* forms) {
  HONE_ASSIGN_OR_RETURN(const std::vector<AddressRange> ranges, PeerMappingsOf(worker_.pid(), inputs));
  for (size_t call = 0; call < forms->size() && addresses.is_array() && call < addresses.size(); ++call)
    for (size_t i = 0; i < form_.leaves.size(); ++i) {
      if (!addresses[call].is_array() || i >= addresses[call].size()) continue;
      const TensorLeaf& leaf = form_.leaves[i];
      if (leaf.bytes == 0 || !leaf.shared.empty() || !addresses[call][i].is_number_integer()) continue;
      const auto address = static_cast<uint64_t>(addresses[call][i].get<int64_t>());
      for (const AddressRange& range : ranges)
        (*forms)[call].lost = (*forms)[call].lost || range.Holds(address);
    }
  return Ok();
}

// Answers with another form are stored after the others. Their total size is limited, because a worker could
// report any size.
Status TimedSide::ReadOthers(std::vector<AnswerForm>* forms) {
  const size_t most = kOtherRoom * (answers_.bytes.size() + kLeastRoom);
  for (AnswerForm& form : *forms) {
    if (form.other == nullptr) continue;
    form.base = answers_.bytes.size();
    form.lost = form.other->size > most - std::min(most, form.base) ||
                form.addresses.size() != form.other->leaves.size();
    if (form.lost) continue;
    answers_.bytes.resize(form.base + form.other->size, static_cast<std::byte>(kPoisonByte));
    for (size_t i = 0; i < form.addresses.size(); ++i) {
      const TensorLeaf& leaf = form.other->leaves[i];
      if (leaf.bytes == 0 || form.addresses[i] == 0) continue;
      HONE_RETURN_IF_ERROR(
          ReadPeerMemory(worker_.pid(), form.addresses[i],
                         std::span(answers_.bytes).subspan(form.base + leaf.offset, leaf.bytes)));
    }
  }
  return Ok();
}

}  // namespace hone

// The calls of a candidate whose answers are compared: the trials (trial_plan.h), and repeats on the same
// inputs.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/threads.h"
#include "evaluation/candidate_check.h"
#include "evaluation/repeats.h"
#include "evaluation/run_messages.h"
#include "evaluation/setup_messages.h"
#include "evaluation/trial_judge.h"
#include "evaluation/trial_plan.h"

namespace hone {

namespace {

constexpr int kRepeats = 20;  // two of them are trials, if the answer is small enough to store
constexpr size_t kKeptAnswer = size_t{1} << 28;
// The minimum deadline for the first call of an instance, in which Triton and torch.compile compile.
constexpr double kFirstCallSeconds = 90;

// A thread that keeps a core busy every other millisecond, so that a candidate's threads run in another
// order. More load would distort the test: PyTorch's own barriers would take a hundred times as long.
class BusyCore {
 public:
  BusyCore() {
    thread_ = StartThread([this] {
      while (!stop_.load(std::memory_order_relaxed)) {
        const int64_t until = NowNs() + 1'000'000;
        while (NowNs() < until) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~BusyCore() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

Result<bool> CandidateCheck::Put(const Case& one, const std::string& name, bool in_place) {
  HONE_ASSIGN_OR_RETURN(const auto put, PutTree(worker_, name, one.inputs, in_place, 120, &placed_[name]));
  if (!put.ok()) StopAt(Phase::kTrial, *put.failure);
  return put.ok();
}

// Frees the device memory of the trials' inputs. On the host they are small enough to stay.
Result<bool> CandidateCheck::DropPlaced() {
  if (session_.device_plane() == nullptr || placed_.empty()) return true;
  DropRequest request;
  for (const auto& [name, placed] : placed_) request.inputs.push_back(name);
  placed_.clear();
  HONE_ASSIGN_OR_RETURN(const auto dropped, Ask(Phase::kRepeat, request, {}, 60));
  return dropped.has_value();
}

void CandidateCheck::ExpectAnswer(const Case& one) {
  answer_bytes_.clear();
  for (const TensorLeaf& leaf : one.expected.leaves) answer_bytes_.push_back(leaf.bytes);
  most_answer_bytes_ = one.expected.size;
}

double CandidateCheck::CallSeconds(const Case& one) {
  const bool first = called_.insert({one.instance, one.variant}).second;
  return first && session_.options().timeout_s <= 0 ? std::max(session_.CallDeadline(), kFirstCallSeconds)
                                                    : session_.CallDeadline();
}

Result<std::optional<TensorTree>> CandidateCheck::CallSeeded(Phase phase, const Case& one,
                                                             const std::string& inputs, uint64_t seed,
                                                             bool busy, TensorTree* inputs_after) {
  RunRequest request = {session_.instances()[one.instance].slot, inputs, seed};
  request.poison = true;
  request.busy = busy;
  request.earlier = one.earlier;
  request.output_bytes = answer_bytes_;
  request.fresh = session_.truth().writes_inputs && inputs_after == nullptr;
  TreeWish wish = {.root = "output", .seconds = CallSeconds(one), .most_bytes = most_answer_bytes_};
  DevicePlane* const plane = session_.device_plane();
  SharedBlob after;
  if (inputs_after != nullptr && plane == nullptr) {
    HONE_ASSIGN_OR_RETURN(after, SharedBlob::Create("after"));
    wish.more_descriptors = {after.fd()};
  }
  HONE_ASSIGN_OR_RETURN(auto reply, AskForTree(worker_, plane, request, wish));
  if (reply.ok() && inputs_after != nullptr) {
    if (plane != nullptr) {
      const PlacedInputs& placed = placed_[inputs];
      inputs_after->leaves = placed.leaves;
      inputs_after->device = placed.values;
    } else if (Result<TensorTree> kept = ParseTree(reply.body.inputs_after, std::move(after), "input");
               kept.ok()) {
      *inputs_after = std::move(*kept);
    } else {
      reply.failure = WorkerFailure{FailureKind::kProtocol, "", kept.error().message, ""};
    }
  }
  if (reply.ok() && phase == Phase::kRepeat) least_call_s_ = std::min(least_call_s_, reply.seconds());
  if (reply.ok()) return std::optional<TensorTree>(std::move(reply.tree));
  StopAt(phase, std::move(*reply.failure));
  return std::optional<TensorTree>();
}

Result<bool> CandidateCheck::Trials() {
  const std::vector<PlannedTrial> plan = PlanTrials(session_.truth(), most_cases_);
  for (size_t i = 0; i < plan.size(); ++i) {
    const Case& one = *plan[i].one;
    progress_("checking", static_cast<int>(i), static_cast<int>(plan.size()));
    HONE_ASSIGN_OR_RETURN(const CaseLease lease, session_.Hold(one));
    ExpectAnswer(one);
    HONE_ASSIGN_OR_RETURN(const bool put, Put(one, plan[i].buffer, plan[i].in_place));
    if (!put) return false;
    TensorTree after;
    HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> answer,
                          Call(Phase::kTrial, one, plan[i].buffer, false, &after));
    if (!answer && Forgive(one)) continue;
    if (!answer) return false;
    HONE_ASSIGN_OR_RETURN(Trial trial, JudgeTrial(session_.truth(), one, *answer, after));
    HONE_ASSIGN_OR_RETURN(const int looks, session_.LookAgain(one, &trial));
    if (looks > 0 && !IsBad(trial))
      Remark(
          fmt::format("{}: within what PyTorch itself errs by on inputs that differ by rounding ({} tried)",
                      one.id, looks));
    if (i == 0) Remark(StrideRemark(one, *answer));
    if (one.change == kEnlarged && Overflows(trial)) {
      Remark("it overflows for inputs a million times larger, where PyTorch's answers stay finite");
      continue;
    }
    if (IsBad(trial)) {
      HONE_ASSIGN_OR_RETURN(const bool go_on, ExcuseDraws(&trial));
      if (!go_on && m_.stop) return false;
    }
    m_.trials.push_back(std::move(trial));
    if (IsBad(m_.trials.back())) return false;
    if (&one == &session_.cases()[0]) HONE_RETURN_IF_ERROR(NoteRepeat(std::move(*answer)));
  }
  return true;
}

// A trial of the first case also counts as one of the calls on the same inputs.
Status CandidateCheck::NoteRepeat(TensorTree answer) {
  if (answer.size > kKeptAnswer) return Ok();
  ++repeats_.count;
  if (first_answer_) return CompareRepeat(*first_answer_, answer, &repeats_);
  first_answer_ = std::move(answer);
  return Ok();
}

// The task's own inputs have one memory order and one batch size. A candidate may refuse others by an
// exception.
bool CandidateCheck::Forgive(const Case& one) {
  const bool may_refuse = one.change == "strides" || one.is_another_batch();
  if (!may_refuse || !m_.stop || m_.stop->failure.kind != FailureKind::kException) return false;
  Remark(fmt::format("it raises {} for {}", m_.stop->failure.type,
                     one.is_another_batch() ? "another batch size" : "non-contiguous inputs"));
  m_.stop.reset();
  return true;
}

Result<bool> CandidateCheck::Repeat() {
  const Case& one = session_.cases()[0];
  HONE_ASSIGN_OR_RETURN(const CaseLease lease, session_.Hold(one));
  ExpectAnswer(one);
  HONE_ASSIGN_OR_RETURN(const bool put, Put(one, "repeat", false));
  if (!put) return false;
  Repeats repeats = repeats_;
  std::optional<TensorTree> first = std::move(first_answer_);
  for (int i = repeats.count; i < kRepeats; ++i) {
    progress_("repeating the same inputs", i, kRepeats);
    const bool busy = i % 4 == 3;
    std::optional<BusyCore> burner;
    if (busy && session_.options().device == "cpu") burner.emplace();
    HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> answer,
                          Call(Phase::kRepeat, one, "repeat", busy, nullptr));
    if (!answer) return false;
    ++repeats.count;
    repeats.busy += busy ? 1 : 0;
    if (first)
      HONE_RETURN_IF_ERROR(CompareRepeat(*first, *answer, &repeats));
    else
      first = std::move(answer);
  }
  first.reset();
  HONE_ASSIGN_OR_RETURN(const bool dropped, DropPlaced());
  if (!dropped) return false;
  repeats.spread_limit = SpreadLimit(session_.truth(), one);
  m_.repeats = repeats;
  return repeats.spread <= repeats.spread_limit;
}

}  // namespace hone

#include "evaluation/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/interrupt.h"
#include "base/median.h"
#include "base/text.h"
#include "evaluation/device_lock.h"

namespace hone {

namespace {

constexpr int kLeastRounds = 6;
constexpr int kMostRounds = 24;
constexpr int kMostSets = 1024;
// A baseline that is this much slower than the best in the first round is not timed again.
constexpr double kHopeless = 1.3;

// Resumes both processes on every path out of a round.
struct ThawBoth {
  WorkerProcess &a, &b;
  ~ThawBoth() {
    a.Thaw();
    b.Thaw();
  }
};

}  // namespace

// One of the two processes, reference or candidate.
struct Contest::Side {
  WorkerProcess& worker;
  bool is_candidate;
};

struct Contest::Inputs {
  TensorTree base;
  std::vector<uint64_t> rolls;
};

int Contest::MaxInputSets() const {
  const double room = session_.options().device == "cuda" ? 4e9 : 1.5e8;
  const double bytes = static_cast<double>(session_.card().input_bytes + session_.card().output_bytes) + 1;
  return static_cast<int>(std::clamp(room / bytes, 2.0, static_cast<double>(kMostSets)));
}

void Contest::Activate(bool candidate) {
  (candidate ? session_.worker() : candidate_).Freeze();
  (candidate ? candidate_ : session_.worker()).Thaw();
}

Result<WorkerReply> Contest::Ask(Side& side, const std::string& verb, Json message,
                                 const std::vector<int>& descriptors) {
  message["slot"] = "default";
  const double deadline = side.is_candidate ? session_.CallDeadline() + 60 : 600;
  HONE_ASSIGN_OR_RETURN(WorkerReply reply, side.worker.Call(verb, std::move(message), descriptors, deadline));
  if (reply.ok()) return reply;
  if (!side.is_candidate)
    return Error{ErrorKind::kInvalid,
                 "the reference failed while it was timed: " + SafeForTerminal(reply.failure->message)};
  *stop_ = Stop{"timing", *reply.failure};
  return reply;
}

// The first case's inputs with some elements exchanged, and one offset per set by which the worker rolls
// them. This is cheap on the device, different in every call, and within the task's own range of values.
Result<Contest::Inputs> Contest::MakeInputs() {
  const Case& one = session_.cases()[random_.Below(static_cast<uint64_t>(
      std::count_if(session_.cases().begin(), session_.cases().end(),
                    [](const Case& c) { return c.instance == 0 && c.variant.empty(); })))];
  std::vector<std::byte> bytes(one.inputs.blob.bytes().begin(), one.inputs.blob.bytes().end());
  uint64_t longest = 2;
  if (perturb_) {
    for (const TensorLeaf& leaf : one.inputs.leaves) {
      const uint64_t count = leaf.elements();
      const size_t size = DtypeSize(leaf.dtype);
      if (!IsFloating(leaf.dtype) || count < 2) continue;
      longest = std::max(longest, count);
      for (uint64_t swaps = std::min<uint64_t>(2048, count / 8 + 1); swaps > 0; --swaps) {
        std::byte* a = bytes.data() + leaf.offset + random_.Below(count) * size;
        std::byte* b = bytes.data() + leaf.offset + random_.Below(count) * size;
        std::swap_ranges(a, a + size, b);
      }
    }
  }
  Inputs inputs;
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Of("timed", bytes));
  HONE_ASSIGN_OR_RETURN(inputs.base, ParseTree(one.inputs.description, std::move(blob), "input"));
  for (int i = 0; i < sets_; ++i) inputs.rolls.push_back(perturb_ ? 1 + random_.Below(longest - 1) : 0);
  return inputs;
}

Result<bool> Contest::Load(Side& side, const Inputs& inputs, std::vector<double>* seconds) {
  HONE_ASSIGN_OR_RETURN(const WorkerReply reply,
                        Ask(side, "put_batch", {{"tree", inputs.base.description}, {"rolls", inputs.rolls}},
                            {inputs.base.blob.fd()}));
  if (!reply.ok()) return false;
  if (seconds != nullptr) seconds->push_back(reply.seconds());
  return true;
}

// Finds, by doubling, how many calls fill a good part of a block. The first calls only warm up.
Result<std::optional<double>> Contest::EstimateCallTime() {
  Side own{candidate_, true};
  const int most = MaxInputSets();
  sets_ = most;
  HONE_ASSIGN_OR_RETURN(const Inputs many, MakeInputs());
  sets_ = 1;
  Activate(true);
  HONE_ASSIGN_OR_RETURN(const bool loaded, Load(own, many, nullptr));
  if (!loaded) return std::optional<double>();
  double call_us = 0;
  for (int count = 1, tries = 0; count <= most; ++tries) {
    HONE_ASSIGN_OR_RETURN(const WorkerReply reply,
                          Ask(own, "block", {{"batch", true}, {"count", count}}, {}));
    if (!reply.ok()) return std::optional<double>();
    const double block_us = reply.seconds() * 1e6;
    call_us = tries == 0 ? block_us : std::min(call_us, block_us / count);
    if (tries > 0 && block_us > 0.3 * BlockUs()) break;
    if (tries > 0) count *= 2;
  }
  return std::optional<double>(call_us);
}

double Contest::BlockUs() const {
  return session_.options().device == "cuda" ? 4e4 : 2.5e4;
}

Result<bool> Contest::PlanCounts() {
  Side reference{session_.worker(), false};
  const double target_us = BlockUs();
  const int most = MaxInputSets();
  HONE_ASSIGN_OR_RETURN(Inputs inputs, MakeInputs());
  HONE_ASSIGN_OR_RETURN(const std::optional<double> first, EstimateCallTime());
  if (!first) return false;
  const double call_us = *first;
  timing_.contestants.clear();
  auto add = [&](const std::string& name, double us) {
    Contestant one;
    one.name = name;
    one.long_count =
        static_cast<int>(std::clamp(target_us / std::max(us, 1.0), 2.0, static_cast<double>(most)));
    one.short_count = std::max(1, one.long_count / 4);
    one.quick = us < 5e4;
    // An idle GPU lowers its clock, so it gets a whole block to warm up.
    one.warm_count = session_.options().device == "cuda" ? one.long_count : one.short_count;
    timing_.contestants.push_back(one);
    sets_ = std::max(sets_, one.long_count);
  };
  sets_ = 1;
  add("candidate", call_us);
  double best_us = 1e30;
  const std::vector<Rung> rungs = session_.ladder().All();
  for (const Rung& rung : rungs)
    if (rung.available) best_us = std::min(best_us, rung.call_us);
  for (const Rung& rung : rungs)
    if (rung.available && (rung.name == "eager" || rung.call_us < kHopeless * best_us))
      add(rung.name, rung.call_us);

  // The reference must accept rolled inputs. A module with structured inputs may not.
  Activate(false);
  HONE_ASSIGN_OR_RETURN(const bool taken, Load(reference, inputs, nullptr));
  if (!taken) return false;
  HONE_ASSIGN_OR_RETURN(
      const WorkerReply tried,
      reference.worker.Call("block", {{"slot", "default"}, {"batch", true}, {"count", 1}}, {}, 600));
  if (!tried.ok()) perturb_ = false;
  return true;
}

Result<bool> Contest::TimeBlocks(Side& side, Contestant& one, uint64_t seed) {
  const std::string rung = side.is_candidate ? "" : one.name;
  // The cost of resuming a stopped process must not count for whoever runs first.
  if (one.quick) {
    HONE_ASSIGN_OR_RETURN(
        const WorkerReply warm,
        Ask(side, "block", {{"batch", true}, {"count", one.warm_count}, {"rung", rung}}, {}));
    if (!warm.ok()) return false;
  }
  BlockPair pair;
  const bool short_first = random_.Below(2) == 0;
  for (const bool is_short : {short_first, !short_first}) {
    HONE_ASSIGN_OR_RETURN(const WorkerReply ready, Ask(side, "before_block", {{"seed", seed}}, {}));
    if (!ready.ok()) return false;
    const int count = is_short ? one.short_count : one.long_count;
    HONE_ASSIGN_OR_RETURN(const WorkerReply reply,
                          Ask(side, "block", {{"batch", true}, {"count", count}, {"rung", rung}}, {}));
    if (!reply.ok()) return false;
    (is_short ? pair.short_s : pair.long_s) = reply.seconds();
    if (!is_short) {
      pair.event_us_per_call = GetNumber(reply.body, "event_us") / count;
      if (side.is_candidate && !asked_.empty()) {
        HONE_ASSIGN_OR_RETURN(const bool right, FetchAnswers(side));
        if (!right) return false;
      }
    }
  }
  one.rounds.push_back(pair);
  return true;
}

// Reads the outputs right after the long block: what was timed must be what is returned.
Result<bool> Contest::FetchAnswers(Side& side) {
  answers_.clear();
  for (const int call : asked_) {
    HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("timed answer"));
    HONE_ASSIGN_OR_RETURN(const WorkerReply reply, Ask(side, "fetch", {{"call", call}}, {blob.fd()}));
    if (!reply.ok()) return false;
    candidate_fetch_.push_back(reply.seconds());
    reused_ = reused_ || GetBool(reply.body, "reused");
    Result<TensorTree> tree = ParseTree(GetMember(reply.body, "tree"), std::move(blob), "output");
    if (!tree.ok()) {
      *stop_ = Stop{"timing", WorkerFailure{FailureKind::kProtocol, "", tree.error().message, ""}};
      return false;
    }
    answers_.push_back(std::move(*tree));
  }
  return true;
}

// PyTorch's outputs for the same calls. A module with state or random draws must run the whole block; for all
// others the chosen calls are enough. A reused output buffer holds the output of the last call, whichever
// call is asked for.
Status Contest::ComputeExpected(uint64_t seed) {
  expected_.clear();
  Activate(false);
  Side side{session_.worker(), false};
  std::vector<int> wanted = asked_;
  if (reused_) std::fill(wanted.begin(), wanted.end(), timing_.contestants[0].long_count - 1);
  const bool in_sequence = session_.stateful() || session_.random_in_forward();
  if (in_sequence) {
    const int count = *std::max_element(wanted.begin(), wanted.end()) + 1;
    HONE_RETURN_IF_ERROR(Ask(side, "before_block", {{"seed", seed}}, {}));
    HONE_RETURN_IF_ERROR(Ask(side, "block", {{"batch", true}, {"count", count}, {"rung", "eager"}}, {}));
  }
  for (const int call : wanted) {
    if (!in_sequence) {
      HONE_RETURN_IF_ERROR(Ask(side, "before_block", {{"seed", seed}}, {}));
      HONE_RETURN_IF_ERROR(
          Ask(side, "block", {{"batch", true}, {"first", call}, {"count", 1}, {"rung", "eager"}}, {}));
    }
    HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("expected answer"));
    HONE_ASSIGN_OR_RETURN(const WorkerReply reply,
                          Ask(side, "fetch", {{"call", in_sequence ? call : 0}}, {blob.fd()}));
    reference_fetch_.push_back(reply.seconds());
    HONE_ASSIGN_OR_RETURN(TensorTree tree,
                          ParseTree(GetMember(reply.body, "tree"), std::move(blob), "output"));
    expected_.push_back(std::move(tree));
  }
  return Ok();
}

void Contest::CompareAnswers() {
  for (size_t i = 0; i < answers_.size() && i < expected_.size(); ++i) {
    ++timing_.answers_checked;
    double over = answers_[i].leaves.size() == expected_[i].leaves.size() ? 0 : 1e9;
    for (size_t k = 0; k < answers_[i].leaves.size() && k < expected_[i].leaves.size(); ++k) {
      const TensorLeaf& got = answers_[i].leaves[k];
      const TensorLeaf& want = expected_[i].leaves[k];
      if (got.shape != want.shape || got.dtype != want.dtype) {
        over = 1e9;
        continue;
      }
      const Distance distance =
          Compare(got.dtype, answers_[i].Bytes(got), want.dtype, expected_[i].Bytes(want));
      // Both sides are rounded here, and the inputs are not those of the trials, so the limit is doubled.
      const double limit = std::max(2 * session_.LimitFor(0, k).relative, 1e-30);
      over = std::max(over, distance.non_finite > 0 ? 1e9 : distance.relative / limit);
    }
    if (over >= timing_.worst_answer) {
      timing_.worst_answer = over;
      timing_.worst_answer_at = fmt::format("call {} of a timed block", asked_[i] + 1);
    }
  }
}

Result<bool> Contest::TimeRound(bool thorough) {
  HONE_ASSIGN_OR_RETURN(const Inputs inputs, MakeInputs());
  const uint64_t seed = RandomU64() >> 12;
  Side reference{session_.worker(), false};
  Side own{candidate_, true};
  asked_.clear();
  const int calls = timing_.contestants[0].long_count;
  for (int i = 0; i < (thorough ? std::min(calls, 4) : 1); ++i)
    asked_.push_back(static_cast<int>(random_.Below(static_cast<uint64_t>(calls))));

  const bool candidate_first = random_.Below(2) == 0;
  for (const bool candidates_turn : {candidate_first, !candidate_first}) {
    Activate(candidates_turn);
    Side& side = candidates_turn ? own : reference;
    HONE_ASSIGN_OR_RETURN(const bool loaded,
                          Load(side, inputs, candidates_turn ? &candidate_load_ : &reference_load_));
    if (!loaded) return false;
    std::vector<size_t> order;
    for (size_t i = 0; i < timing_.contestants.size(); ++i)
      if ((i == 0) == candidates_turn)
        order.insert(order.begin() + static_cast<long>(random_.Below(order.size() + 1)), i);
    for (const size_t i : order) {
      HONE_ASSIGN_OR_RETURN(const bool timed, TimeBlocks(side, timing_.contestants[i], seed));
      if (!timed) return false;
    }
  }
  HONE_RETURN_IF_ERROR(ComputeExpected(seed));
  CompareAnswers();
  return true;
}

// Times one call alone, less an empty block. Many calls in a row must cost accordingly.
Result<bool> Contest::TimeSingleCalls() {
  Activate(true);
  Side own{candidate_, true};
  std::vector<double> single;
  for (int i = 0; i < 5; ++i) {
    double seconds[2] = {0, 0};
    for (const int count : {0, 1}) {
      HONE_ASSIGN_OR_RETURN(const WorkerReply ready,
                            Ask(own, "before_block", {{"seed", random_.Next() >> 12}}, {}));
      if (!ready.ok()) return false;
      HONE_ASSIGN_OR_RETURN(const WorkerReply reply,
                            Ask(own, "block", {{"batch", true}, {"count", count}}, {}));
      if (!reply.ok()) return false;
      seconds[count] = reply.seconds();
    }
    single.push_back((seconds[1] - seconds[0]) * 1e6);
    if (single.back() > 2e5) break;
  }
  timing_.single_call_us = *std::min_element(single.begin(), single.end());
  return true;
}

// Whether more rounds would hardly change the result: the middle half of the rounds lies within 4%.
bool Contest::IsSettled() const {
  for (const Contestant& one : timing_.contestants) {
    std::vector<double> values = one.CallUs();
    std::sort(values.begin(), values.end());
    const double spread = values[values.size() * 3 / 4] - values[values.size() / 4];
    if (spread > 0.04 * std::abs(values[values.size() / 2])) return false;
  }
  return true;
}

Result<bool> Contest::TimeRounds(const Progress& progress) {
  const Stopwatch watch;
  // The first round warms everything up and shows how long a round takes.
  HONE_ASSIGN_OR_RETURN(const bool warmed, TimeRound(true));
  if (!warmed) return false;
  const double round_s = watch.seconds();
  for (Contestant& one : timing_.contestants) one.rounds.clear();
  const double budget_s = session_.options().device == "cuda" ? 3.0 : 0.9;
  const int usual = static_cast<int>(
      std::clamp(budget_s / round_s, static_cast<double>(kLeastRounds), static_cast<double>(kMostRounds)));
  // A noisy machine gets up to twice the rounds, as long as they are short.
  const int most = round_s < 0.5 ? 2 * usual : usual;
  const int thorough = static_cast<int>(random_.Below(static_cast<uint64_t>(usual)));
  for (int round = 0; round < most && (round < usual || !IsSettled()); ++round) {
    progress("timing side by side", round, std::max(usual, round + 1));
    HONE_ASSIGN_OR_RETURN(const bool timed, TimeRound(round == thorough));
    if (!timed) return false;
  }
  HONE_ASSIGN_OR_RETURN(const bool single, TimeSingleCalls());
  if (!single) return false;
  timing_.candidate_fetch_s = MedianOf(candidate_fetch_);
  timing_.reference_fetch_s = MedianOf(reference_fetch_);
  timing_.candidate_load_s = MedianOf(candidate_load_);
  timing_.reference_load_s = MedianOf(reference_load_);
  timing_.input_sets = perturb_ ? sets_ : 1;
  timing_.buffer_reused = reused_;
  timing_.seconds += watch.seconds();
  return true;
}

// Times a call with a cold L2 cache: flush and call, less the flush alone.
Result<bool> Contest::TimeColdCalls() {
  if (session_.options().device != "cuda") return true;
  const int64_t flush = std::max<int64_t>(2 * GetInt(session_.facts(), "l2_bytes"), 128 << 20);
  for (size_t i = 0; i < timing_.contestants.size(); ++i) {
    Contestant& one = timing_.contestants[i];
    Side side{i == 0 ? candidate_ : session_.worker(), i == 0};
    Activate(i == 0);
    std::vector<double> found;
    const int count = std::min(one.long_count, 10);
    for (int repeat = 0; repeat < 2; ++repeat) {
      double seconds[2] = {0, 0};
      for (const bool empty : {true, false}) {
        Json message = {{"batch", true}, {"count", count}, {"flush", flush}, {"empty", empty}};
        if (i != 0) message["rung"] = one.name;
        HONE_ASSIGN_OR_RETURN(const WorkerReply reply, Ask(side, "block", message, {}));
        if (!reply.ok()) return false;
        seconds[empty ? 0 : 1] = reply.seconds();
      }
      found.push_back((seconds[1] - seconds[0]) / count * 1e6);
    }
    one.cold_us = std::max(0.0, MedianOf(found));
  }
  return true;
}

Result<std::optional<Timing>> Contest::Run(const Progress& progress, std::optional<Stop>* stop) {
  stop_ = stop;
  HONE_ASSIGN_OR_RETURN(const DeviceLock alone,
                        DeviceLock::Take(session_.options().device, session_.options().end, progress));
  timing_.eager_alone_us = session_.eager_us();
  const ThawBoth thaw{session_.worker(), candidate_};

  HONE_ASSIGN_OR_RETURN(const bool planned, PlanCounts());
  if (!planned) return std::optional<Timing>();
  HONE_ASSIGN_OR_RETURN(bool timed, TimeRounds(progress));
  if (!timed) return std::optional<Timing>();

  double best_us = 1e30;
  for (size_t i = 1; i < timing_.contestants.size(); ++i)
    best_us = std::min(best_us, timing_.contestants[i].MedianUs());
  const bool ahead = timing_.contestants[0].MedianUs() < best_us;
  const bool answers_right = timing_.worst_answer <= 1;
  const std::string& policy = session_.options().compile_rung;
  if (answers_right && (policy == "always" || (policy == "auto" && ahead)) &&
      timing_.Find("compile") == nullptr) {
    Activate(false);
    HONE_RETURN_IF_ERROR(session_.PrepareCompile(best_us, progress));
    const std::optional<Rung> compiled = session_.ladder().Find("compile");
    if (compiled && compiled->available && compiled->call_us < kHopeless * best_us) {
      HONE_ASSIGN_OR_RETURN(const bool again, PlanCounts());
      if (!again) return std::optional<Timing>();
      HONE_ASSIGN_OR_RETURN(timed, TimeRounds(progress));
      if (!timed) return std::optional<Timing>();
    }
  }
  HONE_ASSIGN_OR_RETURN(const bool cold, TimeColdCalls());
  if (!cold) return std::optional<Timing>();
  return std::optional<Timing>(timing_);
}

Result<std::optional<double>> Contest::TimeAlone(const Progress& progress, std::optional<Stop>* stop) {
  stop_ = stop;
  HONE_ASSIGN_OR_RETURN(const DeviceLock alone,
                        DeviceLock::Take(session_.options().device, session_.options().end, progress));
  const ThawBoth thaw{session_.worker(), candidate_};
  progress("a first look at its speed", 0, 0);
  HONE_ASSIGN_OR_RETURN(const std::optional<double> first, EstimateCallTime());
  if (!first) return first;
  Side own{candidate_, true};
  const int count = static_cast<int>(
      std::clamp(BlockUs() / std::max(*first, 1.0), 1.0, static_cast<double>(MaxInputSets())));
  double best_us = *first;
  for (int repeat = 0; repeat < 3; ++repeat) {
    HONE_ASSIGN_OR_RETURN(const WorkerReply reply,
                          Ask(own, "block", {{"batch", true}, {"count", count}}, {}));
    if (!reply.ok()) return std::optional<double>();
    best_us = std::min(best_us, reply.seconds() * 1e6 / count);
  }
  return std::optional<double>(best_us);
}

}  // namespace hone

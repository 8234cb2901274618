#include "evaluation/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/median.h"
#include "base/text.h"
#include "evaluation/compare.h"
#include "evaluation/contest_answers.h"
#include "evaluation/device_lock.h"
#include "evaluation/setup_messages.h"

namespace hone {

namespace {

constexpr int kLeastRounds = 6;
// The interval for the median of six rounds spans all of them. Short rounds are therefore repeated more
// often.
constexpr int kLeastShortRounds = 12;
constexpr double kShortRoundS = 0.15;
constexpr int kMostRounds = 24;
constexpr int kMostSets = 512;
// A baseline slower than the best one by this factor is not timed again, unless it is eager.
constexpr double kHopeless = 1.3;
// A call this long gets its own block, because the cost of a message is negligible.
constexpr double kLongCallUs = 5e4;
// A longer call is alone in its block on every device, so it needs no estimate before the rounds.
constexpr double kAloneInBlockUs = 3e4;
constexpr double kLeastCallUs = 0.5;  // no module takes less per call
// In a screening run, a block shorter than this runs three times and a longer one more often.
constexpr double kShortCallS = 0.02;
// The most time for drawing the inputs of a round, in microseconds.
constexpr double kDrawUs = 6e4;
// Processor time that a frozen side may use, because stopping and inspecting it takes some.
constexpr int64_t kStrayLeastNs = 500'000;
constexpr double kStrayShare = 0.03;  // of the time in which the other side ran
constexpr int kMostVoidRounds = 8;
constexpr char kFlushing[] = "flush_denormals";
constexpr double kLargeBytes = 1e9;
// How many deviating answers are checked against float64 before they count as wrong.
constexpr int kMostSecondLooks = 24;
// A candidate whose time is at least this part of the best baseline's, known to within kKnownTo, is not
// ahead, and more rounds would change nothing. Ahead() requires less than 0.97.
constexpr double kNotAhead = 0.985;
constexpr double kKnownTo = 0.025;
constexpr double kBoundedTo = 0.05;
// Nor is one that takes at least this part, known to within kRoughlyBoundedTo: fresh processes would hardly
// accept it (ChanceOfAcceptance in verdict/interval.h).
constexpr double kNoGain = 0.99;
constexpr double kRoughlyBoundedTo = 0.12;
// A candidate below this ratio in the screening pair needs no more rounds there, because fresh processes
// follow.
constexpr double kClearlyAhead = 0.85;
// A candidate slower than a baseline by this factor in each of these rounds is slower.
constexpr double kHopelessly = 1.5;
constexpr size_t kHopelessRounds = kLeastRounds;
// A baseline within this factor of the best may be the best in other processes, which differ by more.
constexpr double kMayBeBest = 1.15;

// Resumes both processes when the scope ends.
struct ThawBoth {
  WorkerProcess &a, &b;
  ~ThawBoth() {
    a.Thaw();
    b.Thaw();
  }
};

}  // namespace

struct Contest::Both {
  TimedSide reference, candidate;
  std::vector<InputSet> fresh, old;  // of this round and of the round before
  int short_count = 0, long_count = 0;
  TimedAnswers answers;
  TimedSide& side(bool candidates) { return candidates ? candidate : reference; }
};

int Contest::MaxSets() const {
  const double device_bytes = static_cast<double>(GetInt(session_.facts(), "device_memory"));
  const double room = session_.options().device == "cuda" ? std::max(4e9, device_bytes / 8) : 1.2e8;
  const double bytes = static_cast<double>(session_.card().input_bytes + session_.card().output_bytes) + 1;
  return static_cast<int>(std::clamp(room / bytes, 1.0, static_cast<double>(kMostSets)));
}

size_t Contest::AnswerRoom() const {
  const TensorTree& first = session_.cases()[0].expected;
  size_t largest = 0;
  bool differ = false;
  for (const Case& one : session_.cases()) {
    if (one.instance != 0 || !one.change.empty() || !one.variant.empty()) continue;
    largest = std::max(largest, one.expected.size);
    for (size_t i = 0; i < first.leaves.size() && i < one.expected.leaves.size(); ++i)
      differ = differ || one.expected.leaves[i].shape != first.leaves[i].shape;
  }
  return differ ? 2 * largest : 0;
}

Result<std::vector<InputSet>> Contest::Draw(WorkerProcess& reference, int count) {
  reference.Thaw();
  std::vector<uint64_t> seeds;
  for (int i = 0; i < count; ++i) seeds.push_back(RandomSeed());
  timing_.input_sets += count;
  return DrawInputs(reference, memory_, seeds);
}

// Times a few calls of the candidate alone. The first one may compile. On a busy machine the minimum is the
// best estimate. The result is not above 0 if blocks with and without calls took equally long.
Result<std::optional<double>> Contest::EstimateCallUs(TimedSide& candidate) {
  const bool is_long = known_call_us_ > kAloneInBlockUs;
  const int count = is_long ? 1 : std::min(2, MaxSets());
  std::vector<InputSet> sets;
  for (int i = 0; i < (is_long ? 1 : 3); ++i) {
    const Stopwatch drawing;
    HONE_ASSIGN_OR_RETURN(sets, Draw(session_.worker(), count));
    const double us = drawing.seconds() * 1e6 / count;
    draw_us_ = i == 0 ? us : std::min(draw_us_, us);
    if (us > 1e5) break;
  }
  session_.worker().Freeze();
  std::vector<const InputSet*> revealed;
  for (const InputSet& set : sets) revealed.push_back(&set);
  candidate.ExpectAnswers(session_.cases()[0].expected, count, AnswerRoom());
  const Stopwatch spent;
  double least[2] = {1e30, 1e30};
  const auto says_nothing = [&] { return !is_long && least[1] <= least[0]; };
  for (int i = 0; i < 8 && (i < 3 || spent.seconds() < 0.2 || says_nothing()); ++i) {
    if (i >= 3 && least[1] < kShortCallS && !says_nothing()) break;
    for (const bool empty : {true, false}) {
      if (empty && is_long) continue;
      HONE_ASSIGN_OR_RETURN(const std::optional<Span> span,
                            candidate.Run({revealed, empty ? 0 : count, "", "run", RandomSeed(), 0}));
      if (!span) return std::optional<double>();
      if (is_long) return std::optional<double>(known_call_us_);
      if (i > 0) least[empty ? 0 : 1] = std::min(least[empty ? 0 : 1], span->seconds);
    }
    if (i > 0 && least[1] > 0.05 && !says_nothing()) break;
  }
  return std::optional<double>((least[1] - least[0]) / count * 1e6);
}

ContestPlan Contest::MakePlan(double candidate_us) const {
  ContestPlan plan;
  const bool gpu = session_.options().device == "cuda";
  const double block_us = gpu ? kAloneInBlockUs : 7e3;
  double best_us = 1e30;
  const std::vector<Rung> rungs = session_.ladder().All();
  for (const Rung& rung : rungs)
    if (rung.available) best_us = std::min(best_us, rung.call_us);
  // A module with state or random draws gives other answers when it is captured or compiled, so eager's
  // answers are used.
  const bool eager_answers = session_.stateful() || session_.random_in_forward();
  std::vector<const Rung*> timed;
  for (const Rung& rung : rungs) {
    if (!rung.available) continue;
    if (rung.name == "eager" || rung.name == "compile" || rung.call_us < kHopeless * best_us)
      timed.push_back(&rung);
    else
      plan.left_out.push_back({rung.name, fmt::format("took {:.2f}x the time of the best before the contest",
                                                      rung.call_us / best_us)});
  }
  std::stable_sort(timed.begin(), timed.end(), [&](const Rung* a, const Rung* b) {
    if (eager_answers && (a->name == "eager") != (b->name == "eager")) return a->name == "eager";
    // Flushing changes denormal numbers to zero, so its answers are compared with last.
    if ((a->name == kFlushing) != (b->name == kFlushing)) return b->name == kFlushing;
    return a->call_us < b->call_us;
  });
  const double answer_us = timed.empty() ? candidate_us : timed.front()->call_us;
  // Every call of a round has its own inputs. Drawing them must not take longer than the calls.
  const double drawn = kDrawUs / std::max(draw_us_, 1.0);
  const int most = std::max(1, static_cast<int>(std::min(drawn, (MaxSets() - 1) / 2.0)));
  auto count = [&](double us) {
    return static_cast<int>(std::clamp(block_us / std::max(us, 1.0), 1.0, static_cast<double>(most)));
  };
  // Every timed answer of the candidate is compared, so the reference makes as many calls.
  plan.most_calls = std::max(count(candidate_us) < 2 ? 1 : 2, count(std::max(candidate_us, answer_us / 4)));
  plan.has_short = plan.most_calls > 1 && std::max(candidate_us, answer_us) < kLongCallUs;
  if (!plan.has_short) plan.most_calls = 1;
  plan.has_warm_up = plan.has_short || (gpu && std::max(candidate_us, answer_us) < kLongCallUs);
  for (const Rung* rung : timed) {
    plan.rungs.push_back(rung->name);
    plan.rung_calls.push_back(rung == timed.front()
                                  ? plan.most_calls
                                  : std::min(plan.most_calls, std::max(2, count(rung->call_us))));
  }
  // Blocks of one call are less precise, so they get more time.
  plan.budget_s = !gpu ? 0.8 : plan.has_short ? 1.7 : plan.has_warm_up ? 3.0 : 1.7;
  return plan;
}

// Times the blocks of one contestant. Every block reveals the same number of input sets and fills up with old
// ones. The cost of revealing is then equal in all three blocks and does not affect the slope.
Result<bool> Contest::TimeBlocks(Both& both, TimedSide& side, size_t contestant, uint64_t seed) {
  Contestant& one = timing_.contestants[contestant];
  Round round;
  round.pair = timing_.pairs;
  const bool answers =
      contestant <= 1;  // the candidate and the first baseline return the answers of all calls
  const int most = answers ? both.long_count : std::min(both.long_count, plan_.rung_calls[contestant - 1]);
  round.long_count = most;
  round.short_count = plan_.has_short ? std::clamp(both.short_count, 1, most - 1) : 0;
  const size_t width = static_cast<size_t>(both.long_count);
  auto reveal = [&](size_t first, size_t fresh) {
    std::vector<const InputSet*> sets;
    for (size_t i = 0; i < width; ++i)
      sets.push_back(i < fresh ? &both.fresh[first + i] : &both.old[i % both.old.size()]);
    return sets;
  };
  const std::string rung = side.is_candidate() ? "" : one.name;
  if (side.is_candidate() && !ranges_.empty()) seed = RandomSeed();
  const double cleared_before_s = side.clear_seconds();
  // Thawed processes and idle devices need a warm-up. It reveals only inputs that are already known, and only
  // as many as it calls with.
  if (plan_.has_warm_up) {
    const int calls = std::min(most, std::max(2, most / 2));
    std::vector<const InputSet*> sets;
    for (size_t i = 0; i < static_cast<size_t>(calls); ++i) sets.push_back(&both.old[i % both.old.size()]);
    HONE_ASSIGN_OR_RETURN(const std::optional<Span> warm, side.Run({std::move(sets), calls, rung, "run",
                                                                    RandomSeed(), 0, answers ? 0 : 2, true}));
    if (!warm) return false;
  }
  enum { kEmpty, kShort, kLong };
  int order[3] = {kEmpty, kShort, kLong};
  for (int i = 2; i > 0; --i) std::swap(order[i], order[random_.Below(static_cast<uint64_t>(i) + 1)]);
  for (const int kind : order) {
    if (kind == kShort && !plan_.has_short) continue;
    const int calls = kind == kEmpty ? 0 : kind == kShort ? round.short_count : round.long_count;
    const size_t first = kind == kLong ? static_cast<size_t>(both.short_count) : 0;
    HONE_ASSIGN_OR_RETURN(const std::optional<Span> span,
                          side.Run({reveal(first, static_cast<size_t>(calls)), calls, rung, "run", seed, 0,
                                    !answers         ? 2
                                    : kind == kShort ? 1
                                                     : 0}));
    if (!span) return false;
    (kind == kEmpty ? round.empty_s : kind == kShort ? round.short_s : round.long_s) = span->seconds;
    if (kind == kLong) round.event_us_per_call = span->event_us / calls;
    if (calls > 0 && answers) both.answers.Take(side, kind == kLong, calls, *span);
  }
  if (!plan_.has_short) round.short_s = round.empty_s;
  round.copied = side.reuses_memory();
  if (side.is_candidate()) timing_.buffer_reused = timing_.buffer_reused || round.copied;
  HONE_ASSIGN_OR_RETURN(const bool cleared, side.Clear());
  if (!cleared) return false;
  side.worker().Freeze();
  round.clear_s = side.clear_seconds() - cleared_before_s;
  one.rounds.push_back(round);
  return true;
}

// Measures how long the reference's process takes to copy an answer into the parent's memory.
Result<bool> Contest::TimeCollecting(Both& both) {
  std::vector<const InputSet*> sets;
  for (int i = 0; i < both.long_count; ++i)
    sets.push_back(&both.old[static_cast<size_t>(i) % both.old.size()]);
  double seconds[2] = {0, 0};
  for (const bool whole : {false, true}) {
    HONE_ASSIGN_OR_RETURN(const std::optional<Span> span,
                          both.reference.Run({sets, whole ? both.long_count : 0, timing_.contestants[1].name,
                                              "collect", 1, 0, 2}));
    if (!span) return false;
    seconds[whole ? 1 : 0] = span->seconds;
  }
  timing_.collecting.push_back({timing_.pairs, (seconds[1] - seconds[0]) / both.long_count * 1e6});
  return true;
}

Result<bool> Contest::TimeRound(Both& both, bool counts) {
  const int most = plan_.most_calls;
  both.long_count =
      most <= 2 ? most : most - static_cast<int>(random_.Below(static_cast<uint64_t>(most) / 4 + 1));
  both.short_count = plan_.has_short ? 1 : 0;  // a single call, because its time is compared too
  both.old = std::move(both.fresh);
  HONE_ASSIGN_OR_RETURN(both.fresh, Draw(both.reference.worker(), both.short_count + both.long_count));
  if (both.old.empty()) both.old = both.fresh;
  const uint64_t seed = RandomSeed();
  both.answers.Restart();

  std::vector<size_t> before;
  for (const Contestant& one : timing_.contestants) before.push_back(one.rounds.size());
  const size_t collected = timing_.collecting.size();
  const std::vector<std::string> later = timing_.pairs == 0 ? plan_.rungs : later_rungs();
  const auto takes_part = [&](size_t i) {
    return i == 0 || std::find(later.begin(), later.end(), timing_.contestants[i].name) != later.end();
  };
  bool stray = false;
  const bool candidate_first = random_.Below(2) == 0;
  for (const bool candidates_turn : {candidate_first, !candidate_first}) {
    WorkerProcess& idle = both.side(!candidates_turn).worker();
    idle.Freeze();
    const int64_t idle_ns = idle.zygote().freezer().CpuNs();
    const Stopwatch turn;
    std::vector<size_t> order;
    for (size_t i = 0; i < timing_.contestants.size(); ++i)
      if ((i == 0) == candidates_turn && takes_part(i))
        order.insert(order.begin() + static_cast<long>(random_.Below(order.size() + 1)), i);
    for (const size_t i : order) {
      HONE_ASSIGN_OR_RETURN(const bool timed, TimeBlocks(both, both.side(candidates_turn), i, seed));
      if (!timed) return false;
    }
    if (!candidates_turn && !both.reference.reads_memory()) HONE_RETURN_IF_ERROR(TimeCollecting(both));
    const auto allowed = static_cast<int64_t>(kStrayShare * turn.seconds() * 1e9);
    stray = stray || idle.zygote().freezer().CpuNs() - idle_ns > std::max(kStrayLeastNs, allowed);
  }
  HONE_RETURN_IF_ERROR(CompareAnswers(both));
  if (counts && !stray) return true;
  timing_.void_rounds += stray ? 1 : 0;
  for (size_t i = 0; i < before.size(); ++i) timing_.contestants[i].rounds.resize(before[i]);
  timing_.collecting.resize(collected);
  return true;
}

Status Contest::CompareAnswers(const Both& both) {
  const SecondLook look_again = [&](bool long_block, int call, const TensorTree& answer) -> Result<bool> {
    const auto at = static_cast<size_t>(call + (long_block ? both.short_count : 0));
    if (!ranges_.empty() || at >= both.fresh.size() || ++second_looks_ > kMostSecondLooks) return false;
    return session_.IsRightAnswer(both.fresh[at].seed, answer);
  };
  HONE_ASSIGN_OR_RETURN(const AnswerCheck check,
                        both.answers.Compare(session_, memory_, ranges_, look_again));
  timing_.answers_checked += check.checked;
  timing_.answers_wrong += check.wrong;
  timing_.inputs_changed = timing_.inputs_changed || check.inputs_changed;
  if (check.worst < timing_.worst_answer) return Ok();
  timing_.worst_answer = check.worst;
  timing_.worst_answer_at = check.worst_at;
  return Ok();
}

// Whether more rounds would hardly change the result: the middle half of the rounds spans at most 4%.
bool Contest::IsSettled() const {
  for (const Contestant& one : timing_.contestants) {
    std::vector<double> values;
    for (const Round& round : one.rounds)
      if (round.pair == timing_.pairs) values.push_back(round.SlopeUs());
    if (values.empty()) continue;  // it is not part of later pairs
    if (values.size() < kLeastRounds) return false;
    std::sort(values.begin(), values.end());
    const double spread = values[values.size() * 3 / 4] - values[values.size() / 4];
    if (spread > 0.04 * std::abs(values[values.size() / 2])) return false;
  }
  return true;
}

// Whether the candidate is so far behind a baseline in every round that more rounds cannot change the
// verdict.
bool Contest::IsHopeless() const {
  if (timing_.pairs > 0) return false;
  for (size_t i = 1; i < timing_.contestants.size(); ++i)
    if (timing_.HighestRatioTo(timing_.contestants[i]) < kSurelyBehind) return !timing_.RanSlowerBeside();
  const std::vector<Round>& own = timing_.contestants[0].rounds;
  if (own.size() < kHopelessRounds) return false;
  for (size_t i = 1; i < timing_.contestants.size(); ++i) {
    const std::vector<Round>& rounds = timing_.contestants[i].rounds;
    bool behind = rounds.size() == own.size();
    for (size_t k = 0; behind && k < own.size(); ++k)
      behind = rounds[k].SlopeUs() > 0 && own[k].SlopeUs() > kHopelessly * rounds[k].SlopeUs();
    if (behind) return true;
  }
  return false;
}

// The ratio of the candidate's time to a baseline's: the median over rounds, and its uncertainty.
Contest::TimeRatio Contest::RatioTo(const Contestant& baseline) const {
  const std::vector<double> own = timing_.CallUs(timing_.contestants[0]), other = timing_.CallUs(baseline);
  std::vector<double> ratios;
  for (size_t k = 0; k < std::min(own.size(), other.size()); ++k)
    ratios.push_back(own[k] / std::max(other[k], 1e-9));
  if (ratios.empty()) return {};
  const double middle = MedianOf(ratios);
  std::vector<double> off;
  for (const double ratio : ratios) off.push_back(std::abs(ratio - middle));
  const double count = static_cast<double>(ratios.size()), root = std::sqrt(count);
  std::sort(ratios.begin(), ratios.end());
  const auto rank = static_cast<size_t>(std::max(0.0, std::floor(count / 2 - root) - 1));
  return {middle, 1.5 * MedianOf(off) / root, (ratios[ratios.size() - 1 - rank] - ratios[rank]) / 2};
}

// Whether the candidate is certainly not ahead, so that no more measurements are needed.
bool Contest::IsDecided() const {
  if (timing_.pairs > 0) return false;
  const double best_us = BestBaselineUs();
  return std::any_of(timing_.contestants.begin() + 1, timing_.contestants.end(), [&](const Contestant& one) {
    const TimeRatio ratio = RatioTo(one);
    if (timing_.MedianUs(one) > best_us) return false;
    return (ratio.middle >= kNotAhead && ratio.error <= kKnownTo && ratio.reach <= kBoundedTo) ||
           (ratio.middle >= kNoGain && ratio.reach <= kRoughlyBoundedTo);
  });
}

// Whether the screening pair justifies the cost of fresh processes.
bool Contest::IsClearlyAhead() const {
  if (timing_.pairs > 0 || !timing_.screened) return false;
  return std::all_of(timing_.contestants.begin() + 1, timing_.contestants.end(), [&](const Contestant& one) {
    const TimeRatio ratio = RatioTo(one);
    return ratio.middle + ratio.reach < kClearlyAhead;
  });
}

Result<bool> Contest::TimeRounds(Both& both, const Progress& progress) {
  const Stopwatch watch;
  // The first round is a warm-up and shows the duration of a round.
  HONE_ASSIGN_OR_RETURN(const bool warmed, TimeRound(both, false));
  if (!warmed) return false;
  const bool short_rounds = plan_.has_short && watch.seconds() < kShortRoundS;
  const int least = short_rounds ? kLeastShortRounds : kLeastRounds;
  // Fresh pairs come in threes, which together say more than as many rounds of one pair.
  const double budget_s = plan_.budget_s * (short_rounds && timing_.pairs > 0 ? 0.6 : 1);
  const int usual = static_cast<int>(
      std::clamp(budget_s / watch.seconds(), static_cast<double>(least), static_cast<double>(kMostRounds)));
  // On a noisy machine, short rounds are repeated up to twice as often. Not in a further pair of a candidate
  // that is not ahead: there the next pair says more.
  const bool repeats = watch.seconds() < 0.3 && plan_.has_short && (timing_.pairs == 0 || Ahead());
  const int most = repeats ? 2 * usual : usual;
  const size_t before = timing_.contestants[0].rounds.size();
  for (int void_before = timing_.void_rounds;;) {
    const int done = static_cast<int>(timing_.contestants[0].rounds.size() - before);
    if (done >= most || (done >= usual && IsSettled()) || IsHopeless()) break;
    if (done >= least && IsDecided()) break;
    if (done >= kLeastRounds && IsClearlyAhead()) break;
    if (timing_.void_rounds - void_before > kMostVoidRounds) break;
    progress("timing side by side", done, std::max(usual, done + 1));
    HONE_ASSIGN_OR_RETURN(const bool timed, TimeRound(both, true));
    if (!timed) return false;
    if (timing_.answers_wrong > 0) break;  // the verdict is certain
  }
  timing_.seconds += watch.seconds();
  return true;
}

// A large task fills the device, and the caches of both processes' allocators may hold the only memory left.
Status Contest::DropCaches(WorkerProcess& reference, WorkerProcess& candidate) {
  const double bytes = static_cast<double>(session_.card().input_bytes + session_.card().output_bytes);
  if (!memory_.on_device() || bytes <= kLargeBytes) return Ok();
  for (WorkerProcess* worker : {&reference, &candidate}) {
    worker->Thaw();
    HONE_RETURN_IF_ERROR(worker->Call(DropRequest{}, 60));
  }
  return Ok();
}

Result<bool> Contest::AddPair(WorkerProcess& reference, WorkerProcess& candidate, const Progress& progress,
                              std::optional<Stop>* stop) {
  HONE_ASSIGN_OR_RETURN(const DeviceLock alone,
                        DeviceLock::Take(session_.options().device, session_.options().end, progress));
  const ThawBoth thaw{reference, candidate};
  Both both{{reference, false, 600, memory_},
            {candidate, true, session_.CallDeadline() + 60, memory_},
            {},
            {},
            0,
            0,
            {}};
  HONE_RETURN_IF_ERROR(DropCaches(reference, candidate));  // memory that trials left there
  if (timing_.pairs == 0) {
    timing_.eager_alone_us = session_.eager_us();
    timing_.memory = session_.memory_note();
    if (const size_t bytes = session_.truth().memory_bytes; bytes > 0)
      timing_.memory += fmt::format(", about {}", HumanBytes(static_cast<double>(bytes)));
  }
  HONE_ASSIGN_OR_RETURN(const std::optional<double> call_us, EstimateCallUs(both.candidate));
  if (!call_us) {
    *stop = both.candidate.stop();
    return false;
  }
  if (timing_.pairs == 0) {
    plan_ = MakePlan(std::max(kLeastCallUs, *call_us));
    if (plan_.rungs.empty())
      return Error{ErrorKind::kInvalid,
                   "no PyTorch baseline can be timed: the module's own second answer to the same inputs is "
                   "outside its limit"};
    timing_.left_out = plan_.left_out;
    timing_.contestants = {Contestant{"candidate", {}, 0}};
    for (const std::string& rung : plan_.rungs) timing_.contestants.push_back({rung, {}, 0});
  } else if (later_.empty()) {
    later_ = later_rungs();
  }
  HONE_RETURN_IF_ERROR(both.reference.KeepSample(kFirstCase));
  for (TimedSide* side : {&both.candidate, &both.reference})
    side->ExpectAnswers(session_.cases()[0].expected, std::max(1, plan_.most_calls), AnswerRoom());
  HONE_ASSIGN_OR_RETURN(const bool timed, TimeRounds(both, progress));
  if (memory_.on_device()) {
    both.answers.Restart();
    both.reference.Finish();
    both.candidate.Finish();
    if (timed) HONE_RETURN_IF_ERROR(DropCaches(reference, candidate));  // others need the memory now
  }
  if (!timed) {
    *stop = both.candidate.stop();
    return false;
  }
  if (!memory_.on_device() && !both.candidate.reads_memory() && StartsWith(timing_.memory, "shared"))
    timing_.memory = "copies through the host (the kernel does not let Hone read a worker's memory)";
  ++timing_.pairs;
  return true;
}

std::vector<std::string> Contest::later_rungs() const {
  if (!later_.empty()) return later_;
  std::vector<std::string> names;
  for (size_t i = 1; i < timing_.contestants.size(); ++i) {
    const Contestant& one = timing_.contestants[i];
    if (i == 1 || one.name == "eager" || timing_.MedianUs(one) <= kMayBeBest * BestBaselineUs())
      names.push_back(one.name);
  }
  return names;
}

double Contest::BestBaselineUs() const {
  double best_us = 1e30;
  for (size_t i = 1; i < timing_.contestants.size(); ++i)
    best_us = std::min(best_us, timing_.MedianUs(timing_.contestants[i]));
  return best_us;
}

bool Contest::Ahead() const {
  if (timing_.contestants.empty()) return false;
  // With one call per block, the error is 3%.
  const double margin = session_.options().device == "cuda" && plan_.has_short ? 0.99 : 0.97;
  const double best_us = BestBaselineUs();
  if (timing_.MedianUs(timing_.contestants[0]) >= margin * best_us) return false;
  // A lead within the scatter of the rounds does not count, and more processes would not confirm it.
  for (size_t i = 1; i < timing_.contestants.size(); ++i) {
    if (timing_.MedianUs(timing_.contestants[i]) > best_us) continue;
    const TimeRatio ratio = RatioTo(timing_.contestants[i]);
    if (ratio.middle + 2 * ratio.error >= 1) return false;
  }
  return true;
}

Result<bool> Contest::TimeColdCalls(WorkerProcess& reference, WorkerProcess& candidate,
                                    std::optional<Stop>* stop) {
  if (session_.options().device != "cuda") return true;
  const ThawBoth thaw{reference, candidate};
  const int64_t flush = std::max<int64_t>(2 * GetInt(session_.facts(), "l2_bytes"), 128 << 20);
  const int calls = std::min(plan_.most_calls, 10);
  HONE_ASSIGN_OR_RETURN(const std::vector<InputSet> sets, Draw(reference, calls));
  std::vector<const InputSet*> revealed;
  for (const InputSet& set : sets) revealed.push_back(&set);
  for (size_t i = 0; i < timing_.contestants.size(); ++i) {
    Contestant& one = timing_.contestants[i];
    TimedSide side(i == 0 ? candidate : reference, i == 0, 600, memory_);
    (i == 0 ? reference : candidate).Freeze();
    side.ExpectAnswers(session_.cases()[0].expected, calls, AnswerRoom());
    std::vector<double> found;
    for (int repeat = 0; repeat < 2; ++repeat) {
      double seconds[2] = {0, 0};
      for (const bool empty : {true, false}) {
        HONE_ASSIGN_OR_RETURN(const std::optional<Span> span,
                              side.Run({revealed, calls, i == 0 ? "" : one.name, empty ? "flush" : "run",
                                        RandomSeed(), flush}));
        if (!span) {
          *stop = side.stop();
          return false;
        }
        seconds[empty ? 0 : 1] = span->seconds;
      }
      found.push_back((seconds[1] - seconds[0]) / calls * 1e6 - timing_.CollectUs(0));
    }
    one.cold_us = std::max(0.0, MedianOf(found));
  }
  return true;
}

Result<std::optional<double>> Contest::TimeAlone(WorkerProcess& candidate, const Progress& progress,
                                                 std::optional<Stop>* stop) {
  HONE_ASSIGN_OR_RETURN(const DeviceLock alone,
                        DeviceLock::Take(session_.options().device, session_.options().end, progress));
  const ThawBoth thaw{session_.worker(), candidate};
  progress("screening run: a short timing", 0, 0);
  TimedSide side(candidate, true, session_.CallDeadline() + 60, memory_);
  HONE_ASSIGN_OR_RETURN(const std::optional<double> call_us, EstimateCallUs(side));
  if (!call_us) *stop = side.stop();
  return call_us && *call_us < kLeastCallUs ? std::nullopt : call_us;
}

}  // namespace hone

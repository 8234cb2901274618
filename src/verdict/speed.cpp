#include "verdict/speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/median.h"
#include "base/text.h"

namespace hone {

namespace {

// The highest tolerated ratio of PyTorch's time beside the candidate to its time alone.
constexpr double kDisturbed = 1.5;
// The time of a single call is used only with this many samples and an error below this part of a call.
constexpr size_t kLeastSingles = 12;
constexpr double kSingleKnownTo = 0.1;
// If the fixed cost exceeds this part of a call, it must appear in most rounds.
constexpr double kMuchHidden = 0.25;

// The value that three quarters of the rounds exceed, so that a single slow moment is no evidence.
double LowerQuartile(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 4];
}

// Time per call that the candidate needs to release a round's inputs and answers, beyond the first baseline's
// time. No answer is due in that phase, so a candidate could hide work there. Three quarters of the rounds
// must show it.
double ClearingUs(const Timing& timing) {
  const Contestant &own = timing.contestants[0], &reference = timing.contestants[1];
  std::vector<double> excess, slopes;
  for (size_t i = 0; i < std::min(own.rounds.size(), reference.rounds.size()); ++i) {
    slopes.push_back(own.rounds[i].SlopeUs());
    excess.push_back((own.rounds[i].clear_s - reference.rounds[i].clear_s) * 1e6 / own.rounds[i].long_count);
  }
  const double us = LowerQuartile(excess);
  return us > 0.05 * MedianOf(slopes) && us > 0 ? us : 0;
}

// Time per call that the slope does not show. It is the mean call of the candidate's long blocks minus the
// slope, the empty block and the latency. The latter two are taken from the first baseline: a candidate that
// delays its short and empty blocks, or works before its first call, lowers its own slope. Below a twentieth
// of a call the result counts as noise.
struct Hidden {
  double us = 0;
  double high_us = 0;   // nine rounds in ten hide less
  bool varies = false;  // large in some rounds, absent in others: due to the machine or to a trick
};
Hidden HiddenUs(const Timing& timing) {
  if (timing.contestants.size() < 2) return {};
  const Contestant& own = timing.contestants[0];
  const Contestant& reference = timing.contestants[1];
  std::vector<double> hidden, slopes;
  for (size_t i = 0; i < std::min(own.rounds.size(), reference.rounds.size()); ++i) {
    const Round& round = own.rounds[i];
    const double fixed_us =
        reference.rounds[i].empty_s * 1e6 + std::max(0.0, reference.rounds[i].LatencyUs());
    slopes.push_back(round.SlopeUs());
    hidden.push_back((round.long_s * 1e6 - fixed_us) / round.long_count - round.SlopeUs());
  }
  const double us = MedianOf(hidden), call_us = std::max(0.0, MedianOf(slopes));
  const double clearing_us = ClearingUs(timing);
  Hidden found;
  found.us = (us > 0.05 * call_us && us > 0 ? us : 0) + clearing_us;
  std::vector<double> sorted = hidden;
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty()) found.high_us = std::max(found.us, sorted[sorted.size() * 9 / 10] + clearing_us);
  found.varies = us > kMuchHidden * call_us && us > 0 && LowerQuartile(hidden) <= 0.05 * call_us;
  return found;
}

// The time per call that makes the reported ratio no higher than the ratio of single calls: the baseline's
// slope plus the difference between a single call of the candidate and one of the baseline. Costs that both
// pay for being alone cancel. 0 if the clock cannot tell. Two standard errors are subtracted in the
// candidate's favour.
double SingleCallUs(const Timing& timing, const Contestant& baseline) {
  std::vector<double> beyond, off;
  const Contestant& own = timing.contestants[0];
  for (size_t i = 0; i < std::min(own.rounds.size(), baseline.rounds.size()); ++i) {
    const Round &a = own.rounds[i], &b = baseline.rounds[i];
    if (a.short_count == 1 && b.short_count == 1) beyond.push_back((a.short_s - b.short_s) * 1e6);
  }
  if (beyond.size() < kLeastSingles) return 0;
  const double middle = MedianOf(beyond);
  for (const double value : beyond) off.push_back(std::abs(value - middle));
  // 1.4826 turns the median absolute deviation into a standard deviation. A median varies 1.25 times as much
  // as a mean.
  const double error = 1.4826 * 1.25 * MedianOf(off) / std::sqrt(static_cast<double>(beyond.size()));
  const double baseline_us = timing.MedianUs(baseline);
  return 2 * error <= kSingleKnownTo * baseline_us ? baseline_us + middle - 2 * error : 0;
}

// Whether a single call is no faster than the baseline's: the candidate's extra latency consumes most of its
// gain in slope. That happens if the calls of a block are computed together.
bool OnlyInARow(const Timing& timing, const Contestant& baseline) {
  std::vector<double> lost;
  const Contestant& own = timing.contestants[0];
  for (size_t i = 0; i < std::min(own.rounds.size(), baseline.rounds.size()); ++i) {
    const Round &a = own.rounds[i], &b = baseline.rounds[i];
    if (a.short_count != 1 || b.short_count != 1) continue;
    // Uses the baseline's empty block, because the candidate could delay its own.
    const double latency_us = (a.short_s - b.empty_s) * 1e6 - a.SlopeUs();
    lost.push_back(latency_us - b.LatencyUs() - 0.7 * (b.SlopeUs() - a.SlopeUs()));
  }
  return !lost.empty() && LowerQuartile(lost) > 0;
}

bool WasTimedInAllPairs(const Timing& timing, const Contestant& one) {
  std::set<int> pairs;
  for (const Round& round : one.rounds) pairs.insert(round.pair);
  return static_cast<int>(pairs.size()) >= timing.pairs;
}

// The rounds of one baseline and of the candidate, grouped by pair. `beyond_us` is the candidate's time per
// call beyond its slope. `slowed` is the factor by which the baseline ran slower than alone.
std::vector<PairTimes> PairsOf(const Timing& timing, const Contestant& baseline, double beyond_us,
                               double slowed = 1) {
  std::vector<PairTimes> pairs(static_cast<size_t>(std::max(1, timing.pairs)));
  auto add = [&](const Contestant& one, std::vector<double> PairTimes::*values) {
    const std::vector<double> call_us = timing.CallUs(one);
    for (size_t i = 0; i < call_us.size(); ++i)
      (pairs[static_cast<size_t>(one.rounds[i].pair)].*values).push_back(call_us[i]);
  };
  add(timing.contestants[0], &PairTimes::candidate_us);
  for (PairTimes& pair : pairs)
    for (double& us : pair.candidate_us) us += beyond_us;
  add(baseline, &PairTimes::baseline_us);
  for (PairTimes& pair : pairs)
    for (double& us : pair.baseline_us) us /= slowed;
  for (size_t i = 0; i < pairs.size(); ++i) {
    std::vector<double> collecting;
    for (const Collecting& one : timing.collecting)
      if (one.pair == static_cast<int>(i)) collecting.push_back(one.us - timing.CollectUs(one.pair));
    if (collecting.empty()) continue;
    std::sort(collecting.begin(), collecting.end());
    // An approximate 95% interval of a median of n values: three times the quartiles over the square root of
    // n.
    const double root = std::sqrt(static_cast<double>(collecting.size()));
    pairs[i].overhead_us_low = 3 * collecting[collecting.size() / 4] / root;
    pairs[i].overhead_us_high = 3 * collecting[collecting.size() * 3 / 4] / root;
  }
  return pairs;
}

// Swaps the roles, so that the same test applies to slower candidates as to faster ones.
std::vector<PairTimes> Swapped(std::vector<PairTimes> pairs) {
  for (PairTimes& pair : pairs) std::swap(pair.candidate_us, pair.baseline_us);
  return pairs;
}

bool SlownessStandsOut(const std::vector<PairTimes>& pairs, const Interval& ratio) {
  return StandsOut(Swapped(pairs), 1 / std::max(ratio.estimate, 1e-9));
}

// `pairs` omit the fixed cost of a block. A candidate that is behind without it is also behind with it.
bool IsBehindAnyway(const std::vector<PairTimes>& pairs, double spread) {
  const Interval ratio = RatioInterval(pairs, spread);
  return ratio.estimate > 0 && ratio.high < 1 && SlownessStandsOut(pairs, ratio);
}

// Launch-bound code runs at the speed of one host core, which differs between processes far more than a
// device does.
double ProcessSpread(const Measurement& m, const JudgeContext& context, double candidate_us) {
  if (context.host_bound_spread == 0 || !m.profile) return context.process_spread;
  const double device_us = m.profile->own_us + m.profile->library_us;
  return device_us < 0.6 * candidate_us ? context.host_bound_spread : context.process_spread;
}

// A way to compute the times of a candidate's calls, and the result.
struct Account {
  double beyond_us = 0;         // per call of the candidate, on top of its slope
  double slowed = 1;            // every baseline's times are divided by this
  std::vector<PairTimes> best;  // the candidate and the fastest baseline
};

void Enter(const Timing& t, const Contestant* fastest, double spread, Account* account, Verdict* v) {
  v->added_us = account->beyond_us;
  v->candidate_us = t.MedianUs(t.contestants[0]) + v->added_us;
  for (size_t i = 1; i < t.contestants.size(); ++i) {
    const Contestant& one = t.contestants[i];
    if (&one != fastest && one.name != "eager") continue;
    std::vector<PairTimes> pairs = PairsOf(t, one, account->beyond_us, account->slowed);
    const Interval ratio = RatioInterval(pairs, spread);
    if (one.name == "eager") {
      v->eager_us = t.MedianUs(one) / account->slowed;
      v->vs_eager = ratio;
    }
    if (&one != fastest) continue;
    v->best_us = t.MedianUs(one) / account->slowed;
    v->vs_best = ratio;
    account->best = std::move(pairs);
  }
}

// For a timing that the machine disturbed without showing which side. Counts every possible disturbance
// against the candidate. Returns true if the candidate is ahead nevertheless; the verdict then has these
// times. Returns false and changes nothing otherwise.
bool IsAheadAllTheSame(const Timing& t, const Contestant* fastest, double spread, Account* account,
                       Verdict* v) {
  Account harsh = *account;
  Verdict told = *v;
  Enter(t, fastest, spread, &harsh, &told);
  if (told.vs_best.low <= 1) return false;
  *account = std::move(harsh);
  *v = std::move(told);
  return true;
}

}  // namespace

GateResult TimedAnswersGate(const Timing& timing) {
  if (timing.inputs_changed) return Objection{Reason::kInputModified, "a timed call changed its inputs"};
  if (timing.worst_answer <= 1) return {};
  return Objection{
      Reason::kStaleResult,
      fmt::format("{} of {} timed answers were wrong ({}: {}x over the limit) although the same kind of "
                  "call was right when it was not timed",
                  timing.answers_wrong, timing.answers_checked, timing.worst_answer_at,
                  HumanNumber(timing.worst_answer))};
}

GateResult SynchronisedGate(const Timing& timing) {
  if (timing.contestants.size() < 2) return {};
  const Contestant& own = timing.contestants[0];
  const Contestant& reference = timing.contestants[1];
  std::vector<double> hidden, events, host;
  const size_t rounds = std::min(own.rounds.size(), reference.rounds.size());
  for (size_t i = 0; i < rounds; ++i) {
    const Round& round = own.rounds[i];
    events.push_back(round.event_us_per_call);
    host.push_back(round.long_s / round.long_count * 1e6);
    if (round.short_count == 0) continue;
    // Positive: the fixed part of a block is longer than half of all its calls together.
    const double excess_us = round.LatencyUs() - std::max(0.0, reference.rounds[i].LatencyUs());
    hidden.push_back(excess_us - std::max(300.0, 0.5 * round.long_count * std::max(0.0, round.SlopeUs())));
  }
  if (!hidden.empty() && LowerQuartile(hidden) > 0)
    return Objection{
        Reason::kUnsynchronised,
        fmt::format("a block of calls takes {} before its first call counts, yet {} for each further one: "
                    "the calls are not computed one by one",
                    HumanSeconds(timing.LatencyUs(own) * 1e-6),
                    HumanSeconds(std::max(timing.MedianUs(own), 0.0) * 1e-6))};
  if (MedianOf(events) > 1.3 * MedianOf(host) + 50)
    return Objection{Reason::kUnsynchronised,
                     fmt::format("device events measured {} per call, the host's clock {}",
                                 HumanSeconds(MedianOf(events) * 1e-6), HumanSeconds(MedianOf(host) * 1e-6))};
  return {};
}

GateResult FloorGate(const Timing& timing, const JudgeContext& context) {
  // Below a microsecond the clock's own cost dominates. On a busy machine single rounds may take any value.
  std::vector<double> rounds = timing.CallUs(timing.contestants[0]);
  if (rounds.empty() || context.impossible_below_us < 1) return {};
  std::sort(rounds.begin(), rounds.end());
  const double us = rounds[rounds.size() * 3 / 4] + HiddenUs(timing).us;
  if (us >= context.impossible_below_us) return {};
  return Objection{
      Reason::kTooFast,
      fmt::format(
          "{} per call is less than reading the inputs and writing the outputs at cache speed can take ({})",
          HumanSeconds(std::max(us, 0.0) * 1e-6), HumanSeconds(context.impossible_below_us * 1e-6))};
}

GateResult SpeedGate(const Verdict& v) {
  if (v.vs_best.estimate == 0 || v.vs_best.high >= 1) return {};
  return Objection{Reason::kSlower,
                   fmt::format("{} per call against {} for {}: {:.2f}x", HumanSeconds(v.candidate_us * 1e-6),
                               HumanSeconds(v.best_us * 1e-6), v.best_baseline, v.vs_best.estimate)};
}

std::optional<std::string> SetSpeed(const Measurement& m, const JudgeContext& context, Verdict* v) {
  const Timing t = m.timing->Counted();
  const Hidden hidden = HiddenUs(t);
  const double slope_us = t.MedianUs(t.contestants[0]);
  if (hidden.us > 0)
    v->notes.push_back(fmt::format("{} per call of fixed cost per block was added to its time",
                                   HumanSeconds(hidden.us * 1e-6)));
  v->best_us = 1e30;
  const double spread = ProcessSpread(m, context, slope_us + hidden.us);
  const Contestant* fastest = nullptr;
  for (size_t i = 1; i < t.contestants.size(); ++i) {
    const Contestant& one = t.contestants[i];
    if (fastest != nullptr && t.MedianUs(one) >= v->best_us) continue;
    // Processes differ, so a baseline that was not timed in all pairs cannot be compared with the others.
    if (fastest != nullptr && !WasTimedInAllPairs(t, one)) continue;
    fastest = &one;
    v->best_us = t.MedianUs(one);
    v->best_baseline = one.name;
  }
  Account account{hidden.us, 1, {}};
  if (fastest != nullptr) {
    v->only_in_a_row = OnlyInARow(t, *fastest);
    // A candidate that gains nothing in a single call gets its own reason.
    const double single_us = v->only_in_a_row ? 0 : std::min(SingleCallUs(t, *fastest), v->best_us);
    if (single_us > 1.05 * (slope_us + hidden.us) && slope_us + hidden.us < v->best_us) {
      account.beyond_us = single_us - slope_us;
      v->notes.push_back(
          fmt::format("a single call gains less than many in a row: {} was added to its time per call",
                      HumanSeconds((account.beyond_us - hidden.us) * 1e-6)));
    }
  }
  Enter(t, fastest, spread, &account, v);

  const double alone_us = std::max(t.eager_alone_us, t.eager_after_us);
  const double slowed = v->eager_us > 0 && alone_us > 0 ? v->eager_us / alone_us : 1;
  // Uses the times without the fixed cost of a block, which could only make the candidate slower.
  if (const double highest = fastest == nullptr ? INFINITY : t.HighestRatioTo(*fastest);
      highest * std::max(slowed, 1.0) < kSurelyBehind) {
    v->vs_best.high = std::min(v->vs_best.high, highest);
    v->vs_best.low = std::min(v->vs_best.low, v->vs_best.high);
    return std::nullopt;
  }
  // A candidate that is behind by more than the load on the machine slowed PyTorch is still slower.
  const bool behind_anyway = v->vs_best.estimate > 0 && v->vs_best.high * slowed < 1;
  if (slowed > kDisturbed && !behind_anyway) {
    account.slowed = slowed;
    // Squared, because the slowdown of PyTorch is known only from few calls.
    if (v->vs_best.low <= slowed * slowed || !IsAheadAllTheSame(t, fastest, spread, &account, v))
      return fmt::format("PyTorch ran {:.2f}x slower beside the candidate than alone", slowed);
    v->notes.push_back(fmt::format(
        "PyTorch ran {:.2f}x slower beside the candidate than alone: all its times were divided by that",
        slowed));
  }
  if (t.void_rounds > 0 && t.contestants[0].rounds.empty())
    return std::string("in every round, a process that was stopped for the timing used the processor");
  if (hidden.varies && !IsBehindAnyway(PairsOf(t, *fastest, 0), spread)) {
    const double more_us = std::max(0.0, hidden.high_us - account.beyond_us);
    account.beyond_us += more_us;
    if (!IsAheadAllTheSame(t, fastest, spread, &account, v))
      return std::string("the fixed cost of a block differs too much from round to round");
    v->notes.push_back(fmt::format(
        "the fixed cost of a block differs from round to round: {} more was added to its time per call",
        HumanSeconds(more_us * 1e-6)));
  }
  if (v->vs_best.high < 1 && !SlownessStandsOut(account.best, v->vs_best))
    return fmt::format("{:.2f}x is within the scatter of the rounds", v->vs_best.estimate);
  if (TooNoisy(account.best, spread))
    return fmt::format("the rounds differ too much: {:.2f}x, interval {:.2f} to {:.2f}", v->vs_best.estimate,
                       v->vs_best.low, v->vs_best.high);
  if (v->vs_best.low > 1 && !StandsOut(account.best, v->vs_best.estimate))
    return fmt::format("{:.2f}x is within the scatter of the rounds", v->vs_best.estimate);
  if (const int fresh = std::min(v->vs_best.pairs, t.fresh_pairs());
      v->vs_best.low > 1 && (fresh < kPairsToAccept || !v->vs_best.MayAccept()))
    return fmt::format("faster in {} pairs of fresh processes, where acceptance needs {}", fresh,
                       kPairsToAccept);
  return std::nullopt;
}

}  // namespace hone

#include "verdict/speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/median.h"
#include "base/text.h"

namespace hone {

namespace {

// PyTorch beside the candidate against PyTorch alone.
constexpr double kDisturbed = 1.5;

// The value that three quarters of the rounds exceed: a single slow moment is no evidence.
double LowerQuartile(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 4];
}

// What a call of the candidate takes beyond the slope: the mean call of its long blocks, with the empty block
// and the latency of the first baseline taken off, not its own. A candidate that delays its short and empty
// blocks, or works before its first call, lowers its slope; this shows what it hides. Below a twentieth of a
// call it is noise.
double HiddenUs(const Timing& timing) {
  if (timing.contestants.size() < 2) return 0;
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
  const double us = MedianOf(hidden);
  return us > 0.05 * MedianOf(slopes) && us > 0 ? us : 0;
}

// Whether one call alone, revealed alone, is no faster than the baseline's: the candidate's latency exceeds
// the baseline's by most of what its slope gains. So it is where the calls of a block are computed together.
bool OnlyInARow(const Timing& timing, const Contestant& baseline) {
  std::vector<double> lost;
  const Contestant& own = timing.contestants[0];
  for (size_t i = 0; i < std::min(own.rounds.size(), baseline.rounds.size()); ++i) {
    const Round &a = own.rounds[i], &b = baseline.rounds[i];
    if (a.short_count != 1 || b.short_count != 1) continue;
    // The baseline's empty block, not the candidate's own, which it could delay.
    const double latency_us = (a.short_s - b.empty_s) * 1e6 - a.SlopeUs();
    lost.push_back(latency_us - b.LatencyUs() - 0.7 * (b.SlopeUs() - a.SlopeUs()));
  }
  return !lost.empty() && LowerQuartile(lost) > 0;
}

// The rounds of one contestant and the candidate's, pair by pair.
std::vector<PairTimes> PairsOf(const Timing& timing, const Contestant& baseline) {
  std::vector<PairTimes> pairs(static_cast<size_t>(std::max(1, timing.pairs)));
  auto add = [&](const Contestant& one, std::vector<double> PairTimes::*values) {
    const std::vector<double> call_us = timing.CallUs(one);
    for (size_t i = 0; i < call_us.size(); ++i)
      (pairs[static_cast<size_t>(one.rounds[i].pair)].*values).push_back(call_us[i]);
  };
  add(timing.contestants[0], &PairTimes::candidate_us);
  const double hidden_us = HiddenUs(timing);
  for (PairTimes& pair : pairs)
    for (double& us : pair.candidate_us) us += hidden_us;
  add(baseline, &PairTimes::baseline_us);
  for (size_t i = 0; i < pairs.size(); ++i) {
    std::vector<double> collecting;
    for (const Collecting& one : timing.collecting)
      if (one.pair == static_cast<int>(i)) collecting.push_back(one.us - timing.CollectUs(one.pair));
    if (collecting.empty()) continue;
    std::sort(collecting.begin(), collecting.end());
    // The median of n lies within three times the quartiles over the root of n, 19 times in 20.
    const double root = std::sqrt(static_cast<double>(collecting.size()));
    pairs[i].overhead_us_low = 3 * collecting[collecting.size() / 4] / root;
    pairs[i].overhead_us_high = 3 * collecting[collecting.size() * 3 / 4] / root;
  }
  return pairs;
}

// Launch-bound code runs at the speed of one host core, which differs between processes far more than a
// device does.
double ProcessSpread(const Measurement& m, const JudgeContext& context, double candidate_us) {
  if (context.host_bound_spread == 0 || !m.profile) return context.process_spread;
  const double device_us = m.profile->own_us + m.profile->library_us;
  return device_us < 0.6 * candidate_us ? context.host_bound_spread : context.process_spread;
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
    // Positive: a block has a fixed part that is longer than half of all its calls together.
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
  // Below a microsecond the clock's own cost dominates. On a busy machine single rounds may come to anything.
  std::vector<double> rounds = timing.CallUs(timing.contestants[0]);
  if (rounds.empty() || context.impossible_below_us < 1) return {};
  std::sort(rounds.begin(), rounds.end());
  const double us = rounds[rounds.size() * 3 / 4] + HiddenUs(timing);
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
  const Timing& t = *m.timing;
  const double hidden_us = HiddenUs(t);
  v->candidate_us = t.MedianUs(t.contestants[0]) + hidden_us;
  if (hidden_us > 0)
    v->notes.push_back(fmt::format("{} of each call lie outside the slope of its blocks and are counted",
                                   HumanSeconds(hidden_us * 1e-6)));
  v->best_us = 1e30;
  const double spread = ProcessSpread(m, context, v->candidate_us);
  std::vector<PairTimes> best;
  for (size_t i = 1; i < t.contestants.size(); ++i) {
    const Contestant& one = t.contestants[i];
    const double us = t.MedianUs(one);
    const bool fastest = us < v->best_us;
    if (fastest) {
      v->best_us = us;
      v->best_baseline = one.name;
      best = PairsOf(t, one);
      v->only_in_a_row = OnlyInARow(t, one);
    }
    if (one.name == "eager") {
      v->eager_us = us;
      v->vs_eager = RatioInterval(PairsOf(t, one), spread);
    }
  }
  v->vs_best = RatioInterval(best, spread);

  const double alone_us = std::max(t.eager_alone_us, t.eager_after_us);
  if (v->eager_us > 0 && alone_us > 0 && v->eager_us > kDisturbed * alone_us)
    return fmt::format("PyTorch ran {:.2f}x slower beside the candidate than alone", v->eager_us / alone_us);
  if (t.void_rounds > 0 && t.contestants[0].rounds.empty())
    return std::string("something used the processor while it should have been stopped, in every round");
  if (TooNoisy(best, spread))
    return fmt::format("the rounds differ too much: {:.2f}x, interval {:.2f} to {:.2f}", v->vs_best.estimate,
                       v->vs_best.low, v->vs_best.high);
  if (v->vs_best.low > 1 && !StandsOut(best, v->vs_best.estimate))
    return fmt::format("{:.2f}x does not stand out of the scatter of the rounds", v->vs_best.estimate);
  if (v->vs_best.low > 1 && !v->vs_best.MayAccept())
    return fmt::format("faster in {} of the {} pairs of processes that acceptance takes", v->vs_best.pairs,
                       kPairsToAccept);
  return std::nullopt;
}

}  // namespace hone

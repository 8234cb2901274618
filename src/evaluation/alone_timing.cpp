#include "evaluation/alone_timing.h"

#include <algorithm>

#include "base/clock.h"
#include "base/ids.h"
#include "base/median.h"
#include "evaluation/truth_builder.h"

namespace hone {

namespace {

constexpr double kAloneBlockUs = 7e3;
constexpr double kAloneRoom = 1.2e8;  // most bytes for a round's inputs and answers
constexpr int kAloneCalls = 16;
constexpr size_t kAloneRounds = 6;

int LongCount(const AlonePlan& plan, double draw_us) {
  const double room = kAloneRoom / (static_cast<double>(plan.set_bytes) + 1);
  const double calls = kAloneBlockUs / std::max(plan.about_us, 1.0);
  // Drawing inputs must not take longer than the budget of all rounds.
  const double drawn = plan.budget_s * 1e6 / (2 * std::max(draw_us, 1.0));
  return std::clamp(static_cast<int>(std::min({room, calls, drawn})) - 1, 1, kAloneCalls);
}

}  // namespace

Result<double> TimeRungAlone(WorkerProcess& reference, TimedMemory memory, const TensorTree& like,
                             const AlonePlan& plan) {
  TimedSide side(reference, false, 600, memory);
  std::vector<double> found, collecting;
  int most = 0;
  const Stopwatch watch;
  for (size_t i = 0; i <= kAloneRounds && (found.size() < 2 || watch.seconds() < plan.budget_s); ++i) {
    reference.Thaw();
    const Stopwatch drawing;
    std::vector<uint64_t> seeds(static_cast<size_t>(most == 0 ? 1 : most > 1 ? most + 1 : 1));
    for (uint64_t& seed : seeds) seed = RandomSeed();
    HONE_ASSIGN_OR_RETURN(std::vector<InputSet> sets, DrawInputs(reference, memory, seeds));
    if (most == 0) {
      most = LongCount(plan, drawing.seconds() * 1e6);
      side.ExpectAnswers(like, most);
      if (!side.reads_memory()) HONE_RETURN_IF_ERROR(side.KeepSample(kFirstCase));
      if (most > 1) continue;
    }
    const auto run = [&](int calls, size_t first, const char* mode) -> Result<double> {
      std::vector<const InputSet*> revealed;
      for (size_t k = 0; k < static_cast<size_t>(most); ++k)
        revealed.push_back(&sets[(first + k) % sets.size()]);
      HONE_ASSIGN_OR_RETURN(const std::optional<Span> span,
                            side.Run({revealed, calls, plan.rung, mode, RandomSeed(), 0, 2, true}));
      if (!span) return Error{ErrorKind::kInternal, "the reference stopped while it was timed"};
      return span->seconds;
    };
    if (found.empty()) HONE_RETURN_IF_ERROR(run(most, 0, "run"));  // a warm-up
    const int base_calls = most > 1 ? 1 : 0;
    HONE_ASSIGN_OR_RETURN(const double base_s, run(base_calls, 0, "run"));
    HONE_ASSIGN_OR_RETURN(const double long_s, run(most, 1, "run"));
    found.push_back((long_s - base_s) / (most - base_calls) * 1e6);
    if (side.reads_memory()) continue;
    HONE_ASSIGN_OR_RETURN(const double none_s, run(0, 0, "collect"));
    HONE_ASSIGN_OR_RETURN(const double all_s, run(most, 0, "collect"));
    collecting.push_back((all_s - none_s) / most * 1e6);
  }
  if (memory.on_device()) side.Finish();
  reference.Thaw();
  const double collect_us = collecting.empty() ? 0 : std::max(0.0, MedianOf(collecting));
  return std::max(kNoTimeSeenUs, MedianOf(found) - collect_us);
}

}  // namespace hone

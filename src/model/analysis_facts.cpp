// Checks an analysis against counts and measurements. Two mistakes are worth a second request: leaving the
// time loop of a launch-bound recurrence on the host, and calling a large gap "not worth it".
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/json.h"
#include "base/text.h"
#include "model/analysis_record.h"
#include "model/knowledge.h"

namespace hone {

namespace {

// From this number of small dependent launches on, the host limits the speed, not the device.
constexpr int64_t kManyLaunches = 128;
constexpr double kLargeGap = 5;

bool MentionsAny(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return Contains(text, word); });
}

}  // namespace

LoopPlace WhereTheLoopIs(const AnalysisRecord& record) {
  if (record.time_loop == "inside_kernel") return LoopPlace::kInside;
  if (record.time_loop == "host") return LoopPlace::kOnHost;
  if (record.time_loop == "none") return LoopPlace::kNone;
  // The rest reads prose, for replies without the field.
  std::string text = ToLower(record.optimisation_method + "\n" + record.modification_plan);
  for (const char* dash : {"-", "_", "\n"}) text = ReplaceAll(text, dash, " ");
  text = ReplaceAll(text, "timestep", "time step");
  const std::string type = ToLower(record.kernel_type);
  if (MentionsAny(text, {"keep the time loop", "keep the loop", "keeps the loop", "keep the python loop",
                         "keep the host loop", "keeping the loop", "keeping the time loop", "loop stays",
                         "loop remains", "loop is kept", "still launch", "instead of a persistent",
                         "rather than a persistent", "not persistent", "non persistent", "avoid a persistent",
                         "no persistent", "not a persistent", "without a persistent"}))
    return LoopPlace::kOnHost;
  if (MentionsAny(type, {"launch_per_step", "launch per step"})) return LoopPlace::kOnHost;
  if (MentionsAny(type, {"persistent"})) return LoopPlace::kInside;
  if (MentionsAny(text, {"persistent",
                         "inside the kernel",
                         "inside one kernel",
                         "inside a single kernel",
                         "inside kernel",
                         "into the kernel",
                         "into one kernel",
                         "into a single kernel",
                         "in kernel",
                         "loop inside",
                         "time loop in the kernel",
                         "time loop in c++",
                         "loop in c++",
                         "into c++",
                         "single launch",
                         "one launch",
                         "launched once",
                         "launch once",
                         "one kernel for all",
                         "one kernel for the whole",
                         "single kernel for",
                         "whole sequence in",
                         "entire sequence in",
                         "all time steps in",
                         "all steps in",
                         "cooperative",
                         "grid barrier",
                         "grid wide barrier",
                         "cluster",
                         "wavefront"}))
    return LoopPlace::kInside;
  if (MentionsAny(text, {"per time step", "per step", "each time step", "each step", "every time step",
                         "every step", "python loop", "host loop", "loop on the host", "loop in python",
                         "for t in range", "step kernel", "cuda graph"}))
    return LoopPlace::kOnHost;
  return LoopPlace::kNotSaid;
}

namespace {

struct Gap {
  int64_t launches = 0;  // of the candidate if it was counted, else of the reference
  int64_t chain = 0;
  double now_us = 0;  // measured; 0: not timed
  double floor_us = 0;
  double step_us = 0;  // most time for a dependent step
};

Gap GapOf(const Json& facts) {
  const Json& card = GetMember(facts, "card");
  const Json& verdict = GetMember(facts, "verdict");
  const Json& speedup = GetMember(verdict, "speedup");
  Gap gap;
  gap.chain = GetInt(card, "serial_chain");
  gap.floor_us = GetNumber(card, "floor_us");
  gap.step_us = GetNumber(facts, "generous_step_us");
  // Without a profiler's count, the number of operators stands for the launches.
  gap.launches = GetInt(card, "launches", GetInt(card, "operator_calls"));
  gap.launches = GetInt(GetMember(verdict, "launches"), "candidate", gap.launches);
  const double candidate_us = GetNumber(speedup, "candidate_us");
  const double best_us = GetNumber(speedup, "best_us");
  gap.now_us = GetString(verdict, "verdict") == "accepted" || best_us <= 0 ? candidate_us : best_us;
  return gap;
}

}  // namespace

std::optional<std::string> CheckAgainstFacts(const AnalysisRecord& record, const Json& facts) {
  const Gap gap = GapOf(facts);
  const bool recurrent = IsRecurrent(GetMember(facts, "card"));
  const bool launch_bound = recurrent && gap.launches >= kManyLaunches;
  if (!record.worth_optimizing) {
    const double reachable_us =
        std::max(kLargeGap * gap.floor_us, recurrent ? gap.step_us * static_cast<double>(gap.chain) : 0.0);
    if (gap.now_us > 0 && gap.floor_us > 0 && gap.now_us > reachable_us)
      return fmt::format(
          "The analysis says it is not worth optimising, but it takes {:.0f} us where the device's floor is "
          "{:.0f} us, "
          "with {} launches for {} dependent steps. Say what stands between the two and how to remove it.",
          gap.now_us, gap.floor_us, gap.launches, gap.chain);
    if (gap.now_us <= 0 && launch_bound)
      return fmt::format(
          "The analysis says it is not worth optimising, but {} launches are issued for {} dependent steps: "
          "the host "
          "sets the pace, not the device. Say how to do it in one or a few launches.",
          gap.launches, gap.chain);
    return std::nullopt;
  }
  if (!launch_bound) return std::nullopt;
  switch (WhereTheLoopIs(record)) {
    case LoopPlace::kInside:
      return std::nullopt;
    case LoopPlace::kNone:
      // A linear recurrence can be computed as a scan. The gates of the modules below make every step depend
      // on the previous one.
      if (!HasGatedRecurrence(GetMember(facts, "card"))) return std::nullopt;
      return fmt::format(
          "The plan has no loop over time, but each of the {} steps needs the state that the one before it "
          "computed, through a nonlinearity: no scan replaces that. There are {} launches. Plan again with "
          "the loop inside one kernel (or one C++ call).",
          gap.chain, gap.launches);
    case LoopPlace::kOnHost:
      return fmt::format(
          "The plan keeps the time loop on the host. There are {} launches for {} dependent steps, so "
          "launching is what "
          "costs, and faster steps or a CUDA graph do not change that. Plan again with the loop over time "
          "inside one "
          "kernel (or one C++ call), and say who owns the hidden state and what orders the steps.",
          gap.launches, gap.chain);
    case LoopPlace::kNotSaid:
      return fmt::format(
          "The plan does not say where the time loop runs. There are {} launches for {} dependent steps, so "
          "the loop "
          "over time has to be inside one kernel (or one C++ call). Plan again and say who owns the hidden "
          "state and what "
          "orders the steps.",
          gap.launches, gap.chain);
  }
  return std::nullopt;
}

}  // namespace hone

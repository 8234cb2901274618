#include "report/run_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "report/best_so_far.h"
#include "report/search_story.h"
#include "store/record_io.h"

namespace hone {

namespace {

// A loop over time steps is longer than the chain of layers in any common network.
constexpr int64_t kChainOfALoop = 128;
// More drift than on a quiet machine.
constexpr double kDrift = 1.15;

std::vector<double> Numbers(const Json& array) {
  std::vector<double> numbers;
  if (array.is_array())
    for (const Json& one : array)
      if (one.is_number()) numbers.push_back(one.get<double>());
  return numbers;
}

Json Parsed(const std::string& text) {
  Result<Json> json = ParseJson(text);
  return json.ok() ? std::move(*json) : Json();
}

void SetLadder(RunFigures* run) {
  for (const CandidateFigure& one : run->candidates)
    for (const TimingFigure& timing : one.timings) {
      if (timing.name != "eager" || timing.median_us <= 0) continue;
      run->eager_low_us =
          run->eager_low_us == 0 ? timing.median_us : std::min(run->eager_low_us, timing.median_us);
      run->eager_high_us = std::max(run->eager_high_us, timing.median_us);
    }
  // Baselines drift with the machine, so all of them are taken from one contest: the best candidate's, if
  // there is one.
  // any.
  const CandidateFigure* from = run->Find(run->best_key);
  if (from == nullptr || from->timings.size() < 2) {
    from = nullptr;
    for (const CandidateFigure& one : run->candidates)
      if (one.timings.size() > 1 && (from == nullptr || one.vs_best > from->vs_best)) from = &one;
  }
  if (from == nullptr) return;
  run->ladder_beside = from->key;
  for (const TimingFigure& timing : from->timings)
    if (timing.name != "candidate" && timing.median_us > 0)
      run->ladder.push_back({timing.name, timing.median_us});
  std::stable_sort(run->ladder.begin(), run->ladder.end(),
                   [](const RungFigure& a, const RungFigure& b) { return a.us < b.us; });
}

void SetCard(const Json& context, const Json& card, RunFigures* run) {
  run->floor_us = GetNumber(card, "floor_us");
  run->floor_bound = GetString(card, "floor_bound");
  run->flops = GetNumber(card, "flops");
  run->least_bytes = GetNumber(card, "least_bytes");
  run->ceiling_flops_per_s = GetNumber(card, "ceiling_flops_per_s");
  run->ceiling_bytes_per_s = GetNumber(card, "ceiling_bytes_per_s");
  // Older runs did not record the peak rates. The one that bounds the time follows from the floor.
  if (run->floor_us > 0 && run->ceiling_flops_per_s == 0 && run->floor_bound == "arithmetic")
    run->ceiling_flops_per_s = run->flops / (run->floor_us * 1e-6);
  if (run->floor_us > 0 && run->ceiling_bytes_per_s == 0 && run->floor_bound == "memory")
    run->ceiling_bytes_per_s = run->least_bytes / (run->floor_us * 1e-6);
  run->serial_chain = GetInt(card, "serial_chain");
  const Json& modules = GetMember(GetMember(context, "facts"), "recurrent_modules");
  run->recurrent = (modules.is_array() && !modules.empty()) || run->serial_chain >= kChainOfALoop;
}

}  // namespace

const CandidateFigure* RunFigures::Find(const std::string& key) const {
  for (const CandidateFigure& one : candidates)
    if (one.key == key) return &one;
  return nullptr;
}

std::string RunFigures::DriftNote() const {
  if (eager_low_us <= 0 || eager_high_us / eager_low_us < kDrift) return "";
  return fmt::format(
      " Each candidate was timed against PyTorch in a contest of its own, in which eager PyTorch took {} to "
      "{}. Compare the speed-ups, which are measured within one contest, and not these times.",
      HumanSeconds(eager_low_us * 1e-6), HumanSeconds(eager_high_us * 1e-6));
}

std::optional<double> SecondsOf(const std::string& timestamp) {
  std::tm time{};
  int end = 0;
  if (std::sscanf(timestamp.c_str(), "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &time.tm_year, &time.tm_mon, &time.tm_mday,
                  &time.tm_hour, &time.tm_min, &time.tm_sec, &end) != 6 ||
      end != static_cast<int>(timestamp.size()))
    return std::nullopt;
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  return static_cast<double>(timegm(&time));
}

CandidateFigure FigureOf(const CandidateRecord& candidate) {
  CandidateFigure figure;
  figure.key = candidate.key;
  figure.parent = candidate.parent_key;
  figure.other_parent = candidate.other_parent_key;
  figure.phase = candidate.phase;
  figure.kernel_class = candidate.kernel_class;
  figure.verdict = candidate.verdict;
  figure.reason = candidate.reason;
  figure.vs_best = candidate.vs_best;
  figure.low = candidate.ci_low;
  figure.high = candidate.ci_high;
  figure.vs_eager = candidate.vs_eager;
  figure.us = candidate.candidate_us;
  figure.predicted_us = candidate.predicted_us;
  figure.error = candidate.error;
  figure.error_limit = candidate.error_limit;
  const Json record = Parsed(candidate.json);
  figure.reference_error = GetNumber(GetMember(record, "error"), "reference");
  figure.launches = GetInt(GetMember(record, "launches"), "candidate", -1);
  const Json& measurement = GetMember(record, "measurement");
  const Json& profile = GetMember(measurement, "profile");
  figure.own_us = GetNumber(profile, "own_us");
  figure.library_us = GetNumber(profile, "library_us");
  for (const Json& one : GetMember(GetMember(measurement, "timing"), "contestants"))
    figure.timings.push_back(
        {GetString(one, "name"), GetNumber(one, "median_us"), Numbers(GetMember(one, "round_us"))});
  for (const Json& trial : GetMember(measurement, "trials"))
    for (const Json& output : GetMember(trial, "outputs")) {
      const Json& distance = GetMember(output, "distance");
      figure.trials.push_back({fmt::format("{} {}", GetString(trial, "case"), GetString(output, "path")),
                               GetNumber(distance, "relative"), GetNumber(output, "limit"),
                               GetNumber(distance, "worst"), GetNumber(output, "worst_limit")});
    }
  return figure;
}

RunFigures FiguresOf(const RunStory& story, const std::vector<CallRecord>& calls) {
  RunFigures run;
  run.task = story.run.task;
  run.best_key = story.run.best_key;
  const std::optional<double> start = SecondsOf(story.run.created);
  const auto since_start = [&](const std::string& timestamp) {
    const std::optional<double> at = SecondsOf(timestamp);
    return start && at ? std::max(0.0, *at - *start) : 0;
  };
  std::map<std::string, const CallRecord*> call_of;
  for (const CallRecord& call : calls) call_of[call.key] = &call;
  const std::vector<size_t> calls_then = CallsByThen(story.candidates, calls);
  for (size_t i = 0; i < story.candidates.size(); ++i) {
    const CandidateRecord& candidate = story.candidates[i];
    if (candidate.phase == "zero") continue;
    CandidateFigure figure = FigureOf(candidate);
    figure.at_s = since_start(candidate.created);
    figure.calls_then = calls_then[i];
    for (const std::string& key : CallsThatMade(candidate))
      if (const auto call = call_of.find(key); call != call_of.end()) AddCall(*call->second, &figure.cost);
    figure.best = !run.best_key.empty() && figure.key == run.best_key;
    run.candidates.push_back(std::move(figure));
  }
  const Json context = Parsed(story.run.card);
  SetCard(context, GetMember(context, "card"), &run);
  SetLadder(&run);
  for (const CallRecord& call : calls)
    run.calls.push_back({call.key, call.call_type, since_start(call.created), call});
  std::stable_sort(run.calls.begin(), run.calls.end(),
                   [](const CallFigure& a, const CallFigure& b) { return a.at_s < b.at_s; });
  return run;
}

}  // namespace hone

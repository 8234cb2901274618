// The numbers of a run for drawing, read once from the store's records, as plain values without JSON. Values
// that were not measured are absent; nothing is filled in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/run_report.h"
#include "store/run_store.h"
#include "verdict/reasons.h"

namespace hone {

// A contestant's rounds in one candidate's contest.
struct TimingFigure {
  std::string name;  // "candidate", "eager", "cudagraph", …
  double median_us = 0;
  std::vector<double> round_us;
};

// One output of one trial.
struct TrialFigure {
  std::string name;  // "case 2, output[0]"
  double relative = 0;
  double limit = 0;
  double worst = 0;
  double worst_limit = 0;
};

struct CandidateFigure {
  std::string key;
  std::string parent;
  std::string other_parent;  // for a candidate that combines two
  std::string phase;
  std::string kernel_class;
  std::string verdict;
  std::string reason;
  bool best = false;
  double vs_best = 0;  // 0: speed was not judged
  double low = 0;
  double high = 0;
  double vs_eager = 0;
  double us = 0;
  double predicted_us = 0;
  double error = 0;
  double error_limit = 0;
  double reference_error = 0;
  // From one profiled call; 0 without a profile.
  double own_us = 0;
  double library_us = 0;
  int64_t launches = -1;
  double at_s = 0;        // seconds after the run's start
  size_t calls_then = 0;  // number of model calls up to it (best_so_far.h)
  UsageTotals cost;       // cost of the calls that made it
  std::vector<TimingFigure> timings;
  std::vector<TrialFigure> trials;

  bool timed() const { return vs_best > 0 && verdict != "baseline"; }
  bool right() const {
    return verdict == NameOf(Decision::kAccepted) || verdict == NameOf(Decision::kNoDifference) ||
           verdict == NameOf(Decision::kInconclusive) || reason == "slower";
  }
  bool unknown() const { return verdict == NameOf(Decision::kCannotJudge); }
};

// One PyTorch baseline, with its median in the contest of `ladder_beside`.
struct RungFigure {
  std::string name;
  double us = 0;
};

struct CallFigure {
  std::string key;
  std::string call_type;
  double at_s = 0;  // seconds after the run's start
  Usage usage;
};

struct RunFigures {
  std::string task;
  std::string best_key;
  std::vector<CandidateFigure> candidates;  // in the order of the run, without PyTorch itself
  std::vector<RungFigure> ladder;           // fastest first
  std::string ladder_beside;                // the candidate in whose contest the baselines were timed
  // The fastest and the slowest median of eager PyTorch in this run's contests: the drift of the machine.
  double eager_low_us = 0;
  double eager_high_us = 0;
  std::vector<CallFigure> calls;  // in order of time
  double floor_us = 0;            // 0: unknown
  std::string floor_bound;
  double flops = 0;
  double least_bytes = 0;
  double ceiling_flops_per_s = 0;  // the rate behind the floor; 0: not on record
  double ceiling_bytes_per_s = 0;
  int64_t serial_chain = 0;
  bool recurrent = false;  // the task has recurrent modules, or a chain as long as a loop

  const CandidateFigure* Find(const std::string& key) const;
  // A warning if times of different contests should not be compared; else empty.
  std::string DriftNote() const;
};

RunFigures FiguresOf(const RunStory& story, const std::vector<CallRecord>& calls);
CandidateFigure FigureOf(const CandidateRecord& candidate);

// Seconds since the epoch for "2026-01-31T23:59:59Z". No value for other texts.
std::optional<double> SecondsOf(const std::string& timestamp);

}  // namespace hone

// For tests of the judge: a hand-written measurement that is accepted, and what it takes to spoil it.
#pragma once

#include <string>

#include "verdict/verdict.h"

namespace hone::verdict_fixture {

inline constexpr int kSteadyPairs = 3;

// Twelve rounds in each of three pairs of processes. A block costs 70 us for either side, plus `latency_us`
// before its first call.
inline Contestant Steady(const std::string& name, double call_us, double latency_us = 0) {
  Contestant one;
  one.name = name;
  for (int pair = 0; pair < kSteadyPairs; ++pair)
    for (int round = 0; round < 12; ++round) {
      Round made;
      made.pair = pair;
      made.short_count = 10;
      made.long_count = 30;
      made.empty_s = 70e-6;
      made.short_s = (10 * call_us + latency_us + 70) * 1e-6;
      made.long_s = (30 * call_us + latency_us + 70) * 1e-6;
      one.rounds.push_back(made);
    }
  return one;
}

inline Trial GoodTrial(const std::string& id) {
  Trial trial;
  trial.case_id = id;
  LeafTrial leaf;
  leaf.path = "output";
  leaf.distance.elements = 64;
  leaf.distance.relative = 2e-7;
  leaf.distance.worst = 9e-7;
  leaf.limit = {4e-7, 3e-6};
  leaf.reference_error = 1.5e-7;
  trial.leaves.push_back(leaf);
  return trial;
}

// A candidate that is right and twice as fast as the best PyTorch baseline.
inline Measurement Good() {
  Measurement m;
  m.weights_how = "state_dict";
  for (int i = 1; i <= 5; ++i) m.trials.push_back(GoodTrial("default#" + std::to_string(i)));
  m.repeats = Repeats{20, 5, 0, 0, 1e-6};
  Profile profile;
  profile.launches = 3;
  profile.own_us = 90;
  profile.library_us = 10;
  m.profile = profile;
  Timing timing;
  timing.contestants = {Steady("candidate", 400), Steady("eager", 1000), Steady("cudagraph", 800)};
  timing.pairs = kSteadyPairs;
  timing.eager_alone_us = 1000;
  timing.answers_checked = 24;
  timing.worst_answer = 0.5;
  m.timing = timing;
  return m;
}

inline JudgeContext Context() {
  JudgeContext context;
  context.limit = 4e-7;
  context.reference_error = 1.5e-7;
  context.floor_us = 50;
  context.impossible_below_us = 20;
  context.reference_launches = 12;
  context.process_spread = 0.02;
  context.mutants = {{"zeros", 1e6, "default", true}, {"state ignored", 0.4, "stress", false}};
  return context;
}

// PyTorch ran half as fast beside the candidate as alone.
inline void MakeBusy(Measurement& m) {
  m.timing->eager_alone_us = 500;
}

inline WorkerFailure Exception(const std::string& type, const std::string& message) {
  return {FailureKind::kException, type, message, ""};
}

inline Finding Lint(const std::string& rule, Severity severity) {
  Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  finding.line = 7;
  finding.message = "what is wrong";
  finding.fix = "What to do.";
  return finding;
}

inline std::string GateState(const Verdict& verdict, const std::string& gate) {
  for (const auto& [name, state] : verdict.gates)
    if (name == gate) return state;
  return "no such gate";
}

// Makes a measurement that ended in this phase.
inline void StopAt(Measurement& m, Phase phase, const WorkerFailure& failure) {
  m.stop = Stop{phase, failure};
  m.timing.reset();
  if (phase == Phase::kTiming) return;
  m.profile.reset();
  if (phase == Phase::kProfile) return;
  m.repeats.reset();
  if (phase == Phase::kRepeat) return;
  m.trials.clear();
}

}  // namespace hone::verdict_fixture

// What was timed: blocks of calls, by the host's clock. A span begins when the parent reveals a block's
// inputs and ends when it holds every answer and nothing of that side runs any more. The slope between a
// short and a long block is the time of a call together with collecting its answer; collecting alone is timed
// in the reference's process and subtracted from both sides.
#pragma once

#include <string>
#include <vector>

namespace hone {

// A short, a long and an empty block of one contestant in one round.
struct Round {
  int pair = 0;  // which pair of processes
  int short_count = 1;
  int long_count = 2;
  double short_s = 0;
  double long_s = 0;
  double empty_s = 0;            // the same block without a call
  double clear_s = 0;            // freeing inputs and answers, after the blocks of this round
  double event_us_per_call = 0;  // device events, reported by the worker
  bool copied = false;           // its answers were copied at every call, because it hands out one buffer

  double SlopeUs() const { return (long_s - short_s) / (long_count - short_count) * 1e6; }
  // The fixed part of a block, beyond what an empty block takes.
  double LatencyUs() const { return (short_s - empty_s) * 1e6 - short_count * SlopeUs(); }
  // The mean call of the long block, the fixed part included.
  double MeanUs() const { return (long_s - empty_s) / long_count * 1e6; }
};

struct Contestant {
  std::string name;  // "candidate", "eager", "cudagraph", ...
  std::vector<Round> rounds;
  double cold_us = 0;  // with the L2 cache flushed before every call; 0: not measured
};

// What copying one answer into the parent's memory takes, in one round.
struct Collecting {
  int pair = 0;
  double us = 0;
};

// A baseline that took no part, and why.
struct LeftOut {
  std::string name;
  std::string why;
};

// A candidate is slower, however busy the machine is, if Timing::HighestRatioTo is below this.
constexpr double kSurelyBehind = 1.0 / 3;

// Pairs of fresh processes that an acceptance rests on.
constexpr int kFreshPairs = 3;

struct Timing {
  std::vector<Contestant> contestants;  // the candidate first
  std::vector<LeftOut> left_out;
  std::vector<Collecting> collecting;
  int pairs = 0;              // of processes
  bool screened = false;      // pair 0 ran in processes that had been through trials and audit
  int void_rounds = 0;        // rounds in which the stopped side used the processor; not counted
  double eager_alone_us = 0;  // before the candidate's process did anything
  double eager_after_us = 0;  // after its process was gone; measured only when it ran slower beside it
  int answers_checked = 0;    // timed answers compared with the reference's
  int answers_wrong = 0;
  double worst_answer = 0;  // largest distance of a timed answer, relative to its limit
  std::string worst_answer_at;
  bool inputs_changed = false;  // a timed call changed its inputs, and PyTorch's does not
  bool buffer_reused = false;   // every call returns the same memory
  int input_sets = 0;           // fresh draws in all
  std::string memory;           // how inputs and answers travel: "shared memory", "copies through the host"
  double seconds = 0;

  const Contestant* Find(const std::string& name) const;
  // Whether PyTorch took 1.5 times as long beside the candidate as before it.
  bool RanSlowerBeside() const;
  // What the verdict rests on: without the screening pair, where there are enough fresh ones.
  Timing Counted() const;
  int fresh_pairs() const { return pairs - (screened && pairs > 0 ? 1 : 0); }
  // Microseconds per call of each round, less collecting. A baseline that hands out one buffer, as a CUDA
  // graph does, is not charged for the copies that this takes here; a candidate is.
  std::vector<double> CallUs(const Contestant& one) const;
  double MedianUs(const Contestant& one) const;
  double CollectUs(int pair) const;
  // The ratio of a slow round of the baseline to a fast round of the candidate. With six rounds or more, a
  // fifth of each side's rounds may lie beyond these two; with four or five, none. No mean is needed, so
  // rounds of any scatter count, negative ones too. Infinite with fewer rounds, or where the clock found no
  // time in them.
  double HighestRatioTo(const Contestant& baseline) const;
  // The fixed part of a block: the median over rounds.
  double LatencyUs(const Contestant& one) const;
};

}  // namespace hone

// The timed blocks of calls, measured by the host's clock. A span begins when the parent reveals a block's
// inputs. It ends when the parent holds every answer; on a CPU that side is frozen by then. The slope between
// a short and a long block is the time of a call including the collection of its answer. Collection is timed
// separately in the reference's process and subtracted from both sides.
#pragma once

#include <string>
#include <vector>

namespace hone {

// A short, a long and an empty block of one contestant in one round.
struct Round {
  int pair = 0;  // index of the pair of processes
  int short_count = 1;
  int long_count = 2;
  double short_s = 0;
  double long_s = 0;
  double empty_s = 0;            // the same block without calls
  double clear_s = 0;            // time to free inputs and answers after the blocks of this round
  double event_us_per_call = 0;  // from device events, reported by the worker
  bool copied = false;           // answers were copied after every call, because calls return the same buffer

  double SlopeUs() const { return (long_s - short_s) / (long_count - short_count) * 1e6; }
  // The fixed part of a block, beyond the time of an empty block.
  double LatencyUs() const { return (short_s - empty_s) * 1e6 - short_count * SlopeUs(); }
  // The mean time per call of the long block, including the fixed part.
  double MeanUs() const { return (long_s - empty_s) / long_count * 1e6; }
};

struct Contestant {
  std::string name;  // "candidate", "eager", "cudagraph", ...
  std::vector<Round> rounds;
  double cold_us = 0;  // with the L2 cache flushed before every call; 0: not measured
};

// Time to copy one answer into the parent's memory, in one round.
struct Collecting {
  int pair = 0;
  double us = 0;
};

// A baseline that was not timed, and the reason.
struct LeftOut {
  std::string name;
  std::string why;
};

// A candidate is slower, however busy the machine is, if Timing::HighestRatioTo is below this.
constexpr double kSurelyBehind = 1.0 / 3;

// Number of pairs of fresh processes that an acceptance needs.
constexpr int kFreshPairs = 3;

struct Timing {
  std::vector<Contestant> contestants;  // the candidate comes first
  std::vector<LeftOut> left_out;
  std::vector<Collecting> collecting;
  int pairs = 0;              // number of pairs of processes
  bool screened = false;      // pair 0 used processes that had run the trials and the audit
  int void_rounds = 0;        // rounds that do not count, because the stopped side used the processor
  double eager_alone_us = 0;  // before the candidate's process did anything
  double eager_after_us = 0;  // after its process ended; measured only if PyTorch ran slower beside it
  int answers_checked = 0;    // timed answers that were compared with the reference's
  int answers_wrong = 0;
  double worst_answer = 0;  // largest distance of a timed answer relative to its limit
  std::string worst_answer_at;
  bool inputs_changed = false;  // a timed call changed its inputs, although PyTorch's does not
  bool buffer_reused = false;   // every call returns the same memory
  int input_sets = 0;           // total number of fresh draws
  std::string memory;  // how inputs and answers are passed: "shared memory", "copies through the host"
  double seconds = 0;

  const Contestant* Find(const std::string& name) const;
  // Whether PyTorch took 1.5 times as long beside the candidate as before.
  bool RanSlowerBeside() const;
  // The timing that the verdict uses: without the screening pair, if there are enough fresh pairs.
  Timing Counted() const;
  int fresh_pairs() const { return pairs - (screened && pairs > 0 ? 1 : 0); }
  // Microseconds per call of each round, without collecting. A baseline that returns the same buffer every
  // time, such as a CUDA graph, is not charged for the copies that this requires here; a candidate is.
  std::vector<double> CallUs(const Contestant& one) const;
  double MedianUs(const Contestant& one) const;
  double CollectUs(int pair) const;
  // The ratio of a slow round of the baseline to a fast round of the candidate. With six rounds or more, a
  // fifth of each side's rounds may lie beyond these two; with four or five, none. It needs no mean, so it
  // works for rounds with any scatter, including negative times. Infinite with fewer rounds or without
  // positive times.
  double HighestRatioTo(const Contestant& baseline) const;
  // The fixed part of a block, the median over rounds.
  double LatencyUs(const Contestant& one) const;
};

}  // namespace hone

// Facts that reports often read from a candidate's record: its launches, its distance from the roofline, the
// parts of its code. Nothing here decides anything.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "store/run_store.h"

namespace hone {

// "6,150".
std::string GroupedNumber(int64_t value);

Json ParsedOrNull(const std::string& text);

struct CandidateFacts {
  int64_t launches = -1;  // per forward; -1: not counted
  int64_t reference_launches = -1;
  bool operators = false;  // launches are library operators, because the device is a CPU
  double floor_us = 0;
  double floor_share = 0;  // share of the roofline that it reaches; 0: unknown
  std::string best_baseline;
  double best_us = 0;
  int kernels = 0;
  int launch_sites = 0;
  int host_loops = 0;                      // launches or library calls in a loop on the host
  int library_loops = 0;                   // only library calls
  std::vector<std::string> library_calls;  // distinct names that reach the output
  int lines = 0;
};
CandidateFacts FactsOf(const CandidateRecord& candidate);
// Above this share of the roofline, nothing is left to gain.
constexpr double kAtTheFloor = 0.8;

// Why a run ended: the first part of its own sentence, which continues with the state.
std::string WhyItEnded(const RunRecord& run);
// The line with the error in a judge's detail or a compiler's output; at most 200 bytes.
std::string TellingLine(const std::string& detail);

}  // namespace hone

// What reports read out of a candidate's record again and again: how often it launches, how near it is to the
// roofline, what its code is made of. Nothing here decides anything.
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
  bool operators = false;  // launches are library operators: the device is a CPU
  double floor_us = 0;
  double floor_share = 0;  // of the roofline that it reaches; 0: not known
  std::string best_baseline;
  double best_us = 0;
  int kernels = 0;
  int launch_sites = 0;
  int host_loops = 0;                      // launches or library calls in a loop on the host
  int library_loops = 0;                   // library calls alone
  std::vector<std::string> library_calls;  // distinct names that reach the output
  int lines = 0;
};
CandidateFacts FactsOf(const CandidateRecord& candidate);
// Nearer to the roofline than this, there is nothing left to win.
constexpr double kAtTheFloor = 0.8;

// Why a run ended, from its own sentence, which goes on with how it stands.
std::string WhyItEnded(const RunRecord& run);
// The line of a judge's detail or a compiler's output that says what is wrong; at most 200 bytes.
std::string TellingLine(const std::string& detail);

}  // namespace hone

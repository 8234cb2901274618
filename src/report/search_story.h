// The course of a population search from its record: the use, cost and gain of each operator, and the path to
// the best candidate, over all its parents, with the cost of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/run_report.h"

namespace hone {

struct OperatorUse {
  std::string op;     // "improve", …; "opening" for everything before the search
  int steps = 0;      // steps that began; for the opening: judged candidates
  int right = 0;      // steps that made a correct candidate
  int paid = 0;       // steps after which the best was faster
  double factor = 1;  // total factor by which the best grew in those steps; PyTorch is the first best
  int64_t calls = 0;
  int64_t tokens = 0;
  double usd = 0;
};

struct Ancestor {
  std::string key;
  std::string phase;
  std::vector<std::string> parents;
  std::string title;
  double vs_best = 0;
  std::string reason;  // reason of a failed candidate
  int64_t calls = 0;   // calls that made it
  int64_t tokens = 0;
  double usd = 0;
};

// Keys of the calls that made a candidate: its own, the repeated one, and the analysis behind an algorithm.
std::vector<std::string> CallsThatMade(const CandidateRecord& candidate);
// Empty for a run without a search. The opening comes first, then operators in a fixed order.
std::vector<OperatorUse> OperatorsOf(const RunStory& story);
// From the first ancestor to the candidate itself, in order of creation; empty if there is none.
std::vector<Ancestor> AncestorsOf(const RunStory& story, const std::string& key);

}  // namespace hone

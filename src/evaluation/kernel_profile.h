// Nsight Compute metrics of a candidate's kernels: how well they use the device. They appear in explanations
// and prompts; no verdict depends on them. ncu runs in the candidate's sandbox, around the candidate, over a
// private loopback. If ncu is missing or may not read the counters, or the sandbox has no such loopback, the
// report gives the reason.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "candidate/candidate_file.h"
#include "evaluation/reference_session.h"

namespace hone {

// All launches of one kernel in a call. Percentages are averages weighted by time.
struct KernelMetrics {
  std::string kernel;
  int launches = 0;
  double time_us = 0;
  double share = 0;  // part of the time of all kernels
  double sm_percent = 0;
  double memory_percent = 0;  // the busiest of DRAM, L2 and L1
  double occupancy_percent = 0;
  double l2_hit_percent = 0;
  double memory_stalls = 0;  // warps that wait for memory, per issued instruction
};

struct KernelProfile {
  std::string why_not;                 // empty if there is a profile
  std::vector<KernelMetrics> kernels;  // longest first
};

// Parses the output of `ncu --csv`. Skips lines before the heading line.
Result<std::vector<KernelMetrics>> ParseNcuCsv(std::string_view text);

Result<KernelProfile> ProfileKernels(const TaskFile& task, const CandidateFile& candidate,
                                     const SessionOptions& options);

Json ToJson(const KernelProfile& profile);
KernelProfile KernelProfileFromJson(const Json& json);

// Explains why no other block size is worth an evaluation for this kernel. Empty if one may be.
std::string WhyBusyAlready(const KernelProfile& profile);
// For prompts: metrics of the kernel that takes the most time; null if there is none.
Json ProfileFacts(const KernelProfile& profile);

}  // namespace hone

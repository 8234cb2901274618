// Metrics of Nsight Compute for a candidate's kernels: how busy they keep the device. They go into
// explanations and prompts; no verdict depends on them. ncu runs in the candidate's sandbox, around the
// candidate, over a private loopback. If ncu is missing, may not read the counters, or the sandbox has no
// such loopback, the report says so in a sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "candidate/candidate_file.h"
#include "evaluation/reference_session.h"

namespace hone {

// All launches of one kernel in a call; percentages are averages weighted by time.
struct KernelMetrics {
  std::string kernel;
  int launches = 0;
  double time_us = 0;
  double share = 0;  // of the time of all kernels
  double sm_percent = 0;
  double memory_percent = 0;  // of the most loaded of DRAM, L2 and L1
  double occupancy_percent = 0;
  double l2_hit_percent = 0;
  double memory_stalls = 0;  // warps waiting for memory per instruction issued
};

struct KernelProfile {
  std::string why_not;                 // empty: there is a profile
  std::vector<KernelMetrics> kernels;  // the longest first
};

// Parses the output of `ncu --csv` from its heading line on. Lines before it are skipped.
Result<std::vector<KernelMetrics>> ParseNcuCsv(std::string_view text);

Result<KernelProfile> ProfileKernels(const TaskFile& task, const CandidateFile& candidate,
                                     const SessionOptions& options);

Json ToJson(const KernelProfile& profile);
KernelProfile KernelProfileFromJson(const Json& json);

// Says why no other block size is worth an evaluation for this kernel, or "".
std::string WhyBusyAlready(const KernelProfile& profile);
// For prompts: metrics of the kernel that takes most of the time; null if there is none.
Json ProfileFacts(const KernelProfile& profile);

}  // namespace hone

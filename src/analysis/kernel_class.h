// Classifies a candidate's kernels by what the code does, never by names, and returns the deciding lines. The
// pipeline uses the class to choose its next step.
#pragma once

#include <string>
#include <vector>

#include "analysis/candidate.h"

namespace hone {

enum class KernelClass {
  kPersistentRecurrent,  // the time loop is inside the kernel and carries state
  kLaunchPerStep,        // the time loop is on the host, around the launch
  kGemm,
  kConv,
  kElementwise,
  kReduction,
  kAttention,
  kScan,
  kOther,
  kNone,
};

struct Evidence {
  uint32_t line = 0;
  std::string what;
};

const char* KernelClassName(KernelClass kernel_class);
KernelClass Classify(const Candidate& candidate, std::vector<Evidence>* evidence);

// A name that a loop carries between iterations and uses in its own computation, other than as a sum or a
// counter.
bool IsRecurrence(const PyNode* loop, std::string_view name);
// A loop that carries state in registers, or through memory that it both loads and stores.
bool CarriesState(const KernelTrace& trace, const KernelLoop& loop, std::string* how);

}  // namespace hone

// What kind of kernel a candidate is, decided on what its code does and never on names, with the lines that
// decide it. The pipeline uses it to choose what to try next.
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

// A name that a loop carries from one iteration to the next and feeds back into its own computation, rather
// than only summing into it or counting with it.
bool IsRecurrence(const PyNode* loop, std::string_view name);
// A loop that carries state: in registers, or through memory it both loads and stores.
bool CarriesState(const KernelTrace& trace, const KernelLoop& loop, std::string* how);

}  // namespace hone

// A sandboxed worker with its private folder, ready for one candidate. It may be started early: it wakes the
// device meanwhile, and where there is no nursery it imports torch.
#pragma once

#include <memory>

#include "base/files.h"
#include "evaluation/session_options.h"
#include "evaluation/worker.h"

namespace hone {

struct CandidateSeat {
  TempFolder folder;
  std::unique_ptr<WorkerProcess> worker;

  static Result<std::unique_ptr<CandidateSeat>> Start(const SessionOptions& options);
};

// Memory limit of a candidate: four times what the reference holds, at least 8 GB and a quarter of the
// machine for compilers (torch.compile starts one process per core), and at most 60% of the machine.
int64_t CandidateMemoryLimit(double machine_bytes, double reference_bytes);
int64_t CandidateMemoryLimit(pid_t reference);

}  // namespace hone

// A sandboxed worker with its private folder, ready for one candidate. It may be started early: it then
// initialises the device and, without a nursery, imports torch in advance.
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

// Memory limit of a candidate: four times the reference's memory, at least 8 GB and a quarter of the machine
// (torch.compile starts one compiler process per core), at most 60% of the machine.
int64_t CandidateMemoryLimit(double machine_bytes, double reference_bytes);
int64_t CandidateMemoryLimit(pid_t reference);

}  // namespace hone

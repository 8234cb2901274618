#include "evaluation/candidate_seat.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <exception>
#include <string>

#include "process/usage.h"

namespace hone {

int64_t CandidateMemoryLimit(double machine_bytes, double reference_bytes) {
  return static_cast<int64_t>(
      std::min(0.6 * machine_bytes, std::max({8e9, 0.25 * machine_bytes, 4 * reference_bytes})));
}

int64_t CandidateMemoryLimit(pid_t reference) {
  struct sysinfo info {};
  sysinfo(&info);
  return CandidateMemoryLimit(static_cast<double>(info.totalram) * info.mem_unit,
                              static_cast<double>(UsageOfTree(reference).resident_bytes));
}

namespace {

Result<std::unique_ptr<CandidateSeat>> StartSeat(const SessionOptions& options) {
  HONE_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("hone-candidate-"));
  auto seat = std::make_unique<CandidateSeat>(CandidateSeat{std::move(folder), nullptr});
  WorkerOptions worker;
  worker.python = options.python;
  worker.role = "candidate";
  worker.device = options.device;
  worker.sandbox = options.sandbox;
  worker.private_folder = seat->folder.path();
  worker.interpret_triton = options.interpret_triton;
  worker.process_limit = kSandboxedProcesses;
  worker.end = options.end;
  worker.nursery = options.nursery;
  HONE_ASSIGN_OR_RETURN(seat->worker, WorkerProcess::Start(worker));
  return seat;
}

}  // namespace

Result<std::unique_ptr<CandidateSeat>> CandidateSeat::Start(const SessionOptions& options) {
  try {
    return StartSeat(options);
  } catch (const std::exception& error) {  // no thread or no memory
    return Error{ErrorKind::kUnavailable,
                 std::string("a process for a candidate could not be started: ") + error.what()};
  }
}

}  // namespace hone

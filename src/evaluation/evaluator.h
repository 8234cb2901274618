// Evaluates candidates of one task, one after the other: start in the sandbox, import, build, weights,
// trials, repeats, profile, timing. Each candidate has a process and a private folder of its own, thrown
// away afterwards. While one is checked the next one's interpreter already imports torch.
#pragma once

#include <memory>

#include "candidate/candidate_file.h"
#include "evaluation/measurement.h"
#include "evaluation/reference_session.h"

namespace hone {

class Evaluator {
 public:
  explicit Evaluator(ReferenceSession& session) : session_(session) {}

  // Starts a candidate's interpreter ahead of time; harmless when one is waiting already.
  Status Prewarm();
  // `another_follows`: prewarm the next interpreter while this one is being checked.
  Result<Measurement> Evaluate(const CandidateFile& candidate, bool another_follows,
                               const Progress& progress);

 private:
  struct Seat {
    TempFolder folder;
    std::unique_ptr<WorkerProcess> worker;
  };
  struct Check;

  Result<std::unique_ptr<Seat>> TakeSeat();
  Result<std::unique_ptr<Seat>> StartSeat();

  ReferenceSession& session_;
  std::unique_ptr<Seat> spare_;
};

// The candidate's worker options for a session; shared with the tests of the sandbox.
WorkerOptions CandidateOptions(const SessionOptions& options, const fs::path& private_folder);

}  // namespace hone

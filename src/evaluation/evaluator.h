// Evaluates candidates of one task: start in the sandbox, import, build, weights, trials, repeats, profile,
// timing. Each candidate has a process and a private folder of its own, thrown away afterwards. While one is
// checked the next one's interpreter already imports torch. Several threads may evaluate at once: compiling
// and checking go side by side, a timing waits until nobody else computes.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "candidate/candidate_file.h"
#include "evaluation/measurement.h"
#include "evaluation/reference_session.h"

namespace hone {

// A sandboxed interpreter with its private folder, waiting for one candidate.
struct CandidateSeat {
  TempFolder folder;
  std::unique_ptr<WorkerProcess> worker;

  static Result<std::unique_ptr<CandidateSeat>> Start(const SessionOptions& options);
};

// A first look at one of many variants: two cases checked, a short timing alone. It ranks; it does not judge.
struct QuickLook {
  bool right = false;
  std::string why;  // what stopped it, in one sentence; of `refused` the judge's
  double call_us = 0;
  std::optional<Measurement> refused = {};  // what was seen of one that is not right
};

class Evaluator {
 public:
  // `seats`: started while the reference was being prepared; may be empty.
  Evaluator(ReferenceSession& session, std::deque<std::unique_ptr<CandidateSeat>> seats)
      : session_(session), seats_(std::move(seats)) {}

  // `another_follows`: start the next interpreter while this candidate is being checked.
  Result<Measurement> Evaluate(const CandidateFile& candidate, bool another_follows,
                               const Progress& progress);
  Result<QuickLook> Look(const CandidateFile& candidate, bool another_follows, const Progress& progress);

 private:
  struct Check;

  Status Prewarm();
  Result<std::unique_ptr<CandidateSeat>> TakeSeat();

  ReferenceSession& session_;
  std::mutex seats_mutex_;
  std::deque<std::unique_ptr<CandidateSeat>> seats_;
  std::shared_mutex device_;  // shared by those who check, exclusive for whoever is timed
};

}  // namespace hone

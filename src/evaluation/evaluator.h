// Evaluates candidates of one task: start in the sandbox, import, build, weights, trials, repeats, profile,
// timing. Each candidate has its own process and a private folder that is deleted afterwards. While one
// candidate is checked, the next one's worker already imports torch. Several threads may evaluate at once:
// compilation and checks run in parallel, but a timing waits until nothing else runs.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>

#include "candidate/candidate_file.h"
#include "evaluation/candidate_seat.h"
#include "evaluation/measurement.h"
#include "evaluation/reference_session.h"

namespace hone {

// A screening run of one candidate: checks two cases, then times briefly without the reference. It ranks
// candidates and yields no verdict.
struct QuickLook {
  bool right = false;
  std::string why;  // what stopped it, in one sentence; the judge's sentence if `refused` is set
  double call_us = 0;
  std::optional<Measurement> refused = {};  // observations of a candidate that is wrong
};

// Whether another candidate follows, whose worker can start early (candidate_seat.h).
enum class NextCandidate {
  kNone,
  kIfRight,  // only if this one passes its trials, as before its second judgement
  kComes,
};

class Evaluator {
 public:
  // `seats` are workers that were started while the reference was prepared. May be empty.
  Evaluator(ReferenceSession& session, std::deque<std::unique_ptr<CandidateSeat>> seats)
      : session_(session), seats_(std::move(seats)) {}
  ~Evaluator() { AwaitRetired(); }

  // `next` says whether to start the next worker while this candidate is checked. `is_unsure` returns whether
  // the timing is undecided. Then more fresh pairs of processes are timed, up to the number that an
  // acceptance needs.
  using IsUnsure = std::function<bool(const Measurement&)>;
  // `once_more`: see CandidateCheck::JudgeOnceMore.
  Result<Measurement> Evaluate(const CandidateFile& candidate, NextCandidate next, const Progress& progress,
                               const IsUnsure& is_unsure, bool once_more = false);
  Result<QuickLook> Look(const CandidateFile& candidate, bool another_follows, const Progress& progress);

 private:
  class FrozenSeats;
  // Starts workers for the next candidates. If that fails, the next candidate starts its own, and the present
  // one keeps its verdict.
  void Prewarm();
  // Times PyTorch again without the candidate, to find out whether the candidate or the machine slowed it
  // down.
  Status TimeAfter(CandidateSeat& seat, Measurement* m);
  // Ends a candidate's processes and deletes its folder in the background. The next timing waits for that.
  void Retire(std::unique_ptr<CandidateSeat> seat);
  void AwaitRetired();
  // A worker that waits and is still alive, or null.
  std::unique_ptr<CandidateSeat> TakeWaiting();
  // Tries a second time when what earlier candidates left is gone.
  Result<std::unique_ptr<CandidateSeat>> StartSeat();
  Result<std::unique_ptr<CandidateSeat>> TakeSeat(bool fresh);
  // A worker may have died while it waited. If one ends before it has imported torch, `act` runs once more,
  // in a fresh one.
  template <class T>
  Result<T> InASeat(const std::function<Result<T>(std::unique_ptr<CandidateSeat>, bool* started)>& act);
  Result<Measurement> EvaluateIn(std::unique_ptr<CandidateSeat> seat, const CandidateFile& candidate,
                                 NextCandidate next, const Progress& progress, const IsUnsure& is_unsure,
                                 bool once_more, bool* started);
  Result<QuickLook> LookIn(std::unique_ptr<CandidateSeat> seat, const CandidateFile& candidate,
                           bool another_follows, const Progress& progress, bool* started);

  ReferenceSession& session_;
  std::mutex seats_mutex_;
  std::deque<std::unique_ptr<CandidateSeat>> seats_;
  std::shared_mutex device_;  // shared by checks, exclusive for a timing
  std::mutex retired_mutex_;
  std::thread retired_;
};

}  // namespace hone

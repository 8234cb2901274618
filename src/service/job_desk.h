// The job queue of the judge service: accepts questions, orders them, passes them to workers, and returns the
// answers. It guarantees that a question is judged once however often it is asked, that an accepted job is in
// the journal, that a job with a lost worker is retried (a few times), and that a verdict is final.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "service/job.h"
#include "service/job_journal.h"
#include "service/session_pool.h"

namespace hone {

struct DeskOptions {
  int workers = 1;
  size_t most_queued = 1024;
  size_t most_per_token = 256;  // queued or running jobs
  int tries = 3;                // attempts per job if workers are lost
  double pause_s = 0.5;         // before the second attempt; doubled before the third
  int64_t keep = 100'000;       // number of finished jobs to keep
};

struct DeskCounts {
  size_t queued = 0;
  size_t running = 0;
  size_t waiting = 0;         // requests that wait for a job
  uint64_t accepted = 0;      // new jobs
  uint64_t deduplicated = 0;  // questions for which a job existed already
  uint64_t refused = 0;       // requests refused because the queue or the token's quota was full
  uint64_t done = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  uint64_t lost_workers = 0;
  uint64_t judged = 0;  // verdicts by workers
};

// The answer to a question: the job, or the reason for refusing it.
struct DeskAnswer {
  Job job;
  size_t position = 0;
  bool refused = false;
  std::string reason;  // "queue-full" or "token-full"
  std::string message;
  double retry_s = 0;
};

class JobDesk {
 public:
  // Returns what a worker needs to judge a job. An Error fails the job.
  using Prepare = std::function<Result<Assignment>(const Job&)>;
  // Returns the name of the warm session that can judge a job. The job has no sources here.
  using SessionOf = std::function<std::string(const Job&)>;
  using Callback = std::function<void(const Job&, size_t position)>;

  // Continues the jobs of an earlier server. `judge` must outlive the desk.
  static Result<std::unique_ptr<JobDesk>> Open(DeskOptions options, std::unique_ptr<JobJournal> journal,
                                               JobJudge* judge, Prepare prepare, SessionOf session_of);
  // Jobs that are being judged return to the queue on disk.
  ~JobDesk();

  // `job` has an id, sources, options, and one client. A job that is already done is only stored. `again`
  // repeats the judgement if the verdict is one that another attempt may change.
  Result<DeskAnswer> Ask(Job job, bool again);
  // Returns no value if there is no such job or `asker` never requested it.
  Result<std::optional<DeskAnswer>> Find(const std::string& id, const std::string& asker);
  // Calls back when the job is no longer active, or after `seconds`. Calls back at once if it is not active.
  void Wait(const std::string& id, double seconds, Callback callback);
  // The client no longer wants the answer. The job ends if no other client wants it.
  Result<std::optional<DeskAnswer>> Cancel(const std::string& id, const std::string& asker);
  Result<std::vector<Job>> List(const std::string& asker, const std::string& state, int most);
  DeskCounts counts();

 private:
  struct Active {
    Job job;  // without sources
    std::string session;
    bool cancelled = false;
    int overtaken = 0;
    Deadline not_before = Deadline::After(0);
  };
  struct Waiter {
    std::string id;
    Deadline deadline = Deadline::Never();
    Callback callback;
  };
  struct Ready {  // callbacks to run without the lock
    Callback callback;
    Job job;
    size_t position = 0;
  };

  JobDesk(DeskOptions options, std::unique_ptr<JobJournal> journal, JobJudge* judge, Prepare prepare,
          SessionOf session_of);
  void Start();
  void Work();
  void Watch();
  void Judge(int64_t number);
  // The caller of these functions holds the lock.
  Active* FindActive(const std::string& id);
  std::map<int64_t, Active>::iterator Choose();
  size_t PositionOf(const Active& active) const;
  size_t Queued() const;
  void End(int64_t number, JobState state, std::vector<Ready>* ready);
  void TakeWaiters(const Job& job, std::vector<Ready>* ready);
  void Settle(int64_t number, JudgeOutcome outcome, std::vector<Ready>* ready);
  static void Call(std::vector<Ready> ready);

  const DeskOptions options_;
  const std::unique_ptr<JobJournal> journal_;
  JobJudge* const judge_;
  const Prepare prepare_;
  const SessionOf session_of_;

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable watch_;
  bool stopping_ = false;
  std::map<int64_t, Active> active_;  // keyed by number, so in order of arrival
  std::map<std::string, int64_t> numbers_;
  std::vector<Waiter> waiters_;
  DeskCounts counts_;
  double usual_s_ = 1;  // recent seconds per job
  std::vector<std::thread> threads_;
};

}  // namespace hone

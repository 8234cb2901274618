// Jobs on disk: one SQLite file of the service's own, so that a server that was killed goes on where it was,
// and so that millions of jobs do not weigh on the store of runs. One server uses it at a time. Not safe for
// several threads; the desk holds its lock around every call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "service/job.h"

struct sqlite3;

namespace hone {

class JobJournal {
 public:
  // Made when it is not there. An Error if another server has it open.
  static Result<std::unique_ptr<JobJournal>> Open(const fs::path& folder);

  // A new job, or the next life of one that was cancelled or failed. Sets the number.
  Status Put(Job* job);
  // Everything but sources, options and the time it came.
  Status Update(const Job& job);
  // `whole`: with sources and the verdict.
  Result<std::optional<Job>> Find(const std::string& id, bool whole);
  // Queued and running jobs of an earlier server, in the order in which they came; without sources.
  Result<std::vector<Job>> Active();
  // The newest first, without sources and verdicts. An empty `state` means all.
  Result<std::vector<Job>> List(const std::string& asker, const std::string& state, int most);
  // Forgets the oldest finished jobs beyond `keep`.
  Status Prune(int64_t keep);

 private:
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  JobJournal(UniqueFd lock, sqlite3* handle) : lock_(std::move(lock)), handle_(handle) {}

  UniqueFd lock_;
  std::unique_ptr<sqlite3, Closer> handle_;
};

}  // namespace hone

// Jobs on disk, in a separate SQLite file of the service. A killed server can continue, and millions of jobs
// do not slow down the store of runs. Only one server uses it at a time. It is not thread-safe; the desk
// holds its lock around every call.
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
  // Creates the file if it is missing. Returns an Error if another server has it open.
  static Result<std::unique_ptr<JobJournal>> Open(const fs::path& folder);

  // Adds a job, or restarts one that was cancelled or failed. Sets the number.
  Status Put(Job* job);
  // Updates all but sources, options and the time of arrival.
  Status Update(const Job& job);
  // `whole` includes sources and the verdict.
  Result<std::optional<Job>> Find(const std::string& id, bool whole);
  // Queued and running jobs of an earlier server, in order of arrival, without sources.
  Result<std::vector<Job>> Active();
  // Newest first, without sources and verdicts. An empty `state` selects all.
  Result<std::vector<Job>> List(const std::string& asker, const std::string& state, int most);
  // Deletes the oldest finished jobs beyond `keep`.
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

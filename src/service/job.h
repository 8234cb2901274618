// A job of the judge service: one question (task, candidate, options) and its result. Its id is a hash of the
// question, so the same question from several clients is the same job.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/json.h"

namespace hone {

enum class JobState { kQueued, kRunning, kDone, kFailed, kCancelled };
const char* NameOf(JobState state);
// Returns kFailed for an unknown name.
JobState JobStateOf(const std::string& name);
// True for queued and running jobs.
bool IsActive(JobState state);

struct Job {
  std::string id;
  int64_t number = 0;  // jobs are numbered in order of arrival
  JobState state = JobState::kQueued;
  std::set<std::string> askers;  // names of tokens; no other client sees the job
  std::string task;              // "39_GRU"
  std::string task_path;         // for a task on the server; empty if the client sent the source
  std::string task_sha256;
  std::string task_source;  // set only if the client sent it
  std::string candidate;    // source
  Json options;             // as the client set them (evaluation_options.h)
  int attempts = 0;         // how often a worker started on it
  std::string created;      // UTC
  std::string started;
  std::string finished;
  Json result;             // see reward_result.h; null until the job is done
  Json verdict;            // as `hone bench --json` prints it; null if there is none
  std::string error_kind;  // for a failed job: "infrastructure", or the kind of Hone's Error
  std::string error;       // one sentence
};

// The job as clients see it. `whole` includes the verdict. `position` in the queue starts at 1; 0: not
// queued.
OrderedJson ToJson(const Job& job, bool whole, size_t position = 0);

}  // namespace hone

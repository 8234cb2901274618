// A job of the judge service: one question (task, candidate, options) and what became of it. Its name is a
// hash of the question, so the same question is the same job, whoever asks.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/json.h"

namespace hone {

enum class JobState { kQueued, kRunning, kDone, kFailed, kCancelled };
const char* NameOf(JobState state);
// kFailed for a name that is none.
JobState JobStateOf(const std::string& name);
// Queued or running.
bool IsActive(JobState state);

struct Job {
  std::string id;
  int64_t number = 0;  // the order in which jobs came
  JobState state = JobState::kQueued;
  std::set<std::string> askers;  // names of tokens; nobody else sees the job
  std::string task;              // "39_GRU"
  std::string task_path;         // of a task on the server; empty: the client sent the source
  std::string task_sha256;
  std::string task_source;  // only if the client sent it
  std::string candidate;    // source
  Json options;             // as the client asked (evaluation_options.h)
  int attempts = 0;         // how often a worker was given it
  std::string created;      // UTC
  std::string started;
  std::string finished;
  Json result;             // reward_result.h; null before it is done
  Json verdict;            // as `hone bench --json` prints it; null: none
  std::string error_kind;  // of a failed job: "infrastructure", or the kind of Hone's Error
  std::string error;       // one sentence
};

// What a client sees. `whole`: with the verdict. `position` in the queue, counted from 1; 0: not queued.
OrderedJson ToJson(const Job& job, bool whole, size_t position = 0);

}  // namespace hone

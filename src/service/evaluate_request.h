// Parses and validates the body of POST /evaluate. Each mistake is reported in one sentence for the client.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "task/task_file.h"

namespace hone {

struct EvaluateRequest {
  std::string task;         // name of a task on the server, or
  std::string task_source;  // the task's text
  std::string candidate;    // empty if the reply contains no code
  Json options;
  bool again = false;
};

// `body` is JSON. From a language model's `reply`, the code is extracted as the candidate
// (model/code_block.h).
Result<EvaluateRequest> ParseEvaluateRequest(const std::string& body);

// Finds a task by name in one of the folders: "39_GRU" or "level3/39_GRU". A name cannot lead outside its
// folder.
Result<TaskFile> FindTask(const std::vector<fs::path>& folders, const std::string& name);
// A task whose text a client sent. It has no path, and its name is derived from its hash.
TaskFile TaskOfSource(const std::string& source);

}  // namespace hone

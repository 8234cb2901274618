// The body of POST /evaluate, read and checked: every mistake is one sentence for the client.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "task/task_file.h"

namespace hone {

struct EvaluateRequest {
  std::string task;         // the name of a task on the server, or
  std::string task_source;  // its text
  std::string candidate;    // empty: the reply holds no code
  Json options;
  bool again = false;
};

// `body` is JSON; a `reply` of a language model becomes the candidate in it (model/code_block.h).
Result<EvaluateRequest> ParseEvaluateRequest(const std::string& body);

// The task of that name in one of the folders: "39_GRU" or "level3/39_GRU". A name never leads out of its
// folder.
Result<TaskFile> FindTask(const std::vector<fs::path>& folders, const std::string& name);
// A task whose text a client sent. It has no path; its name is made of its hash.
TaskFile TaskOfSource(const std::string& source);

}  // namespace hone

// Starts reference workers and loads their task. An untrusted task runs in the sandbox: it can read its own
// folder besides what a candidate may read, and writes into a folder that is deleted with its worker.
#pragma once

#include "evaluation/session_options.h"
#include "evaluation/setup_messages.h"
#include "evaluation/worker.h"
#include "task/task_file.h"

namespace hone {

inline Result<WorkerOptions> ReferenceOptions(const TaskFile& task, const SessionOptions& options) {
  WorkerOptions worker;
  worker.python = options.python;
  worker.role = "reference";
  worker.device = options.device;
  worker.end = options.end;
  if (!options.sandbox_task) return worker;
  if (options.sandbox == SandboxLevel::kNone)
    return Error{ErrorKind::kUnavailable, "a task that is not trusted needs a sandbox"};
  HONE_ASSIGN_OR_RETURN(TempFolder home, TempFolder::Make("hone-reference-"));
  worker.own_folder = std::make_shared<TempFolder>(std::move(home));
  worker.private_folder = worker.own_folder->path();
  worker.sandbox = options.sandbox;
  worker.readable = {task.path.parent_path()};
  worker.process_limit = kSandboxedProcesses;
  return worker;
}

inline LoadRequest LoadOf(const TaskFile& task) {
  return {task.path.string(), "hone_task", "Model"};
}

}  // namespace hone

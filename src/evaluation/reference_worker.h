// How every reference worker is started and told its task.
#pragma once

#include "evaluation/session_options.h"
#include "evaluation/setup_messages.h"
#include "evaluation/worker.h"
#include "task/task_file.h"

namespace hone {

inline WorkerOptions ReferenceOptions(const SessionOptions& options) {
  WorkerOptions worker;
  worker.python = options.python;
  worker.role = "reference";
  worker.device = options.device;
  worker.end = options.end;
  return worker;
}

inline LoadRequest LoadOf(const TaskFile& task) {
  return {task.path.string(), "hone_task", "Model"};
}

}  // namespace hone

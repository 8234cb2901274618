// Captures a task's graph (graph/graph.h) with a reference worker.
#pragma once

#include <optional>
#include <string>

#include "evaluation/progress.h"
#include "evaluation/session_options.h"
#include "evaluation/worker.h"
#include "graph/graph.h"
#include "task/task_file.h"

namespace hone {

struct TaskGraph {
  std::optional<graph::Graph> graph;
  std::string declined;  // why there is no graph, in one sentence
};

// Captures from an instance that the worker has built. `facts` are those of its hello.
Result<TaskGraph> CaptureGraph(WorkerProcess& worker, const std::string& slot, const std::string& device,
                               const Json& facts);
// Captures from a task file, in a worker started only for that.
Result<TaskGraph> CaptureGraph(const TaskFile& task, const SessionOptions& options, const Progress& progress);

}  // namespace hone

#include "evaluation/task_graph.h"

#include <unistd.h>

#include "base/ids.h"
#include "evaluation/reference_worker.h"
#include "evaluation/run_messages.h"
#include "graph/graph_json.h"

namespace hone {

namespace {

// Running the graph against the module may use this part of the memory, because the module and other
// processes need the rest.
constexpr int kPartOfMemory = 3;

uint64_t MemoryLimit(const std::string& device, const Json& facts) {
  if (device == "cuda") return static_cast<uint64_t>(GetInt(facts, "device_memory")) / kPartOfMemory;
  const long pages = sysconf(_SC_AVPHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) / kPartOfMemory
                               : 0;
}

}  // namespace

Result<TaskGraph> CaptureGraph(WorkerProcess& worker, const std::string& slot, const std::string& device,
                               const Json& facts) {
  HONE_ASSIGN_OR_RETURN(const GraphReply reply,
                        worker.Require(GraphRequest{slot, RandomSeed(), MemoryLimit(device, facts)}));
  TaskGraph captured;
  captured.declined = reply.declined;
  if (!captured.declined.empty()) return captured;
  Result<graph::Graph> graph = graph::GraphFromJson(reply.graph);
  if (!graph.ok()) {
    captured.declined = graph.error().message;  // a dtype or argument that this version does not know
    return captured;
  }
  captured.graph = std::move(*graph);
  return captured;
}

Result<TaskGraph> CaptureGraph(const TaskFile& task, const SessionOptions& options,
                               const Progress& progress) {
  progress("starting PyTorch", 0, 0);
  HONE_ASSIGN_OR_RETURN(const WorkerOptions how, ReferenceOptions(task, options));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerProcess> worker, WorkerProcess::Start(how));
  HONE_ASSIGN_OR_RETURN(const HelloReply hello,
                        worker->Require(HelloRequest{}, {}, 180).WithContext("PyTorch did not start"));
  progress("loading the task", 0, 0);
  HONE_RETURN_IF_ERROR(worker->Require(LoadOf(task)));
  HONE_RETURN_IF_ERROR(worker->Require(BuildRequest{"default", "Model", RandomSeed()}));
  progress("capturing the graph", 0, 0);
  return CaptureGraph(*worker, "default", options.device, hello.facts);
}

}  // namespace hone

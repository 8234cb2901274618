// The embedded expert: writes candidates for a task, each a self-contained Python file with ModelNew, without
// network or language model. It only proposes; the judge decides. A recipe that does not support a task
// explains why.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "graph/graph.h"
#include "task/card.h"
#include "task/task_file.h"

namespace hone {

struct ExpertInputs {
  TaskFile task;
  Card card;
  Json facts;                                 // reported by the reference worker
  std::shared_ptr<const graph::Graph> graph;  // null if the capture failed; then why_no_graph is set
  std::string why_no_graph;
  std::string device;  // "cpu" or "cuda"
  std::string target;
  // {"cores": n, "threads": eager's best, "cpu_flags": [..], "sm": 90, "torch": "2.11.0", "has_compile":
  // bool, "has_triton": bool, "nvcc": bool, "nvrtc": bool, "gxx": bool, "tf32_allowed": bool}
  Json machine;
};

struct Proposal {
  std::string recipe;  // "library/cuda_graph"
  std::string title;
  std::string source;
  double predicted_us = 0;  // 0: unknown
  std::string why;
  bool is_baseline = false;  // does the same as one of the judge's baselines
};

struct Declined {
  std::string recipe;
  std::string why;
  bool other_device = false;  // needs another device, so the reason does not concern this task
};

struct ExpertAnswer {
  std::vector<Proposal> proposals;  // most promising first
  std::vector<Declined> declined;
  std::string recognised;  // describes the task in one sentence
};

// Why the graph cannot be used, or "": there is none, or it may differ from what the module computes.
std::string WhyNoGraph(const ExpertInputs& inputs);

Result<ExpertAnswer> ProposeExpert(const ExpertInputs& inputs);

// The module that the task imports from a file beside it: its own package, or a module in its folder that
// Python would find. Empty if there is none. The reference worker has these files, but a candidate is one
// file and is judged alone.
std::string ImportFromBeside(const TaskFile& task);

}  // namespace hone

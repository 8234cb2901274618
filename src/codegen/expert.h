// The embedded expert: from a task it writes candidates, each one self-contained Python file with ModelNew,
// with no network and no model. It only proposes; the judge decides. A recipe that does not cover a task says
// why.
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
  Json facts;                                 // what the reference worker reported
  std::shared_ptr<const graph::Graph> graph;  // null: it could not be captured, and why_no_graph says why
  std::string why_no_graph;
  std::string device;  // "cpu" or "cuda"
  std::string target;
  // {"cores": n, "threads": eager's best, "cpu_flags": [..], "sm": 90, "torch": "2.11.0", "has_compile":
  // bool,
  //  "has_triton": bool, "nvcc": bool, "nvrtc": bool, "gxx": bool, "tf32_allowed": bool}
  Json machine;
};

struct Proposal {
  std::string recipe;  // "library/cuda_graph"
  std::string title;
  std::string source;
  double predicted_us = 0;  // 0: unknown
  std::string why;
  bool is_baseline = false;  // it does what one of the judge's own baselines does
};

struct Declined {
  std::string recipe;
  std::string why;
  bool other_device = false;  // it is for a device that is not here: nothing about this task
};

struct ExpertAnswer {
  std::vector<Proposal> proposals;  // most promising first
  std::vector<Declined> declined;
  std::string recognised;  // one sentence on what the task is
};

// Why nothing may be concluded from the graph, or "": there is none, or it may not be what the module
// computes.
std::string WhyNoGraph(const ExpertInputs& inputs);

Result<ExpertAnswer> ProposeExpert(const ExpertInputs& inputs);

// What the task imports from files beside it: its own package, or a module in the folder from which Python
// would take it. Empty: nothing. The reference worker has these files; a candidate is one file and is judged
// alone.
std::string ImportFromBeside(const TaskFile& task);

}  // namespace hone

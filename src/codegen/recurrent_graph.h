// Reads facts about recurrent modules from the task's graph: which of their outputs are used, and where their
// initial states come from. nn.RNN, nn.GRU and nn.LSTM are one node each, with the path of the calling
// module, so any indexing and any structure of modules can be traced.
//
// A graph represents one call: the branches that forward took for the task's own inputs, in eval mode. A
// candidate that leaves out an output therefore checks that a call is like that one (CapturedArguments).
#pragma once

#include <string>
#include <vector>

#include "codegen/recurrent_plan.h"
#include "graph/graph.h"

namespace hone {

// Sets `used`, `touched`, `state` and `packed_input` of all modules except cells. If the graph lacks calls of
// a module, sets `why_untraced`, and all its outputs count as used.
void ReadRecurrentGraph(const graph::Graph& graph, std::vector<RecurrentModule>* modules);
// The same if there is no usable graph.
void CountAllOutputs(const std::string& why, std::vector<RecurrentModule>* modules);

// The arguments of forward at the capture, as part_recurrent_modules.py compares them: "[(torch.float32,
// (512, 10, 128)), None]".
std::string CapturedArguments(const graph::Graph& graph);

}  // namespace hone

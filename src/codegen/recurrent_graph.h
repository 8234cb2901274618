// What a task's graph says of its recurrent modules: which of their outputs are read, and where their initial
// states come from. nn.RNN, nn.GRU and nn.LSTM are one node each, with the path of the module that made the
// call, so any indexing and any structure of modules is followed.
//
// A graph is one call: the branches that forward took for the task's own inputs, in eval mode. A candidate
// that leaves an output out therefore checks that a call is like that one (CapturedArguments).
#pragma once

#include <string>
#include <vector>

#include "codegen/recurrent_plan.h"
#include "graph/graph.h"

namespace hone {

// Fills `used`, `touched`, `state` and `packed_input` of modules that are no cells. `why_untraced` is set for
// a module whose calls are not all in the graph: all its outputs count as used.
void ReadRecurrentGraph(const graph::Graph& graph, std::vector<RecurrentModule>* modules);
// The same where no graph can say it.
void CountAllOutputs(const std::string& why, std::vector<RecurrentModule>* modules);

// The arguments of forward that the graph was captured with, as part_recurrent_modules.py compares them:
// "[(torch.float32, (512, 10, 128)), None]".
std::string CapturedArguments(const graph::Graph& graph);

}  // namespace hone

// Divides a program into kernels. Each has one domain: the points it computes something at, with some of the
// axes reduced. A kernel grows by what follows it as long as it still has one domain: maps before a
// reduction, the reduction, others along the same axes, and maps behind them, over all elements again or over
// the rows that are left. What no kernel covers stays an ATen call.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "codegen/fused/lower.h"

namespace hone::fused {

// One step of a kernel at one point of its domain.
struct Instruction {
  ItemId item = -1;
  ItemKind kind = ItemKind::kMap;
  std::vector<int> args;  // instructions
  Strides strides;        // of a load, a place, a window, a gather: strides per axis of the domain
  int64_t start = 0;      // of a load, a place, a gather
  ItemId source = -1;     // of a load: the item it reads, a kTensor or one that another kernel has written
  // Of a gather: memory strides of the indices that args begin with. Another argument says where to read.
  Strides axis_strides;
  bool per_row = false;  // the same along all reduced axes
  int ready = 0;         // how many stages of reductions must be done before
};

struct Output {
  int instruction = -1;
  ItemId item = -1;
  Strides strides;  // its result is contiguous
};

struct Kernel {
  std::vector<ItemId> items;
  Shape domain;
  std::vector<bool> reduced;  // per axis of the domain; the scanned axis of a scan
  std::vector<Instruction> instructions;
  std::vector<Output> outputs;
  bool scans = false;
  // Of pooling: the maps that stand before it, over the elements of its input; its one output is what is
  // pooled.
  std::shared_ptr<const Kernel> before;
};

struct Step {
  bool is_call = false;
  graph::NodeId node{-1};
  int kernel = -1;
};

struct Plan {
  Lowered lowered;
  std::vector<Kernel> kernels;
  std::vector<Step> steps;
};

// Nodes of `as_calls`, and those for which no domain is found, stay ATen calls.
Plan DivideIntoKernels(const graph::Graph& graph, std::set<graph::NodeId> as_calls = {});

// The nodes of the graph that a kernel computes.
std::set<graph::NodeId> NodesOf(const Plan& plan, const std::vector<ItemId>& items);

}  // namespace hone::fused

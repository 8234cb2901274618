// Divides a program into kernels. Each kernel has one domain: the points at which it computes, with some axes
// reduced. A kernel absorbs following items as long as it still has one domain: maps before a reduction, the
// reduction, others along the same axes, and maps after them, over all elements again or over the remaining
// rows. Nodes without a kernel stay ATen calls.
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
  std::vector<int> args;  // numbers of instructions
  Strides strides;        // for a load, place, window or gather: strides per axis of the domain
  int64_t start = 0;      // for a load, place or gather
  ItemId source = -1;     // for a load: the item it reads, a kTensor or an item of another kernel
  // For a gather: memory strides for the indices, which come first in args. One more arg says where to read.
  Strides axis_strides;
  bool per_row = false;  // constant along all reduced axes
  int ready = 0;         // number of reduction stages that must be finished before it
};

struct Output {
  int instruction = -1;
  ItemId item = -1;
  Strides strides;  // strides in the domain; the output itself is contiguous
};

struct Kernel {
  std::vector<ItemId> items;
  Shape domain;
  std::vector<bool> reduced;  // per axis of the domain; for a scan, the scanned axis
  std::vector<Instruction> instructions;
  std::vector<Output> outputs;
  bool scans = false;
  // For pooling: the maps before it, over the elements of its input. Their one output is the pooling's input.
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

// Nodes in `as_calls`, and nodes without a domain, stay ATen calls.
Plan DivideIntoKernels(const graph::Graph& graph, std::set<graph::NodeId> as_calls = {});

// The graph's nodes that a kernel with these items computes.
std::set<graph::NodeId> NodesOf(const Plan& plan, const std::vector<ItemId>& items);

}  // namespace hone::fused

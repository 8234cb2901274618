// What fused kernels compute, operator by operator but smaller than ATen's: maps over elements, reductions,
// reshapes, windows, scans. A softmax is here a reduction and two maps, a layer norm a reduction and five.
// lower.h makes a program of a graph, groups.h divides it into kernels, emit.h writes them.
//
// An item has the shape that it would have as a tensor; its arguments are broadcast to that shape as in
// PyTorch. A reduction keeps its axes with length 1. Items stand in an order in which arguments come first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace hone::fused {

using graph::DType;
using graph::Shape;
using graph::ValueId;
using Strides = std::vector<int64_t>;

using ItemId = int;

enum class ItemKind {
  kTensor,   // a value of the graph, seen with `shape` and `strides`
  kNumber,   // the same number everywhere
  kMap,      // `op` over elements: "$0 + $1" with its arguments, $C the type that is computed with
  kReduce,   // `op` names a struct of part_fused.cu, along `axes`; only kField reads it
  kField,    // `op` of a reduction: "mean()"
  kReshape,  // the same elements in the same order
  kGather,   // of a tensor (first argument), at an index (second) along axes[0]
  kWindow,   // `op` over windows of a tensor: max or average pooling
  kScan,     // `op` along axes[0]
};

struct Window {
  bool maximum = false;
  // For the last axes.size() axes.
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool count_padding = true;
  int64_t divisor = 0;  // 0: the size of the window
};

struct Item {
  ItemKind kind = ItemKind::kMap;
  std::string op;
  std::vector<ItemId> args;
  DType dtype = DType::kFloat32;
  Shape shape;
  Strides strides;            // of kTensor
  std::vector<int64_t> axes;  // of kReduce, kGather and kScan
  double number = 0;          // of kNumber
  ValueId value{-1};          // of kTensor: what it reads
  Window window;              // of kWindow
  bool reversed = false;      // of kScan
  bool exclusive = false;

  int64_t elements() const { return graph::ElementsOf(shape); }
  bool computes() const { return kind != ItemKind::kTensor && kind != ItemKind::kNumber; }
};

class Program {
 public:
  const std::vector<Item>& items() const { return items_; }
  const Item& at(ItemId id) const { return items_[static_cast<size_t>(id)]; }

  ItemId Tensor(ValueId value, const graph::TensorType& type);
  // The same tensor seen with other axes.
  ItemId Seen(ItemId tensor, Shape shape, Strides strides);
  ItemId Number(double number, DType dtype);
  ItemId Map(std::string op, std::vector<ItemId> args, DType dtype);
  ItemId Reduce(std::string op, ItemId arg, std::vector<int64_t> axes);
  ItemId Field(ItemId reduction, std::string op, DType dtype);
  ItemId Reshape(ItemId arg, Shape shape);
  // The same elements, repeated along axes of length 1 and new axes in front.
  ItemId Broadcast(ItemId arg, Shape shape);
  ItemId Gather(ItemId tensor, ItemId index, int64_t axis);
  ItemId Pool(ItemId arg, Window window, Shape shape);
  ItemId Scan(std::string op, ItemId arg, int64_t axis, DType dtype, bool reversed, bool exclusive);
  // The item with elements of another type. Half precision is computed in float; a cast to it rounds.
  ItemId Cast(ItemId arg, DType dtype);

 private:
  ItemId Add(Item item);
  std::vector<Item> items_;
};

// The C++ type that elements are computed with, and the one they have in memory.
const char* ComputedType(DType dtype);
const char* StoredType(DType dtype);

}  // namespace hone::fused

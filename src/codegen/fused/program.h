// The computations of fused kernels, in operators that are smaller than ATen's: maps over elements,
// reductions, reshapes, windows, scans. A softmax is a reduction and two maps, a layer norm a reduction and
// five. lower.h turns a graph into a program, groups.h divides it into kernels, emit.h writes them.
//
// An item has the shape of the corresponding tensor. Its arguments are broadcast to that shape as in PyTorch.
// A reduction keeps its axes with length 1. Items come after their arguments.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace hone::fused {

using graph::DType;
using graph::Shape;
using graph::ValueId;
using Strides = std::vector<int64_t>;

using ItemId = int;

enum class ItemKind {
  kTensor,   // a value of the graph, viewed with `shape` and `strides`
  kNumber,   // the same number for every element
  kMap,      // `op` over elements: "$0 + $1" with its arguments; $C is the type it computes in
  kReduce,   // `op` names a struct of part_fused.cu; reduces `axes`; only kField reads it
  kField,    // `op` is a field of a reduction: "mean()"
  kReshape,  // the same elements in the same order
  kPlace,    // the index of an element along the first axis: 0, 1, 2, ...
  kView,     // elements of the argument, by `strides` in its order and an offset `start`
  kGather,   // a view with an additional index along each of `axes` of the argument
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
  Strides strides;            // for kTensor: in memory; for kView and kGather: in the argument's order
  int64_t start = 0;          // for kView and kGather
  std::vector<int64_t> axes;  // for kReduce, kGather and kScan
  // For kGather: the last argument says which elements are read; the others are 0.
  bool guarded = false;
  bool cheap = false;     // for kMap: readers recompute it
  double number = 0;      // for kNumber
  ValueId value{-1};      // for kTensor: the value it reads
  Window window;          // for kWindow
  bool reversed = false;  // for kScan
  bool exclusive = false;

  int64_t elements() const { return graph::ElementsOf(shape); }
  bool computes() const {
    return kind != ItemKind::kTensor && kind != ItemKind::kNumber && kind != ItemKind::kPlace;
  }
  // True if readers find the elements by themselves, so that the item is never written.
  bool is_view() const { return kind == ItemKind::kView || kind == ItemKind::kGather; }
};

class Program {
 public:
  const std::vector<Item>& items() const { return items_; }
  const Item& at(ItemId id) const { return items_[static_cast<size_t>(id)]; }

  ItemId Tensor(ValueId value, const graph::TensorType& type);
  // The same tensor, viewed with other axes.
  ItemId Seen(ItemId tensor, Shape shape, Strides strides);
  ItemId Number(double number, DType dtype);
  ItemId Filled(double number, Shape shape, DType dtype);
  ItemId Map(std::string op, std::vector<ItemId> args, DType dtype);
  // A map of indices, or of values that depend only on indices.
  ItemId CheapMap(std::string op, std::vector<ItemId> args, DType dtype) {
    const ItemId made = Map(std::move(op), std::move(args), dtype);
    items_.back().cheap = true;
    return made;
  }
  ItemId Reduce(std::string op, ItemId arg, std::vector<int64_t> axes);
  ItemId Field(ItemId reduction, std::string op, DType dtype);
  ItemId Reshape(ItemId arg, Shape shape);
  // The same elements, repeated along axes of length 1 and along new leading axes.
  ItemId Broadcast(ItemId arg, Shape shape);
  // The indices 0 to size - 1, along an axis that is followed by `behind` others.
  ItemId Place(int64_t size, int64_t behind);
  ItemId View(ItemId arg, Shape shape, Strides strides, int64_t start);
  // `indices` are broadcast to `shape`. Each must be in range along its axis of `arg`, or nothing is read
  // there.
  ItemId Gather(ItemId arg, Shape shape, Strides strides, std::vector<int64_t> axes,
                std::vector<ItemId> indices, std::optional<ItemId> guard = std::nullopt);
  ItemId Pool(ItemId arg, Window window, Shape shape);
  ItemId Scan(std::string op, ItemId arg, int64_t axis, DType dtype, bool reversed, bool exclusive);
  // Casts to another type. Half precision is computed in float, and a cast to it rounds.
  ItemId Cast(ItemId arg, DType dtype);

 private:
  ItemId Add(Item item);
  std::vector<Item> items_;
};

// The C++ type in which elements are computed, and the one in memory.
const char* ComputedType(DType dtype);
const char* StoredType(DType dtype);

// Returns the item behind any reshapes.
ItemId WithoutReshapes(const Program& program, ItemId item);

}  // namespace hone::fused

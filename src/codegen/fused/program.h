// What fused kernels compute, in operators that are smaller than ATen's: maps over elements, reductions,
// reshapes, windows, scans. A softmax is here a reduction and two maps, a layer norm a reduction and five.
// lower.h makes a program of a graph, groups.h divides it into kernels, emit.h writes them.
//
// An item has the shape that it would have as a tensor; its arguments are broadcast to that shape as in
// PyTorch. A reduction keeps its axes with length 1. Items stand in an order in which arguments come first.
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
  kTensor,   // a value of the graph, seen with `shape` and `strides`
  kNumber,   // the same number everywhere
  kMap,      // `op` over elements: "$0 + $1" with its arguments, $C the type that is computed with
  kReduce,   // `op` names a struct of part_fused.cu, along `axes`; only kField reads it
  kField,    // `op` of a reduction: "mean()"
  kReshape,  // the same elements in the same order
  kPlace,    // where an element stands along the first axis: 0, 1, 2, ...
  kView,     // elements of the argument, `strides` apart in its order and from `start` on
  kGather,   // a view whose elements also move along `axes` of the argument, by an index for each
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
  Strides strides;            // of kTensor: in memory; of kView and kGather: in the argument's order
  int64_t start = 0;          // of kView and kGather
  std::vector<int64_t> axes;  // of kReduce, kGather and kScan
  // Of kGather: the last argument says where elements are read; elsewhere they are 0.
  bool guarded = false;
  bool cheap = false;     // of kMap: whoever reads it computes it again
  double number = 0;      // of kNumber
  ValueId value{-1};      // of kTensor: what it reads
  Window window;          // of kWindow
  bool reversed = false;  // of kScan
  bool exclusive = false;

  int64_t elements() const { return graph::ElementsOf(shape); }
  bool computes() const {
    return kind != ItemKind::kTensor && kind != ItemKind::kNumber && kind != ItemKind::kPlace;
  }
  // Whoever reads it finds the elements by itself; it is never written.
  bool is_view() const { return kind == ItemKind::kView || kind == ItemKind::kGather; }
};

class Program {
 public:
  const std::vector<Item>& items() const { return items_; }
  const Item& at(ItemId id) const { return items_[static_cast<size_t>(id)]; }

  ItemId Tensor(ValueId value, const graph::TensorType& type);
  // The same tensor seen with other axes.
  ItemId Seen(ItemId tensor, Shape shape, Strides strides);
  ItemId Number(double number, DType dtype);
  ItemId Filled(double number, Shape shape, DType dtype);
  ItemId Map(std::string op, std::vector<ItemId> args, DType dtype);
  // Of indices and of what depends on them alone.
  ItemId CheapMap(std::string op, std::vector<ItemId> args, DType dtype) {
    const ItemId made = Map(std::move(op), std::move(args), dtype);
    items_.back().cheap = true;
    return made;
  }
  ItemId Reduce(std::string op, ItemId arg, std::vector<int64_t> axes);
  ItemId Field(ItemId reduction, std::string op, DType dtype);
  ItemId Reshape(ItemId arg, Shape shape);
  // The same elements, repeated along axes of length 1 and new axes in front.
  ItemId Broadcast(ItemId arg, Shape shape);
  // 0 to size - 1 along an axis that `behind` others follow.
  ItemId Place(int64_t size, int64_t behind);
  ItemId View(ItemId arg, Shape shape, Strides strides, int64_t start);
  // `indices` are broadcast to `shape`; each is in range along its axis of `arg`, or nothing is read there.
  ItemId Gather(ItemId arg, Shape shape, Strides strides, std::vector<int64_t> axes,
                std::vector<ItemId> indices, std::optional<ItemId> guard = std::nullopt);
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

// The item whose elements a reshape passes on.
ItemId WithoutReshapes(const Program& program, ItemId item);

}  // namespace hone::fused

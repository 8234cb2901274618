// Turns a graph into a program. Nodes for which Hone has kernels become items. All others stay ATen calls,
// and items read their results as tensors.
//
// To add an operator: a map needs one line in the tables of lower.cpp. Others need a branch in
// lower_reduce.cpp, lower_loss.cpp, lower_index.cpp (views, indices) or lower_place.cpp (results that depend
// on an element's position).
#pragma once

#include <map>
#include <set>
#include <vector>

#include "codegen/fused/program.h"

namespace hone::fused {

struct Lowered {
  Program program;
  std::map<ValueId, ItemId> item_of;    // graph values that the program computes or reads
  std::vector<graph::NodeId> calls;     // nodes that stay ATen calls, in order
  std::vector<graph::NodeId> made_for;  // the node of each item
};

// Nodes in `as_calls` stay ATen calls, because no kernel can be written for their items.
Lowered Lower(const graph::Graph& graph, const std::set<graph::NodeId>& as_calls = {});

// Lowers one node for lower.cpp. Returns one item per result, -1 for an unused one. Empty if there is no
// kernel for the node.
class Lowering {
 public:
  Lowering(const graph::Graph& graph, const std::set<graph::NodeId>& as_calls)
      : graph_(graph), as_calls_(as_calls) {}
  Lowered Run();

 private:
  using Items = std::vector<ItemId>;

  Items LowerNode(const graph::Node& node);
  Items LowerMap(const graph::Node& node, const std::string& name);
  Items LowerGuarded(const graph::Node& node);
  Items LowerFill(const graph::Node& node, const std::string& name);
  Items LowerView(const graph::Node& node, const std::string& name);
  Items LowerReduction(const graph::Node& node, const std::string& name);
  Items LowerNorm(const graph::Node& node, const std::string& name);
  Items LowerLoss(const graph::Node& node, const std::string& name);
  Items LowerDistanceLoss(const graph::Node& node, const std::string& name);
  Items LowerCrossEntropy(const graph::Node& node, bool of_logs);
  Items LowerSoftCrossEntropy(const graph::Node& node);
  Items LowerPool(const graph::Node& node, const std::string& name);
  // lower_window.cpp
  Items LowerTaps(const graph::Node& node, const std::string& name);
  struct PoolName {
    size_t spatial = 0;
    bool adaptive = false, maximum = false;
  };
  static std::optional<PoolName> NamedPool(const std::string& name);
  static Window WindowOf(const graph::Node& node, size_t spatial);
  struct WindowAxis {
    ItemId begin = -1, end = -1;
    int64_t taps = 0, step = 1;
  };
  std::optional<WindowAxis> AdaptiveAxis(int64_t from, int64_t to, int64_t behind);
  WindowAxis StridedAxis(const Window& window, size_t which, int64_t from, int64_t to, int64_t behind);
  Items LowerSimilarity(const graph::Node& node, const std::string& name);
  Items LowerScan(const graph::Node& node, const std::string& name);
  // lower_index.cpp
  Items LowerPermute(const graph::Node& node, const std::string& name);
  Items LowerSlice(const graph::Node& node, const std::string& name);
  Items LowerIndex(const graph::Node& node, const std::string& name);
  ItemId Sliced(ItemId x, size_t axis, int64_t from, int64_t size, int64_t step);
  ItemId Chosen(ItemId x, const Shape& shape, Strides strides, size_t axis, ItemId index);
  // lower_place.cpp
  Items LowerCat(const graph::Node& node, const std::string& name);
  Items LowerPad(const graph::Node& node, const std::string& name);
  Items LowerPlace(const graph::Node& node, const std::string& name);
  ItemId Copied(ItemId view, const Shape& shape);
  ItemId Moved(ItemId x, const Shape& shape, std::vector<int64_t> axes, Items indices,
               std::optional<ItemId> inside);

  ItemId ItemOf(ValueId value);
  // Returns the item of an argument that is a tensor or a number.
  std::optional<ItemId> Operand(const graph::Node& node, std::string_view name);
  std::optional<ItemId> OperandAs(const graph::Node& node, std::string_view name, DType dtype);
  ItemId Affine(ItemId x, std::optional<ValueId> weight, std::optional<ValueId> bias, int64_t axis,
                DType dtype);
  ItemId Channels(ValueId vector, int64_t axis, int64_t rank);
  ItemId WithLoss(ItemId x, int64_t reduction);
  std::vector<int64_t> AxesOf(const graph::Node& node, std::string_view name, int64_t rank);
  ItemId Reduced(const std::string& op, const std::string& field, ItemId x, std::vector<int64_t> axes,
                 DType dtype);
  ItemId WithoutAxes(ItemId reduced, const std::vector<int64_t>& axes, bool keep);
  DType TypeOf(const graph::Node& node) const { return graph_.type(node.result()).dtype; }
  const Shape& ShapeOf(ItemId id) const { return out_.program.at(id).shape; }

  const graph::Graph& graph_;
  const std::set<graph::NodeId>& as_calls_;
  Lowered out_;
};

}  // namespace hone::fused

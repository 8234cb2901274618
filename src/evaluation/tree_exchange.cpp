#include "evaluation/tree_exchange.h"

#include <algorithm>

namespace hone {

namespace {

constexpr size_t kDeviceAlignment = 16;

bool SameLayout(const std::vector<TensorLeaf>& a, const std::vector<TensorLeaf>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const TensorLeaf& x, const TensorLeaf& y) {
    return x.path == y.path && x.dtype == y.dtype && x.shape == y.shape && x.stride == y.stride &&
           x.offset == y.offset;
  });
}

}  // namespace

Result<TensorTree> FetchTree(WorkerProcess& worker, DevicePlane& plane, const Json& description,
                             const TreeWish& wish, Exchange* exchange) {
  HONE_ASSIGN_OR_RETURN(TensorTree tree,
                        ParseLayout(description, size_t{1} << 50, kDeviceAlignment, wish.root));
  if (tree.size > wish.most_bytes) return tree;
  HONE_ASSIGN_OR_RETURN(DeviceBuffer buffer, plane.Allocate(std::max<size_t>(tree.size, 1), true));
  HONE_ASSIGN_OR_RETURN(const UniqueFd exported, buffer.Export());
  const FetchRequest request = {buffer.mapped_bytes(), true, wish.trim};
  HONE_ASSIGN_OR_RETURN(const auto fetched, worker.Call(request, {exported.get()}, wish.seconds));
  exchange->received_ns = fetched.received_ns;
  exchange->failure = fetched.failure;
  tree.device = std::make_shared<DeviceValues>(plane, std::move(buffer));
  return tree;
}

Result<WorkerReply<Nothing>> PutTree(WorkerProcess& worker, const std::string& name, const TensorTree& tree,
                                     bool in_place, double seconds, PlacedInputs* placed) {
  PutInputsRequest request = {name, tree.description, in_place};
  if (tree.device == nullptr) return worker.Call(request, {tree.blob.fd()}, seconds);
  DevicePlane& plane = tree.device->plane();
  const DeviceSpan from = tree.device->buffer().span();
  if (in_place && placed != nullptr && placed->values != nullptr && SameLayout(placed->leaves, tree.leaves)) {
    HONE_RETURN_IF_ERROR(plane.Copy(placed->values->buffer().span(), from));
    return worker.Call(request, {}, seconds);
  }
  request.in_place = false;
  HONE_ASSIGN_OR_RETURN(DeviceBuffer buffer, plane.Allocate(from.bytes, true));
  HONE_RETURN_IF_ERROR(plane.Copy(buffer.span(), from));
  HONE_ASSIGN_OR_RETURN(const UniqueFd exported, buffer.Export());
  request.bytes = buffer.mapped_bytes();
  request.on_device = true;
  HONE_ASSIGN_OR_RETURN(auto reply, worker.Call(request, {exported.get()}, seconds));
  if (placed != nullptr) *placed = {tree.leaves, std::make_shared<DeviceValues>(plane, std::move(buffer))};
  return reply;
}

}  // namespace hone

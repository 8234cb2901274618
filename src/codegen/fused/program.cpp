#include "codegen/fused/program.h"

#include <utility>

namespace hone::fused {

const char* ComputedType(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return "double";
    case DType::kInt64:
      return "long long";
    case DType::kInt32:
      return "int";
    case DType::kInt16:
      return "short";
    case DType::kInt8:
      return "signed char";
    case DType::kUInt8:
      return "unsigned char";
    case DType::kBool:
      return "bool";
    default:
      return "float";
  }
}

const char* StoredType(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return "half_t";
    case DType::kBFloat16:
      return "bfloat_t";
    case DType::kBool:
      return "unsigned char";
    default:
      return ComputedType(dtype);
  }
}

ItemId Program::Add(Item item) {
  items_.push_back(std::move(item));
  return static_cast<ItemId>(items_.size()) - 1;
}

ItemId Program::Tensor(ValueId value, const graph::TensorType& type) {
  Item item;
  item.kind = ItemKind::kTensor;
  item.value = value;
  item.dtype = type.dtype;
  item.shape = type.shape;
  item.strides = type.strides;
  return Add(std::move(item));
}

ItemId Program::Seen(ItemId tensor, Shape shape, Strides strides) {
  Item item = at(tensor);
  item.shape = std::move(shape);
  item.strides = std::move(strides);
  return Add(std::move(item));
}

ItemId Program::Number(double number, DType dtype) {
  Item item;
  item.kind = ItemKind::kNumber;
  item.number = number;
  item.dtype = dtype;
  return Add(std::move(item));
}

ItemId Program::Filled(double number, Shape shape, DType dtype) {
  Item item;
  item.op = "$0";
  item.args = {Number(number, dtype)};
  item.dtype = dtype;
  item.shape = std::move(shape);
  return Add(std::move(item));
}

ItemId Program::Map(std::string op, std::vector<ItemId> args, DType dtype) {
  Item item;
  item.op = std::move(op);
  item.dtype = dtype;
  for (const ItemId arg : args)
    item.shape = graph::BroadcastShapes(item.shape, at(arg).shape).value_or(item.shape);
  item.args = std::move(args);
  return Add(std::move(item));
}

ItemId Program::Reduce(std::string op, ItemId arg, std::vector<int64_t> axes) {
  Item item;
  item.kind = ItemKind::kReduce;
  item.op = std::move(op);
  item.args = {arg};
  item.dtype = at(arg).dtype;
  item.shape = at(arg).shape;
  for (const int64_t axis : axes) item.shape[static_cast<size_t>(axis)] = 1;
  item.axes = std::move(axes);
  return Add(std::move(item));
}

ItemId Program::Field(ItemId reduction, std::string op, DType dtype) {
  Item item;
  item.kind = ItemKind::kField;
  item.op = std::move(op);
  item.args = {reduction};
  item.dtype = dtype;
  item.shape = at(reduction).shape;
  return Add(std::move(item));
}

ItemId Program::Reshape(ItemId arg, Shape shape) {
  if (at(arg).shape == shape) return arg;
  if (at(arg).kind == ItemKind::kNumber) return arg;
  Item item;
  item.kind = ItemKind::kReshape;
  item.args = {arg};
  item.dtype = at(arg).dtype;
  item.shape = std::move(shape);
  return Add(std::move(item));
}

ItemId Program::Broadcast(ItemId arg, Shape shape) {
  if (at(arg).shape == shape || at(arg).kind == ItemKind::kNumber) return arg;
  Item item;
  item.op = "$0";
  item.args = {arg};
  item.dtype = at(arg).dtype;
  item.shape = std::move(shape);
  return Add(std::move(item));
}

ItemId Program::Place(int64_t size, int64_t behind) {
  Item item;
  item.kind = ItemKind::kPlace;
  item.dtype = DType::kInt32;
  item.shape.assign(static_cast<size_t>(behind) + 1, 1);
  item.shape[0] = size;
  return Add(std::move(item));
}

ItemId Program::View(ItemId arg, Shape shape, Strides strides, int64_t start) {
  if (at(arg).kind == ItemKind::kNumber) return arg;
  Item item;
  item.kind = ItemKind::kView;
  item.args = {arg};
  item.dtype = at(arg).dtype;
  item.shape = std::move(shape);
  item.strides = std::move(strides);
  item.start = start;
  return Add(std::move(item));
}

ItemId Program::Gather(ItemId arg, Shape shape, Strides strides, std::vector<int64_t> axes,
                       std::vector<ItemId> indices, std::optional<ItemId> guard) {
  if (at(arg).kind == ItemKind::kNumber) return arg;
  Item item;
  item.kind = ItemKind::kGather;
  item.args = {arg};
  item.args.insert(item.args.end(), indices.begin(), indices.end());
  if (guard) item.args.push_back(*guard);
  item.guarded = guard.has_value();
  item.dtype = at(arg).dtype;
  item.shape = std::move(shape);
  item.strides = std::move(strides);
  item.axes = std::move(axes);
  return Add(std::move(item));
}

ItemId Program::Pool(ItemId arg, Window window, Shape shape) {
  Item item;
  item.kind = ItemKind::kWindow;
  item.args = {arg};
  item.dtype = at(arg).dtype;
  item.window = std::move(window);
  item.shape = std::move(shape);
  return Add(std::move(item));
}

ItemId Program::Scan(std::string op, ItemId arg, int64_t axis, DType dtype, bool reversed, bool exclusive) {
  Item item;
  item.kind = ItemKind::kScan;
  item.op = std::move(op);
  item.args = {arg};
  item.dtype = dtype;
  item.shape = at(arg).shape;
  item.axes = {axis};
  item.reversed = reversed;
  item.exclusive = exclusive;
  return Add(std::move(item));
}

ItemId Program::Cast(ItemId arg, DType dtype) {
  const DType from = at(arg).dtype;
  if (from == dtype) return arg;
  if (at(arg).kind == ItemKind::kNumber) return Number(at(arg).number, dtype);
  if (dtype == DType::kFloat16) return Map("RoundToHalf($0)", {Cast(arg, DType::kFloat32)}, dtype);
  if (dtype == DType::kBFloat16) return Map("RoundToBfloat($0)", {Cast(arg, DType::kFloat32)}, dtype);
  if (dtype == DType::kBool) return Map("$0 != 0", {arg}, dtype);
  return Map("($C)$0", {arg}, dtype);
}

ItemId WithoutReshapes(const Program& program, ItemId item) {
  while (program.at(item).kind == ItemKind::kReshape) item = program.at(item).args[0];
  return item;
}

}  // namespace hone::fused

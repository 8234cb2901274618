#include "graph/tensor_type.h"

#include <fmt/format.h>

#include <iterator>

namespace hone::graph {

namespace {

struct DTypeRow {
  DType dtype;
  const char* name;
  int64_t bytes;
};

// The rows are in the order of the enum.
constexpr DTypeRow kDTypes[] = {
    {DType::kFloat64, "float64", 8},     {DType::kFloat32, "float32", 4},
    {DType::kFloat16, "float16", 2},     {DType::kBFloat16, "bfloat16", 2},
    {DType::kInt64, "int64", 8},         {DType::kInt32, "int32", 4},
    {DType::kInt16, "int16", 2},         {DType::kInt8, "int8", 1},
    {DType::kUInt8, "uint8", 1},         {DType::kBool, "bool", 1},
    {DType::kComplex64, "complex64", 8}, {DType::kComplex128, "complex128", 16},
};

constexpr bool IsInOrder() {
  for (size_t i = 0; i < std::size(kDTypes); ++i)
    if (static_cast<size_t>(kDTypes[i].dtype) != i) return false;
  return true;
}
static_assert(IsInOrder());

const DTypeRow& RowOf(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)];
}

std::string ListText(const std::vector<int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ", "));
}

}  // namespace

const char* NameOf(DType dtype) {
  return RowOf(dtype).name;
}

std::optional<DType> DTypeFromName(std::string_view name) {
  for (const DTypeRow& row : kDTypes)
    if (name == row.name) return row.dtype;
  return std::nullopt;
}

int64_t BytesOf(DType dtype) {
  return RowOf(dtype).bytes;
}

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat64 || dtype == DType::kFloat32 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

bool IsComplex(DType dtype) {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128;
}

bool IsInteger(DType dtype) {
  return !IsFloating(dtype) && !IsComplex(dtype) && dtype != DType::kBool;
}

int64_t ElementsOf(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

int64_t TensorType::elements() const {
  return ElementsOf(shape);
}

bool TensorType::is_contiguous() const {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

std::vector<int64_t> ContiguousStrides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i] == 0 ? 1 : shape[i];
  }
  return strides;
}

TensorType ContiguousType(DType dtype, Shape shape) {
  std::vector<int64_t> strides = ContiguousStrides(shape);
  return {dtype, std::move(shape), std::move(strides)};
}

std::optional<int64_t> NormalizeAxis(int64_t axis, int64_t rank) {
  const int64_t axes = rank == 0 ? 1 : rank;
  if (axis < -axes || axis >= axes) return std::nullopt;
  return axis < 0 ? axis + axes : axis;
}

std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape shape = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = shape[offset + i];
    if (size == shorter[i] || shorter[i] == 1) continue;
    if (size != 1) return std::nullopt;
    size = shorter[i];
  }
  return shape;
}

std::string ToText(const TensorType& type) {
  std::string text = fmt::format("{}[{}]", NameOf(type.dtype), ListText(type.shape));
  if (!type.is_contiguous()) text += fmt::format("{{{}}}", ListText(type.strides));
  return text;
}

}  // namespace hone::graph

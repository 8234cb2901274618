// The type of a tensor in the graph: element type, shape and strides. Strides count elements, as in PyTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::graph {

enum class DType {
  kFloat64,
  kFloat32,
  kFloat16,
  kBFloat16,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUInt8,
  kBool,
  kComplex64,
  kComplex128,
};

// "float32" and the like, as PyTorch spells them.
const char* NameOf(DType dtype);
std::optional<DType> DTypeFromName(std::string_view name);
int64_t BytesOf(DType dtype);
bool IsFloating(DType dtype);  // float16 to float64
bool IsComplex(DType dtype);
bool IsInteger(DType dtype);  // bool is none

using Shape = std::vector<int64_t>;

struct TensorType {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<int64_t> strides;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t elements() const;
  int64_t bytes() const { return elements() * BytesOf(dtype); }
  // Every element once, in order, without gaps. Axes of length 1 may have any stride.
  bool is_contiguous() const;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// The strides of a contiguous tensor.
std::vector<int64_t> ContiguousStrides(const Shape& shape);
TensorType ContiguousType(DType dtype, Shape shape);
// -1 becomes rank-1. Nothing for an axis that does not exist; a scalar has the axes 0 and -1, as in PyTorch.
std::optional<int64_t> NormalizeAxis(int64_t axis, int64_t rank);
// The shape of an elementwise operation on both, or nothing when they do not broadcast.
std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b);
int64_t ElementsOf(const Shape& shape);

// "float32[8, 512]", with strides when they are not the contiguous ones: "float32[8, 512]{1, 8}".
std::string ToText(const TensorType& type);

}  // namespace hone::graph

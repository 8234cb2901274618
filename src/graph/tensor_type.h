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

// PyTorch's name for the dtype, such as "float32".
const char* NameOf(DType dtype);
std::optional<DType> DTypeFromName(std::string_view name);
int64_t BytesOf(DType dtype);
bool IsFloating(DType dtype);  // float16 to float64
bool IsComplex(DType dtype);
bool IsInteger(DType dtype);  // bool is not an integer

using Shape = std::vector<int64_t>;

struct TensorType {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<int64_t> strides;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t elements() const;
  int64_t bytes() const { return elements() * BytesOf(dtype); }
  // True if the elements are stored in order without gaps. Axes of length 1 may have any stride.
  bool is_contiguous() const;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// The strides of a contiguous tensor.
std::vector<int64_t> ContiguousStrides(const Shape& shape);
TensorType ContiguousType(DType dtype, Shape shape);
// Turns -1 into rank-1. No value if the axis does not exist. A scalar has the axes 0 and -1, as in PyTorch.
std::optional<int64_t> NormalizeAxis(int64_t axis, int64_t rank);
// The result shape of an elementwise operation, or no value if the shapes do not broadcast.
std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b);
int64_t ElementsOf(const Shape& shape);

// "float32[8, 512]". Strides that are not contiguous are added: "float32[8, 512]{1, 8}".
std::string ToText(const TensorType& type);

}  // namespace hone::graph

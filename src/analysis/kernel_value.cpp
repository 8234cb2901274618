#include "analysis/kernel_value.h"

#include <algorithm>

namespace hone {

std::string KernelValue::ExtentsText() const {
  if (!is_block()) return "scalar";
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) out += ", ";
    out += shape[i] == kAnyExtent ? "?" : std::to_string(shape[i]);
  }
  return out + "]";
}

void KernelValue::DependOn(const KernelValue& other) {
  run_time = run_time || other.run_time || other.is_block();
  program_axes |= other.program_axes;
  loops |= other.loops;
  ranges = ranges || other.ranges;
  divided = divided || other.divided;
  carries_state = carries_state || other.carries_state;
}

KernelValue KernelValue::Of(Kind kind) {
  KernelValue value;
  value.kind = kind;
  return value;
}

KernelValue KernelValue::Constexpr(Constant constant) {
  KernelValue value;
  value.kind = Kind::kConstexpr;
  if (constant.kind == Constant::Kind::kInt) value.element = "int32";
  if (constant.kind == Constant::Kind::kFloat) value.element = "fp32";
  if (constant.kind == Constant::Kind::kBool) value.element = "int1";
  value.literal = true;
  value.constant = std::move(constant);
  return value;
}

KernelValue KernelValue::Block(std::vector<int64_t> shape) {
  KernelValue value;
  value.kind = Kind::kBlock;
  value.shape = std::move(shape);
  value.run_time = true;
  return value;
}

bool BroadcastShapes(const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                     std::vector<int64_t>* out) {
  const size_t rank = std::max(a.size(), b.size());
  out->assign(rank, 1);
  bool fits = true;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x == 1 || y == KernelValue::kAnyExtent)
      (*out)[i] = x == 1 ? y : x;
    else if (y == 1 || x == KernelValue::kAnyExtent || x == y)
      (*out)[i] = y == 1 ? x : y;
    else
      fits = false;
  }
  return fits;
}

}  // namespace hone

#include "codegen/fused/view.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace hone::fused {

std::optional<Affine> AffineThrough(const Affine& view, const Shape& domain, const Shape& shape,
                                    const Strides& target) {
  const Strides linear = graph::ContiguousStrides(shape);
  Affine out;
  out.strides.assign(view.strides.size(), 0);
  // For each run of axes that a step crosses, keyed by its innermost axis: how far the view extends down and
  // up.
  std::vector<size_t> outermost(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) outermost[i] = i;
  std::vector<int64_t> down(shape.size(), 0), up(shape.size(), 0);
  for (size_t d = 0; d < view.strides.size(); ++d) {
    const int64_t step = std::abs(view.strides[d]);
    if (domain[d] == 1 || step == 0) continue;
    const int64_t reach = step * (domain[d] - 1);
    // The innermost axis whose stride the step is a multiple of.
    size_t low = shape.size();
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] > 1 && step >= linear[i] && step % linear[i] == 0 && step < linear[i] * shape[i]) low = i;
    if (low == shape.size()) return std::nullopt;
    size_t high = low;
    int64_t covered = linear[low] * shape[low];
    while (reach >= covered && high > 0) {
      --high;
      if (shape[high] == 1) continue;
      covered = linear[high] * shape[high];
    }
    if (reach >= covered) return std::nullopt;
    size_t inner = low;
    for (size_t i = low; i-- > high;) {
      if (shape[i] == 1) continue;
      if (target[i] != target[inner] * shape[inner]) return std::nullopt;
      inner = i;
    }
    outermost[low] = std::min(outermost[low], high);
    (view.strides[d] < 0 ? down : up)[low] += reach;
    out.strides[d] = target[low] * (view.strides[d] / linear[low]);
  }
  if (view.start < 0 || view.start >= std::max<int64_t>(1, graph::ElementsOf(shape))) return std::nullopt;
  for (size_t i = 0; i < shape.size(); ++i) {
    // No step may carry into another axis.
    int64_t at = 0, size = linear[i] * shape[i];
    for (size_t j = outermost[i]; j <= i; ++j) {
      at += view.start / linear[j] % shape[j] * linear[j];
      if (shape[j] > 1) size = std::max(size, linear[j] * shape[j]);
    }
    if (at < down[i] || at + up[i] >= size) return std::nullopt;
    out.start += view.start / linear[i] % shape[i] * target[i];
  }
  return out;
}

std::optional<Strides> Through(const Strides& view, const Shape& domain, const Shape& shape,
                               const Strides& target) {
  const std::optional<Affine> out = AffineThrough(Affine{view, 0}, domain, shape, target);
  if (!out) return std::nullopt;
  return out->strides;
}

Strides BroadcastStrides(const Shape& from, const Strides& strides, const Shape& to) {
  Strides out(to.size(), 0);
  const size_t missing = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) out[missing + i] = strides[i];
  return out;
}

std::optional<Shape> Refine(const Shape& a, const Shape& b) {
  if (graph::ElementsOf(a) != graph::ElementsOf(b)) return std::nullopt;
  std::set<int64_t> steps = {1};
  for (const Shape* shape : {&a, &b}) {
    int64_t step = 1;
    for (size_t i = shape->size(); i-- > 0;) steps.insert(step *= (*shape)[i]);
  }
  Shape out;
  int64_t before = 1;
  for (const int64_t step : steps) {
    if (step == 1) continue;
    if (step % before != 0) return std::nullopt;
    out.insert(out.begin(), step / before);
    before = step;
  }
  return out;
}

std::vector<bool> AxesOfDomain(const Shape& domain, const Shape& shape, const std::vector<int64_t>& axes) {
  std::vector<bool> out(domain.size(), false);
  const Strides fine = graph::ContiguousStrides(domain), coarse = graph::ContiguousStrides(shape);
  for (size_t d = 0; d < domain.size(); ++d)
    for (const int64_t axis : axes) {
      const size_t i = static_cast<size_t>(axis);
      if (shape[i] > 1 && fine[d] >= coarse[i] && fine[d] < coarse[i] * shape[i]) out[d] = true;
    }
  return out;
}

}  // namespace hone::fused

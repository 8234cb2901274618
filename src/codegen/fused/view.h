// Maps points of a kernel's domain to elements. A domain is a list of sizes. A view gives each of its axes a
// stride in a linear order: an item's elements, or memory. A reshape does not change a view, which is why
// kernels can ignore reshapes.
#pragma once

#include <optional>

#include "codegen/fused/program.h"

namespace hone::fused {

// `view` indexes the elements of a tensor of shape `shape` in order. Each axis of that shape has a stride in
// `target`. Returns the corresponding view of the target. No value if an axis of the domain crosses axes that
// are not consecutive there.
std::optional<Strides> Through(const Strides& view, const Shape& domain, const Shape& shape,
                               const Strides& target);

// The same for a view with an offset `start`, which may also run backwards.
struct Affine {
  Strides strides;
  int64_t start = 0;
};
std::optional<Affine> AffineThrough(const Affine& view, const Shape& domain, const Shape& shape,
                                    const Strides& target);

// Strides of a contiguous tensor of shape `from` after broadcasting to `to`: 0 along repeated axes.
Strides BroadcastStrides(const Shape& from, const Strides& strides, const Shape& to);

// The coarsest list of sizes that both shapes can be folded from: {4, 6} and {2, 12} give {2, 2, 6}. No value
// if there is none.
std::optional<Shape> Refine(const Shape& a, const Shape& b);

// For each axis of the domain (from which `shape` can be folded): whether it belongs to one of `axes`.
std::vector<bool> AxesOfDomain(const Shape& domain, const Shape& shape, const std::vector<int64_t>& axes);

}  // namespace hone::fused

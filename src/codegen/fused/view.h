// How points of a kernel's domain find elements. A domain is a list of sizes; a view gives each of its axes a
// stride into something linear: the elements of an item in order, or memory. A reshape does not change a
// view, which is why a kernel may pass through one.
#pragma once

#include <optional>

#include "codegen/fused/program.h"

namespace hone::fused {

// `view` points into the elements of a tensor of shape `shape`, in order; each axis of that shape has a
// stride in `target`. The view of the target, or nothing if an axis of the domain crosses axes that do not
// lie one behind the other there.
std::optional<Strides> Through(const Strides& view, const Shape& domain, const Shape& shape,
                               const Strides& target);

// The same for a view that begins at `start` and may walk backwards.
struct Affine {
  Strides strides;
  int64_t start = 0;
};
std::optional<Affine> AffineThrough(const Affine& view, const Shape& domain, const Shape& shape,
                                    const Strides& target);

// Strides of a contiguous tensor of shape `from`, as seen after it was broadcast to `to`: 0 where it is
// repeated.
Strides BroadcastStrides(const Shape& from, const Strides& strides, const Shape& to);

// The coarsest list of sizes that both shapes can be folded from: {4, 6} and {2, 12} give {2, 2, 6}. Nothing
// if there is none.
std::optional<Shape> Refine(const Shape& a, const Shape& b);

// For each axis of the domain (which `shape` can be folded from): whether it belongs to one of the axes.
std::vector<bool> AxesOfDomain(const Shape& domain, const Shape& shape, const std::vector<int64_t>& axes);

}  // namespace hone::fused

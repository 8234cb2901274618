// Rounds a tile size that is a literal up to a power of two, in a kernel that masks all its accesses, so that
// it covers the same elements. A size that comes from a shape is left alone, and so is a parameter that the
// kernel also uses as a bound.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/fixes/tile_size.h"

namespace hone {

namespace {

constexpr int64_t kLargest = 4096;

}  // namespace

FixEdits FixPowerOfTwoBlock(const FixRequest& request) {
  const Candidate& candidate = request.candidate;
  const KernelProblem* problem = request.problem;
  if (problem == nullptr || request.node == nullptr || !request.node->Is(PyKind::kCall)) return {};
  const Kernel* kernel = KernelAround(candidate, request.node);
  if (kernel == nullptr || request.node->args.size() != 2) return {};
  const PyNode* start = request.node->args[0];
  const PyNode* end = request.node->args[1];
  if (!start->Is(PyKind::kInt) || start->integer != 0 || !end->Is(PyKind::kName)) return {};
  const PyNode* number = TileNumber(candidate, *kernel, *problem, end->name);
  if (number == nullptr || number->integer < 3 || number->integer > kLargest) return {};
  if (!IsOnlyATile(candidate, *kernel, number, end->name, false)) return {};
  int64_t next = 1;
  while (next < number->integer) next *= 2;
  if (next == number->integer) return {};
  return {{number->start, number->end, std::to_string(next)}};
}

}  // namespace hone

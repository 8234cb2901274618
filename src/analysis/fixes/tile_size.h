// Tile sizes that a file writes as numbers: where the number of a kernel's parameter stands, and whether a
// larger one would compute the same. Used by fixes that raise a tile (power_of_two_block.cpp,
// dot_extents.cpp).
#pragma once

#include "analysis/fixes/fix.h"

namespace hone {

// The number that the parameter gets in the launch and config of the problem: from the config, the launch or
// the default. Null where it is not written as a number that this parameter alone gets.
const PyNode* TileNumber(const Candidate& candidate, const Kernel& kernel, const KernelProblem& problem,
                         std::string_view param);
// The parameter is an extent and nothing else: no comparison uses it, its number stands nowhere else in the
// kernel, all reads and writes have a mask, and at addresses that depend on the tile the mask
// does too. `zeros`: what is read past the end must be zero.
bool IsOnlyATile(const Candidate& candidate, const Kernel& kernel, const PyNode* number,
                 std::string_view param, bool zeros);
// Whether a tl.arange or a block_shape of the kernel has the parameter for an extent.
bool IsAnExtent(const Candidate& candidate, const Kernel& kernel, std::string_view param);

}  // namespace hone

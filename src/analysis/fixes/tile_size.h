// Tile sizes that a file writes as literals: the position of the literal for a kernel's parameter, and
// whether a larger one would compute the same. Used by fixes that enlarge a tile (power_of_two_block.cpp,
// dot_extents.cpp).
#pragma once

#include "analysis/fixes/fix.h"

namespace hone {

// The number that the parameter gets in the problem's launch and config: from the config, the launch or the
// default. Null unless it is a literal used for this parameter only.
const PyNode* TileNumber(const Candidate& candidate, const Kernel& kernel, const KernelProblem& problem,
                         std::string_view param);
// True if the parameter is only an extent: no comparison uses it, its number occurs nowhere else in the
// kernel, all accesses have a mask, and at addresses that depend on the tile the mask depends on it too.
// `zeros`: values read past the end must be zero.
bool IsOnlyATile(const Candidate& candidate, const Kernel& kernel, const PyNode* number,
                 std::string_view param, bool zeros);
// Whether a tl.arange or a block_shape of the kernel has the parameter as an extent.
bool IsAnExtent(const Candidate& candidate, const Kernel& kernel, std::string_view param);

}  // namespace hone

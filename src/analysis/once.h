// Lazy initialisation: code that runs once per instance or key. Later calls do not pay for its waits and
// allocations.
#pragma once

#include "source/python_ast.h"

namespace hone {

// Whether the node is in the body of `if key not in kept:` or `if kept is None:`, and that body also fills
// `kept`. The container must outlive the call: an attribute, not a local name.
bool RunsOnce(const PyNode* node);

}  // namespace hone

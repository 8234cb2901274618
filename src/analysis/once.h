// Lazy initialisation: code that runs once per instance or key, not in every call. What it costs, a wait or
// an allocation, is not paid by the calls that follow.
#pragma once

#include "source/python_ast.h"

namespace hone {

// Whether the node is in the body of `if key not in kept:` or `if kept is None:`, and that body also fills
// `kept`. What is kept has to outlive the call: an attribute, not a local name.
bool RunsOnce(const PyNode* node);

}  // namespace hone

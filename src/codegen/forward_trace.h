// Follows values through `forward`: which outputs of which recurrent call reach the return value, an
// attribute or anything else that lasts, and where initial states come from.
//
// An abstract run: branches are joined, loops run twice, methods and classes of the file are entered, a
// ModuleList is walked through. What a value may depend on is a set, so doubt makes the set larger.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/scopes.h"
#include "codegen/recurrent_plan.h"

namespace hone {

// Submodules by path, with the name of their class: {"encoder.rnn", "GRU"}.
using ModuleTypes = std::map<std::string, std::string>;

// Fills `used`, `touched`, `traced`, `state` and `packed_input` of every module.
void TraceForward(const Scopes& scopes, const ModuleTypes& types, std::vector<RecurrentModule>* modules);

// The method of that name in the class or in a base class of the same file; null when there is none.
const PyNode* FindMethod(const Scopes& scopes, const PyNode* class_node, std::string_view name);

}  // namespace hone

// Base classes within the same file. A candidate often contains the task's Model and derives ModelNew from
// it. Then ModelNew has all that Model defines, and Model's code is the reference's own.
#pragma once

#include <set>
#include <vector>

#include "analysis/scopes.h"

namespace hone {

struct Lineage {
  std::vector<const PyNode*> classes;  // the class itself, then its bases in this file, nearest first
  bool complete = true;                // all other bases are torch.nn.Module or object
};
Lineage LineageOf(const Scopes& scopes, const PyNode* class_node);

// Whether the class runs its bases' constructor: it has no own constructor, or calls theirs.
bool CallsBaseConstructor(const PyNode* class_node);

// The file's classes that ModelNew derives from, and all functions and classes that they use directly or
// indirectly: the reference's code inside the candidate.
std::set<const PyNode*> ReferenceCode(const Scopes& scopes);
bool IsIn(const std::set<const PyNode*>& definitions, const PyNode* node);

}  // namespace hone

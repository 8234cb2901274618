// Classes that derive from other classes of the same file. A candidate often carries the task's Model and
// derives ModelNew from it: what Model defines then belongs to ModelNew, and is the reference's own code.
#pragma once

#include <set>
#include <vector>

#include "analysis/scopes.h"

namespace hone {

struct Lineage {
  std::vector<const PyNode*> classes;  // the class itself, then its bases in this file, nearest first
  bool complete = true;                // every other base is torch.nn.Module or object
};
Lineage LineageOf(const Scopes& scopes, const PyNode* class_node);

// Whether the class runs the constructor of its bases: it has none of its own, or calls it.
bool CallsBaseConstructor(const PyNode* class_node);

// The classes of the file that ModelNew derives from, and every function and class of the file that they
// name, directly or through others: the reference as the candidate carries it.
std::set<const PyNode*> ReferenceCode(const Scopes& scopes);
bool IsIn(const std::set<const PyNode*>& definitions, const PyNode* node);

}  // namespace hone

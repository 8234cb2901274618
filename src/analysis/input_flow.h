// Which names and attributes can hold an input of forward. It follows assignments, loops and calls of the
// file's own functions. An expression that mentions an input counts as one.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "analysis/scopes.h"

namespace hone {

class InputFlow {
 public:
  // `functions` are those that a run of ModelNew reaches.
  InputFlow(const Scopes& scopes, const std::vector<const PyNode*>& functions);

  // Whether an expression of the function can depend on an input.
  bool Mentions(const PyNode* function, const PyNode* expression) const;

 private:
  void Follow(const PyNode* function);
  void FollowCall(const PyNode* function, const PyNode* call);
  void Mark(const PyNode* function, const PyNode* target);
  void MarkName(const PyNode* function, std::string_view name);

  const Scopes& scopes_;
  std::map<const PyNode*, std::set<std::string_view>> names_;
  std::set<std::string_view> attributes_;
  bool changed_ = true;
};

}  // namespace hone

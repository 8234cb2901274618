// What a module's state_dict will hold, as far as the constructor says: names, and shapes where the numbers
// are known. Used to tell whether a candidate can take the reference's weights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/candidate.h"

namespace hone {

struct StateEntry {
  std::string name;              // "fc.weight"
  std::string_view attribute;    // "fc"
  std::vector<int64_t> shape;    // -1 where not known
  bool shape_known = false;      // the rank at least
  const PyNode* node = nullptr;  // the assignment
};

struct StateDict {
  std::vector<StateEntry> entries;
  // Attributes that hold something with weights whose names cannot be told: a Sequential, a class of the
  // file.
  std::vector<std::pair<std::string_view, const PyNode*>> opaque;

  bool Has(std::string_view attribute) const;
  const StateEntry* Find(std::string_view name) const;
};

StateDict ReadStateDict(const PythonUnit& unit, std::string_view class_name);
// [64, 32], with ? for what is not known.
std::string ExtentsText(const std::vector<int64_t>& shape);

}  // namespace hone

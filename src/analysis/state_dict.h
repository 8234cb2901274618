// The entries of a module's state_dict, as far as its constructor and its bases' show them: names, and shapes
// if the numbers are known. Used to decide whether a candidate can load the reference's weights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/candidate.h"

namespace hone {

struct StateEntry {
  std::string name;              // "fc.weight"
  std::string_view attribute;    // "fc"
  std::vector<int64_t> shape;    // -1 for an unknown extent
  bool shape_known = false;      // at least the rank is known
  const PyNode* node = nullptr;  // the assignment
};

struct StateDict {
  std::vector<StateEntry> entries;
  // Attributes that hold a module with unknown parameter names: a Sequential, or a class of the file.
  std::vector<std::pair<std::string_view, const PyNode*>> opaque;

  // Whether every base class is known. If not, there may be more entries.
  bool complete = true;

  bool Has(std::string_view attribute) const;
  const StateEntry* Find(std::string_view name) const;
};

StateDict ReadStateDict(const PythonUnit& unit, std::string_view class_name);
// "[64, 32]", with ? for unknown extents.
std::string ExtentsText(const std::vector<int64_t>& shape);

}  // namespace hone

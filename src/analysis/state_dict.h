// What a module's state_dict holds, as far as its constructor and those of its bases say: names, and shapes
// where the numbers are known. Used to decide whether a candidate can take the reference's weights.
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
  // Attributes that hold a module whose parameter names are not known: a Sequential, a class of the file.
  std::vector<std::pair<std::string_view, const PyNode*>> opaque;

  // Whether every base class is known. If not, there may be more than is listed.
  bool complete = true;

  bool Has(std::string_view attribute) const;
  const StateEntry* Find(std::string_view name) const;
};

StateDict ReadStateDict(const PythonUnit& unit, std::string_view class_name);
// [64, 32], with ? for what is not known.
std::string ExtentsText(const std::vector<int64_t>& shape);

}  // namespace hone

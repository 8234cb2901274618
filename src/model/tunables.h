// The numbers that a candidate lets Hone tune: a module-level literal
//
//     HONE_TUNE = {"BLOCK_M": [32, 64, 128], "STAGES": [2, 3]}
//
// beside module-level constants with the same names. Hone searches the numbers itself and writes them back
// into exactly those assignments; the rest of the file does not change.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

struct Tunable {
  std::string name;
  Json current;              // the value of the module-level assignment
  std::vector<Json> values;  // numbers, strings or booleans, without duplicates
};

// Returns the tunables in the dictionary's order; empty if the candidate declares none. An Error explains in
// one sentence what is wrong with the declaration (more than 8 names or 16 values, not a literal, a missing
// constant).
Result<std::vector<Tunable>> ReadTunables(const std::string& source);

// Returns the source with those constants set. Every name must be declared, and every value must be one of
// its declared values.
Result<std::string> ApplyTunables(const std::string& source, const std::map<std::string, Json>& values);

}  // namespace hone

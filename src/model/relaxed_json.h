// Parses JSON as people and models write it: Python literals (single quotes, True, None), comments, trailing
// commas, bare keys, line breaks inside strings, prose around it. Only for replies; Hone's own files are real
// JSON.
#pragma once

#include <string_view>
#include <vector>

#include "base/json_fwd.h"

namespace hone {

// Returns every readable object in the text, outer ones before inner ones. Reads the first mebibyte and stops
// after a limited amount of work.
std::vector<Json> FindObjects(std::string_view text);

}  // namespace hone

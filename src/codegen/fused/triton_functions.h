// The functions of templates/part_fused_triton.py that a file's kernels call: a file has no others.
#pragma once

#include <string>

#include "base/result.h"

namespace hone::fused {

// What a function of items is called there: "AtLeast" is "_at_least".
std::string TritonFunctionName(const std::string& name);
bool HasTritonFunction(const std::string& name);

// In the order of the template. An Error if kernels call what nobody wrote.
Result<std::string> TritonFunctions(const std::string& kernels);

}  // namespace hone::fused

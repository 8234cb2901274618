// Selects the functions of templates/part_fused_triton.py that a file's kernels call. A file contains no
// others.
#pragma once

#include <string>

#include "base/result.h"

namespace hone::fused {

// The Triton name of an items' function: "AtLeast" becomes "_at_least".
std::string TritonFunctionName(const std::string& name);
bool HasTritonFunction(const std::string& name);

// In the order of the template. Returns an Error if kernels call an unknown function.
Result<std::string> TritonFunctions(const std::string& kernels);

}  // namespace hone::fused

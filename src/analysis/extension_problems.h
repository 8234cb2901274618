// Reasons why a call of load_inline fails to make a usable module: bindings and declarations do not match the
// definitions, or a source uses a name without its header. Each problem is found once; a check words it and a
// fix repairs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/extension_build.h"

namespace hone {

struct BindingProblem {
  enum class Kind {
    kNoCppSources,     // only cuda_sources; load_inline requires both
    kDeviceCodeInCpp,  // kernels in the host compiler's source
    kSwapped,          // the same, and cuda_sources has no device code
    kNotDeclared,      // a bound name that is defined in cuda_sources only
    kOtherSignature,   // the declaration differs from the definition
    kNotBound,         // Python calls a function that the sources define but nothing binds
    kBoundTwice,       // by both PYBIND11_MODULE and functions=
    kNothingBound,     // by neither
  };
  Kind kind = Kind::kNotDeclared;
  uint32_t start = 0;
  uint32_t end = 0;
  std::string name;
  const CppFunction* definition = nullptr;
  const CppFunction* declaration = nullptr;
  const PyNode* node = nullptr;  // the Python node at fault, if there is one
  std::string Words() const;
};
std::vector<BindingProblem> BindingProblems(const ExtensionBuild& build);

// A name of PyTorch's or CUDA's C++ interface that a source uses without its header.
struct NameProblem {
  const ExtensionSource* source = nullptr;
  const SyntaxNode* node = nullptr;
  std::string name;
  std::string_view include;      // the header that declares it; or
  std::string_view replacement;  // its current name
  std::string Words() const;
};
std::vector<NameProblem> NameProblems(const ExtensionBuild& build);

}  // namespace hone

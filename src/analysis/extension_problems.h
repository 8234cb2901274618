// Why a call of load_inline cannot give a module that Python can use: what is bound and declared does not
// fit what the sources define, or a source uses a name that no header it includes has. Found once; a check
// words each problem and a fix mends it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/extension_build.h"

namespace hone {

struct BindingProblem {
  enum class Kind {
    kNoCppSources,     // cuda_sources alone; load_inline asks for both
    kDeviceCodeInCpp,  // kernels in what the host compiler gets
    kSwapped,          // the same, and cuda_sources has none
    kNotDeclared,      // a bound name that is defined in cuda_sources only
    kOtherSignature,   // declared otherwise than it is defined
    kNotBound,         // Python calls what the sources define and nothing binds
    kBoundTwice,       // PYBIND11_MODULE and functions=
    kNothingBound,     // neither
  };
  Kind kind = Kind::kNotDeclared;
  uint32_t start = 0;
  uint32_t end = 0;
  std::string name;
  const CppFunction* definition = nullptr;
  const CppFunction* declaration = nullptr;
  const PyNode* node = nullptr;  // the Python at fault, where it is Python
  std::string Words() const;
};
std::vector<BindingProblem> BindingProblems(const ExtensionBuild& build);

// A name of PyTorch's or CUDA's C++ interface that a source cannot see.
struct NameProblem {
  const ExtensionSource* source = nullptr;
  const SyntaxNode* node = nullptr;
  std::string name;
  std::string_view include;      // the header that has it; or
  std::string_view replacement;  // what it is called today
  std::string Words() const;
};
std::vector<NameProblem> NameProblems(const ExtensionBuild& build);

}  // namespace hone

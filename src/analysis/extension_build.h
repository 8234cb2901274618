// What a call of torch's load_inline compiles and binds: its sources as syntax trees, their C++ functions,
// the names to bind, and the names that Python then calls on the module. A part that the text does not show
// (a source built at run time, a list that is changed) is unknown.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cuda_unit.h"
#include "analysis/scopes.h"

namespace hone {

// A top-level function of a source. Templates, kernels, device functions and functions in namespaces cannot
// be bound by name and are not listed.
struct CppFunction {
  std::string_view name;
  const SyntaxNode* node = nullptr;
  bool defined = false;             // has a body
  std::string signature;            // as written, without body and semicolon
  std::string result;               // result type in a canonical spelling (at::Tensor is torch::Tensor)
  std::vector<std::string> params;  // types in the same spelling
  bool plain = false;               // only types that every source knows: Tensor, numbers, containers of them
};

struct ExtensionSource {
  const PyNode* string = nullptr;  // the literal
  const CudaUnit* unit = nullptr;
  uint32_t start = 0;  // position in the file of the text between the quotes
  uint32_t end = 0;
  bool triple = false;
  bool raw = false;
  std::vector<CppFunction> functions;
  const SyntaxNode* binding = nullptr;  // its PYBIND11_MODULE { ... }
  std::vector<std::string_view> bound;  // names that it binds for Python
  bool device_code = false;             // kernels or launches
  std::shared_ptr<CudaUnit> own;        // set if `unit` is not one of the candidate's
};

struct ExtensionName {
  std::string name;
  const PyNode* node = nullptr;
};

// The contents of cpp_sources or cuda_sources.
struct ExtensionSources {
  const PyNode* argument = nullptr;  // null if it is not given
  bool known = true;
  std::vector<ExtensionSource> texts;
};

struct ExtensionBuild {
  const PyNode* call = nullptr;
  bool runs = false;
  bool known = true;         // false if an argument is not understood
  bool makes_module = true;  // false with is_python_module=False
  ExtensionSources cpp;
  ExtensionSources cuda;
  const PyNode* functions = nullptr;  // the argument; null if it is not given
  const PyNode* names_at = nullptr;   // the literal list or string behind it; null if unknown
  std::vector<ExtensionName> names;
  std::vector<ExtensionName> called;  // one entry per call from Python

  bool Binds(std::string_view name) const;
  // The only definition of this name in cuda_sources (`device`) or cpp_sources. Null if there is none or
  // several.
  const CppFunction* Definition(std::string_view name, bool device) const;
  const CppFunction* Declaration(std::string_view name) const;  // in cpp_sources, with or without a body
  const ExtensionSource* BindingSource() const;                 // the source with PYBIND11_MODULE
};

// `units` are the file's units, in which the sources are looked up.
std::vector<ExtensionBuild> FindExtensionBuilds(const Scopes& scopes, const SyntaxTree& syntax,
                                                const std::vector<CudaUnit>& units);

}  // namespace hone

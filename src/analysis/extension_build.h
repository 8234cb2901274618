// What a call of torch's load_inline compiles and binds: its sources as syntax trees, the C++ functions in
// them, the names it is told to bind, and the names that Python then calls on the module. Anything that the
// text does not show (a source put together at run time, a list that is changed) makes that part unknown.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cuda_unit.h"
#include "analysis/scopes.h"

namespace hone {

// A function at the top of a source. Templates, kernels, device functions and what stands in a namespace
// cannot be bound by name and are not listed.
struct CppFunction {
  std::string_view name;
  const SyntaxNode* node = nullptr;
  bool defined = false;             // has a body
  std::string signature;            // as written, without body and semicolon
  std::string result;               // its type, in one spelling (at::Tensor is torch::Tensor)
  std::vector<std::string> params;  // likewise
  bool plain = false;               // only types that any source sees: Tensor, numbers, containers of them
};

struct ExtensionSource {
  const PyNode* string = nullptr;  // the literal
  const CudaUnit* unit = nullptr;
  uint32_t start = 0;  // of the text between the quotes, in the file
  uint32_t end = 0;
  bool triple = false;
  bool raw = false;
  std::vector<CppFunction> functions;
  const SyntaxNode* binding = nullptr;  // its PYBIND11_MODULE { ... }
  std::vector<std::string_view> bound;  // names that this gives to Python
  bool device_code = false;             // kernels or launches
  std::shared_ptr<CudaUnit> own;        // where `unit` is not one of the candidate's
};

struct ExtensionName {
  std::string name;
  const PyNode* node = nullptr;
};

// What cpp_sources or cuda_sources holds.
struct ExtensionSources {
  const PyNode* argument = nullptr;  // null: not given
  bool known = true;
  std::vector<ExtensionSource> texts;
};

struct ExtensionBuild {
  const PyNode* call = nullptr;
  bool runs = false;
  bool known = true;         // no argument that this does not understand
  bool makes_module = true;  // false with is_python_module=False
  ExtensionSources cpp;
  ExtensionSources cuda;
  const PyNode* functions = nullptr;  // the argument; null: not given
  const PyNode* names_at = nullptr;   // the literal list or string behind it; null: not known
  std::vector<ExtensionName> names;
  std::vector<ExtensionName> called;  // calls from Python, one entry each

  bool Binds(std::string_view name) const;
  // The only definition of that name in cuda_sources (`device`) or cpp_sources; null where there is none or
  // more than one.
  const CppFunction* Definition(std::string_view name, bool device) const;
  const CppFunction* Declaration(std::string_view name) const;  // in cpp_sources, with or without a body
  const ExtensionSource* BindingSource() const;                 // the source with PYBIND11_MODULE
};

// `units` are those of the file, in which the sources are looked up.
std::vector<ExtensionBuild> FindExtensionBuilds(const Scopes& scopes, const SyntaxTree& syntax,
                                                const std::vector<CudaUnit>& units);

}  // namespace hone

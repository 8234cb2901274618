// The parameters of triton.language's functions in each release, and Python's rules for binding a call to
// them. The table is generated from the releases' sources (scripts/triton_tables.py): the compiler's own
// parameters (_builder, _semantic) are left out, as no kernel may pass them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct PyNode;

struct CallParameter {
  std::string_view name;
  bool required = false;
  bool by_position = false;
};

struct CallSignature {
  uint32_t releases = 0;  // as in triton_tables.h
  std::vector<CallParameter> parameters;
  std::string_view rest;     // the name of *rest, "" if there is none
  bool any_keyword = false;  // **kwargs
  bool no_keyword = false;   // every parameter is positional only
  bool Has(std::string_view name) const;
};

// A call as the binding sees it. The object of a method call counts as a positional argument.
struct CallShape {
  size_t positional = 0;
  std::vector<std::string_view> keywords;
  bool hidden = false;  // *args or **kwargs hide arguments, so nothing is certain
};

struct CallFault {
  enum class Kind { kNone, kUnknownKeyword, kGivenTwice, kTooMany, kMissing };
  Kind kind = Kind::kNone;
  std::string name;  // the keyword or parameter; "" for kTooMany
  explicit operator bool() const { return kind != Kind::kNone; }
};

// `scope` is that of triton_tables.h. Empty if the table does not have the function.
std::vector<CallSignature> SignaturesOf(std::string_view scope, std::string_view name);
CallShape ShapeOfCall(const PyNode* call, bool is_method);
CallFault BindCall(const CallSignature& signature, const CallShape& shape);
// The parameters that the keyword can only mean: misspelt, or called so in PyTorch, NumPy or an older
// release. Only those that the call does not give.
std::vector<std::string_view> MeantParameters(const CallSignature& signature, const CallShape& shape,
                                              std::string_view function, std::string_view keyword);
// Whether the function has no use for what PyTorch or tl.load would take under this name, so that leaving
// the argument out changes nothing.
bool IsMeaningless(std::string_view function, std::string_view keyword);

}  // namespace hone

#include "analysis/triton_signatures.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "source/python_ast.h"

namespace hone {

namespace {

// The parameters are words: "name" is required, "name=" has a default, "*name" takes the rest, "*" ends those
// that may be given by position, "**name" takes any keyword, and "/" says that none may be given by keyword.
struct SignatureRow {
  std::string_view scope;
  std::string_view name;
  uint32_t releases;
  std::string_view parameters;
};

// Sorted by scope and name.
constexpr SignatureRow kSignatureRows[] = {
#include "analysis/triton_signatures.inc"
};

// What models call a parameter, mostly from PyTorch and NumPy. An empty function stands for all.
struct ParameterAlias {
  std::string_view function;
  std::string_view keyword;
  std::string_view parameter;
};
constexpr ParameterAlias kParameterAliases[] = {
    {"load", "fill", "other"},
    {"load", "fill_value", "other"},
    {"load", "default", "other"},
    {"load", "default_value", "other"},
    {"load", "other_value", "other"},
    {"load", "masked_value", "other"},
    {"load", "mask_value", "other"},
    {"load", "pad_value", "other"},
    {"load", "padding_value", "other"},
    {"load", "padding", "padding_option"},
    {"", "predicate", "mask"},
    {"", "pred", "mask"},
    {"", "where", "mask"},
    {"", "masking", "mask"},
    {"", "ptr", "pointer"},
    {"", "cache", "cache_modifier"},
    {"", "eviction", "eviction_policy"},
    {"", "evict", "eviction_policy"},
    {"store", "val", "value"},
    {"store", "data", "value"},
    {"store", "src", "value"},
    {"", "value", "val"},
    {"full", "fill_value", "value"},
    {"full", "fill", "value"},
    {"full", "val", "value"},
    {"", "size", "shape"},
    {"", "dims", "shape"},
    {"", "type", "dtype"},
    {"", "dim", "axis"},
    {"", "axis", "dim"},
    {"", "keepdim", "keep_dims"},
    {"", "keepdims", "keep_dims"},
    {"", "stop", "end"},
    {"clamp", "min_val", "min"},
    {"clamp", "max_val", "max"},
    {"clamp", "lo", "min"},
    {"clamp", "hi", "max"},
    {"dot", "precision", "input_precision"},
    {"dot", "accumulator", "acc"},
    {"dot", "a", "input"},
    {"dot", "b", "other"},
    {"where", "cond", "condition"},
    {"where", "input", "x"},
    {"where", "other", "y"},
    {"", "ptr", "base"},
    {"", "block", "block_shape"},
    {"reduce", "fn", "combine_fn"},
    {"associative_scan", "fn", "combine_fn"},
    {"histogram", "bins", "num_bins"},
    {"range", "stages", "num_stages"},
    {"range", "unroll_factor", "loop_unroll_factor"},
};

// Nothing is read by a store, so it has no fallback.
constexpr ParameterAlias kMeaningless[] = {{"store", "other", ""}};

// Whether one insertion, deletion, replacement or swap of neighbours turns one into the other.
bool DifferByOneEdit(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  size_t i = 0;
  while (i < a.size() && a[i] == b[i]) ++i;
  if (a.size() < b.size()) return a.substr(i) == b.substr(i + 1);
  if (i == a.size()) return false;
  if (a.substr(i + 1) == b.substr(i + 1)) return true;
  return i + 1 < a.size() && a[i] == b[i + 1] && a[i + 1] == b[i] && a.substr(i + 2) == b.substr(i + 2);
}

bool IsMisspelt(std::string_view keyword, std::string_view parameter) {
  constexpr size_t kLeastLength = 4;  // shorter names differ from each other by one letter
  if (parameter.size() < kLeastLength || keyword.size() + 1 < kLeastLength) return false;
  if (DifferByOneEdit(keyword, parameter)) return true;
  // cachemodifier, keepDims
  std::string plain[2];
  for (const char c : keyword)
    if (c != '_') plain[0] += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (const char c : parameter)
    if (c != '_') plain[1] += c;
  return plain[0] == plain[1];
}

CallSignature Parsed(const SignatureRow& row) {
  CallSignature out;
  out.releases = row.releases;
  bool by_position = true;
  std::string_view left = row.parameters;
  while (!left.empty()) {
    const size_t end = std::min(left.find(' '), left.size());
    const std::string_view word = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (word == "/") {
      out.no_keyword = true;
    } else if (word.substr(0, 2) == "**") {
      out.any_keyword = true;
    } else if (word[0] == '*') {
      out.rest = word.substr(1);
      by_position = false;
    } else {
      const bool optional = word.back() == '=';
      out.parameters.push_back({word.substr(0, word.size() - (optional ? 1 : 0)), !optional, by_position});
    }
  }
  return out;
}

}  // namespace

bool CallSignature::Has(std::string_view name) const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const CallParameter& one) { return one.name == name; });
}

std::vector<CallSignature> SignaturesOf(std::string_view scope, std::string_view name) {
  const auto before = [](const SignatureRow& row, const auto& key) {
    return std::tie(row.scope, row.name) < key;
  };
  const auto* row =
      std::lower_bound(std::begin(kSignatureRows), std::end(kSignatureRows), std::tie(scope, name), before);
  std::vector<CallSignature> out;
  for (; row != std::end(kSignatureRows) && row->scope == scope && row->name == name; ++row)
    out.push_back(Parsed(*row));
  return out;
}

CallShape ShapeOfCall(const PyNode* call, bool is_method) {
  CallShape out;
  out.positional = call->args.size() + (is_method ? 1 : 0);
  for (const PyNode* argument : call->args) out.hidden = out.hidden || argument->Is(PyKind::kStarred);
  for (const PyNode* keyword : call->keywords) {
    out.hidden = out.hidden || keyword->name.empty();
    out.keywords.push_back(keyword->name);
  }
  return out;
}

CallFault BindCall(const CallSignature& signature, const CallShape& shape) {
  using Fault = CallFault::Kind;
  if (shape.hidden) return {};
  const auto given = [&](std::string_view name) {
    return std::find(shape.keywords.begin(), shape.keywords.end(), name) != shape.keywords.end();
  };
  for (const std::string_view keyword : shape.keywords)
    if (!signature.any_keyword && (signature.no_keyword || !signature.Has(keyword)))
      return {Fault::kUnknownKeyword, std::string(keyword)};
  size_t index = 0;
  for (const CallParameter& parameter : signature.parameters) {
    const bool placed = parameter.by_position && index++ < shape.positional;
    if (placed && given(parameter.name)) return {Fault::kGivenTwice, std::string(parameter.name)};
  }
  if (index < shape.positional && signature.rest.empty()) return {Fault::kTooMany, ""};
  index = 0;
  for (const CallParameter& parameter : signature.parameters) {
    const bool placed = parameter.by_position && index++ < shape.positional;
    if (parameter.required && !placed && !given(parameter.name))
      return {Fault::kMissing, std::string(parameter.name)};
  }
  return {};
}

std::vector<std::string_view> MeantParameters(const CallSignature& signature, const CallShape& shape,
                                              std::string_view function, std::string_view keyword) {
  std::vector<std::string_view> out;
  if (signature.no_keyword) return out;
  size_t index = 0;
  for (const CallParameter& parameter : signature.parameters) {
    const bool placed = parameter.by_position && index++ < shape.positional;
    if (placed ||
        std::find(shape.keywords.begin(), shape.keywords.end(), parameter.name) != shape.keywords.end())
      continue;
    const bool called_so = std::any_of(
        std::begin(kParameterAliases), std::end(kParameterAliases), [&](const ParameterAlias& alias) {
          return alias.keyword == keyword && alias.parameter == parameter.name &&
                 (alias.function.empty() || alias.function == function);
        });
    if (called_so || IsMisspelt(keyword, parameter.name)) out.push_back(parameter.name);
  }
  return out;
}

bool IsMeaningless(std::string_view function, std::string_view keyword) {
  return std::any_of(std::begin(kMeaningless), std::end(kMeaningless), [&](const ParameterAlias& row) {
    return row.function == function && row.keyword == keyword;
  });
}

}  // namespace hone

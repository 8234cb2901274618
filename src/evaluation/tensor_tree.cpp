#include "evaluation/tensor_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"

namespace hone {

namespace {

struct DtypeRow {
  Dtype dtype;
  const char* name;
  size_t size;
  double epsilon;
};

constexpr std::array<DtypeRow, 12> kDtypes = {{
    {Dtype::kF16, "float16", 2, 9.765625e-4},
    {Dtype::kBf16, "bfloat16", 2, 7.8125e-3},
    {Dtype::kF32, "float32", 4, std::numeric_limits<float>::epsilon()},
    {Dtype::kF64, "float64", 8, std::numeric_limits<double>::epsilon()},
    {Dtype::kC64, "complex64", 8, std::numeric_limits<float>::epsilon()},
    {Dtype::kC128, "complex128", 16, std::numeric_limits<double>::epsilon()},
    {Dtype::kU8, "uint8", 1, 0},
    {Dtype::kI8, "int8", 1, 0},
    {Dtype::kI16, "int16", 2, 0},
    {Dtype::kI32, "int32", 4, 0},
    {Dtype::kI64, "int64", 8, 0},
    {Dtype::kBool, "bool", 1, 0},
}};

const DtypeRow& Row(Dtype dtype) {
  for (const DtypeRow& row : kDtypes)
    if (row.dtype == dtype) return row;
  return kDtypes[2];
}

constexpr int kMaxDepth = 32;
constexpr size_t kMaxLeaves = 4096;
constexpr size_t kMaxNumbers = 1 << 20;  // a list of numbers instead of a tensor is a mistake, not an attack

// Keys become part of the path of every tensor below them.
std::string ShortKey(const std::string& key) {
  return ValidUtf8(std::string_view(key).substr(0, 100));
}

class Parser {
 public:
  Parser(size_t most_bytes, size_t alignment, TensorTree* tree)
      : most_bytes_(most_bytes), alignment_(alignment), tree_(tree) {}

  Status Visit(const Json& node, const std::string& path, int depth) {
    const std::string kind = GetString(node, "kind");
    std::string& out = tree_->structure;
    if (depth > kMaxDepth) return Bad("too deep");
    if (kind == "tensor") return Tensor(node, path);
    if (kind == "value") return Value(GetMember(node, "value"), path);
    if (kind == "nonfinite") {
      out += ValidUtf8(GetString(node, "value"));
      return Ok();
    }
    if (kind == "opaque") {
      out += "<" + ValidUtf8(GetString(node, "type")) + ">";
      return Ok();
    }
    if (kind != "tuple" && kind != "list" && kind != "dict") return Bad("unknown kind");
    const Json& items = GetMember(node, "items");
    const Json& keys = GetMember(node, "keys");
    if (!items.is_array() || (kind == "dict" && (!keys.is_array() || keys.size() != items.size())))
      return Bad("no items");
    // Tuples and lists with the same items compare as equal, because models use both.
    if (GetString(node, "type") == "complex") out += "complex";
    out += kind == "dict" ? "{" : "(";
    for (size_t i = 0; i < items.size(); ++i) {
      std::string inner = fmt::format("{}[{}]", path, i);
      if (i != 0) out += ", ";
      if (kind == "dict") {
        // The string "3" and the number 3 are different keys.
        const std::string key =
            ShortKey(keys[i].is_string() ? keys[i].get<std::string>() : DumpJson(keys[i]));
        inner = keys[i].is_string() ? fmt::format("{}['{}']", path, key) : fmt::format("{}[{}]", path, key);
        out += (keys[i].is_string() ? key : "<" + key + ">") + ": ";
      }
      HONE_RETURN_IF_ERROR(Visit(items[i], inner, depth + 1));
    }
    out += kind == "dict" ? "}" : ")";
    return Ok();
  }

 private:
  static Status Bad(const std::string& why) {
    return Error{ErrorKind::kInvalid, "a worker described its tensors wrongly (" + why + ")"};
  }

  // None, booleans and strings are part of the structure. Numbers are compared as numbers.
  Status Value(const Json& value, const std::string& path) {
    if (!value.is_number()) {
      tree_->structure += ValidUtf8(DumpJson(value));
      return Ok();
    }
    if (tree_->numbers.size() >= kMaxNumbers) return Bad("too many numbers");
    tree_->numbers.push_back({path, value.get<double>(), value.is_number_integer()});
    tree_->structure += "number";
    return Ok();
  }

  Status Tensor(const Json& node, const std::string& path) {
    TensorLeaf leaf;
    leaf.path = path;
    HONE_ASSIGN_OR_RETURN(leaf.dtype, ParseDtype(GetString(node, "dtype")));
    const Json& shape = GetMember(node, "shape");
    if (!shape.is_array() || shape.size() > 64) return Bad("shape");
    uint64_t elements = 1;
    for (const Json& extent : shape) {
      if (!extent.is_number_integer()) return Bad("shape");
      const int64_t size = extent.get<int64_t>();
      if (size < 0 || (size > 0 && elements > (uint64_t{1} << 48) / static_cast<uint64_t>(size)))
        return Bad("shape");
      leaf.shape.push_back(size);
      elements *= static_cast<uint64_t>(size);
    }
    const Json& stride = GetMember(node, "stride");
    if (stride.is_array() && stride.size() == leaf.shape.size())
      for (const Json& step : stride)
        if (step.is_number_integer()) leaf.stride.push_back(step.get<int64_t>());
    if (leaf.stride.size() != leaf.shape.size()) leaf.stride.clear();
    const std::string shared = GetString(node, "shared");
    if (shared == "input" || shared == "parameter") leaf.shared = shared;
    const int64_t offset = GetInt(node, "offset", -1);
    const int64_t bytes = GetInt(node, "bytes", -1);
    if (offset < 0 || bytes < 0 || static_cast<uint64_t>(bytes) != elements * DtypeSize(leaf.dtype))
      return Bad("size");
    leaf.offset = static_cast<size_t>(offset);
    leaf.bytes = static_cast<size_t>(bytes);
    if (leaf.offset > most_bytes_ || leaf.bytes > most_bytes_ - leaf.offset) return Bad("offset");
    if (leaf.offset % alignment_ != 0) return Bad("alignment");
    if (tree_->leaves.size() >= kMaxLeaves) return Bad("too many tensors");
    if (leaf.bytes == 0) leaf.offset = 0;
    tree_->size = std::max(tree_->size, leaf.offset + leaf.bytes);
    tree_->leaves.push_back(std::move(leaf));
    tree_->structure += "tensor";
    return Ok();
  }

  size_t most_bytes_;
  size_t alignment_;
  TensorTree* tree_;
};

}  // namespace

Result<Dtype> ParseDtype(const std::string& name) {
  for (const DtypeRow& row : kDtypes)
    if (name == row.name) return row.dtype;
  return Error{ErrorKind::kInvalid, "unknown dtype " + ValidUtf8(name)};
}

const char* DtypeName(Dtype dtype) {
  return Row(dtype).name;
}
size_t DtypeSize(Dtype dtype) {
  return Row(dtype).size;
}
double Epsilon(Dtype dtype) {
  return Row(dtype).epsilon;
}
bool IsFloating(Dtype dtype) {
  return Row(dtype).epsilon > 0;
}
bool IsComplex(Dtype dtype) {
  return dtype == Dtype::kC64 || dtype == Dtype::kC128;
}

Result<TensorTree> ParseTree(const Json& description, SharedBlob blob, const std::string& root_name) {
  HONE_RETURN_IF_ERROR(blob.Seal());
  HONE_ASSIGN_OR_RETURN(TensorTree tree, ParseLayout(description, blob.bytes().size(), 1, root_name));
  tree.blob = std::move(blob);
  return tree;
}

Result<TensorTree> ParseLayout(const Json& description, size_t most_bytes, size_t alignment,
                               const std::string& root_name) {
  TensorTree tree;
  tree.description = description;
  Parser parser(most_bytes, alignment, &tree);
  HONE_RETURN_IF_ERROR(parser.Visit(description, root_name, 0));
  return tree;
}

std::string StrangeClass(const Json& got, const Json& want) {
  const std::string type = GetString(got, "type");
  if (!type.empty() && type != GetString(want, "type")) return ValidUtf8(type.substr(0, 100));
  const Json& items = GetMember(got, "items");
  const Json& others = GetMember(want, "items");
  if (!items.is_array() || !others.is_array()) return "";
  for (size_t i = 0; i < items.size() && i < others.size(); ++i)
    if (std::string inner = StrangeClass(items[i], others[i]); !inner.empty()) return inner;
  return "";
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace hone

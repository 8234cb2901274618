// Trees of tensors in messages: a JSON description, and the values in one sealed memory file or in one part
// of the parent's device memory (tree_values.h). The description comes from a process that may be hostile, so
// ParseTree checks every offset and size once. Afterwards every leaf lies inside its bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "process/shared_blob.h"

namespace hone {

enum class Dtype { kF16, kBf16, kF32, kF64, kC64, kC128, kU8, kI8, kI16, kI32, kI64, kBool };
Result<Dtype> ParseDtype(const std::string& name);
const char* DtypeName(Dtype dtype);
size_t DtypeSize(Dtype dtype);
bool IsFloating(Dtype dtype);  // also true for complex types
bool IsComplex(Dtype dtype);
// Distance from 1 to the next larger number; 0 for integers.
double Epsilon(Dtype dtype);

struct TensorLeaf {
  std::string path;  // "output", "output[1]", "output['h']"
  Dtype dtype = Dtype::kF32;
  std::vector<int64_t> shape;
  std::vector<int64_t> stride;  // as the process reports; empty if it reports none
  std::string shared;           // "input" or "parameter": the memory it shares, as the process reports
  size_t offset = 0;
  size_t bytes = 0;
  size_t elements() const { return bytes / DtypeSize(dtype); }
};

// A Python number among the tensors.
struct TreeNumber {
  std::string path;
  double value = 0;
  bool whole = false;  // true for an int
};

class DeviceValues;

struct TensorTree {
  Json description;
  std::vector<TensorLeaf> leaves;
  std::vector<TreeNumber> numbers;
  // The structure without the values, for comparing two trees: "(tensor, [tensor, number])".
  std::string structure;
  size_t size = 0;  // bytes of all leaves, including the gaps between them
  SharedBlob blob;  // the values, if they are on the host
  std::shared_ptr<DeviceValues> device;

  // For a tree on the host.
  std::span<const std::byte> Bytes(const TensorLeaf& leaf) const {
    return blob.bytes().subspan(leaf.offset, leaf.bytes);
  }
};

// Seals the blob and checks the description against it.
Result<TensorTree> ParseTree(const Json& description, SharedBlob blob, const std::string& root_name);
// Returns the tree without its values, which need at most `most_bytes`. Leaves begin at multiples of
// `alignment`.
Result<TensorTree> ParseLayout(const Json& description, size_t most_bytes, size_t alignment,
                               const std::string& root_name);

// Returns the name of a class that one description has where the other has a tuple; empty if there is none. A
// tuple may replace a class, because code that unpacks it works with both.
std::string StrangeClass(const Json& got, const Json& want);

std::string ShapeText(const std::vector<int64_t>& shape);

}  // namespace hone

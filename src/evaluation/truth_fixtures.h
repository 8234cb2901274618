// Hand-made trees and cases, for tests that judge answers without a worker.
#pragma once

#include <cstring>
#include <utility>

#include "evaluation/tree_values.h"
#include "evaluation/truth.h"

namespace hone {

// One tensor of a hand-made tree.
struct HandTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<double> values;
};

// A tuple of tensors, or the tensor itself if there is only one.
inline TensorTree HandTree(const std::vector<HandTensor>& tensors, const std::string& root = "output") {
  std::vector<std::byte> bytes;
  Json items = Json::array();
  for (const HandTensor& tensor : tensors) {
    const size_t offset = bytes.size();
    for (const double value : tensor.values) {
      const auto append = [&](auto number) {
        const size_t at = bytes.size();
        bytes.resize(at + sizeof number);
        std::memcpy(bytes.data() + at, &number, sizeof number);
      };
      if (tensor.dtype == "float64") append(value);
      if (tensor.dtype == "float32") append(static_cast<float>(value));
      if (tensor.dtype == "int64") append(static_cast<int64_t>(value));
    }
    items.push_back({{"kind", "tensor"},
                     {"dtype", tensor.dtype},
                     {"shape", tensor.shape},
                     {"offset", offset},
                     {"bytes", bytes.size() - offset}});
  }
  const Json description = tensors.size() == 1 ? items[0] : Json{{"kind", "tuple"}, {"items", items}};
  return *ParseTree(description, *SharedBlob::Of("test", bytes), root);
}

// Computes PyTorch's own error as TruthBuilder does.
inline Case HandCase(std::string id, size_t instance, TensorTree inputs, TensorTree expected,
                     TensorTree truth) {
  Case made;
  made.id = std::move(id);
  made.instance = instance;
  made.inputs = std::move(inputs);
  for (size_t i = 0; i < expected.leaves.size(); ++i)
    made.reference_error.push_back(*CompareLeaves(expected, truth, i));
  made.expected = std::move(expected);
  made.truth = std::move(truth);
  return made;
}

}  // namespace hone

// The form of a timed answer: what a worker tells about it beside the values of its tensors. Most answers
// have the form of the first case's answer; then the worker sends only their Python numbers. An answer of
// another form is described in full. All of it comes from a process that may be hostile.
#pragma once

#include <memory>
#include <vector>

#include "evaluation/tensor_tree.h"

namespace hone {

struct AnswerForm {
  std::vector<double> numbers;              // of an answer of the expected form
  std::shared_ptr<const TensorTree> other;  // the layout of one of another form
  std::vector<uint64_t> addresses;          // of its tensors, where the parent reads them
  size_t base = 0;                          // where its values begin among the kept ones
  bool lost = false;                        // its values cannot be read
};

// One form per call. What the worker tells wrongly counts as lost.
std::vector<AnswerForm> ReadForms(const Json& numbers, const Json& odd, int calls);

}  // namespace hone

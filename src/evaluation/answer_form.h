// The form of a timed answer: all that a worker reports about it except the values of its tensors. Most
// answers have the form of the first case's answer, so the worker sends only their Python numbers. It
// describes an answer with another form in full. All of this comes from a process that may be hostile.
#pragma once

#include <memory>
#include <vector>

#include "evaluation/tensor_tree.h"

namespace hone {

struct AnswerForm {
  std::vector<double> numbers;              // Python numbers of an answer with the expected form
  std::shared_ptr<const TensorTree> other;  // layout of an answer with another form
  std::vector<uint64_t> addresses;          // addresses of the latter's tensors, where the parent reads them
  size_t base = 0;                          // offset of its values among the stored ones
  bool lost = false;                        // its values cannot be read
};

// Returns one form per call. Invalid reports count as lost.
std::vector<AnswerForm> ReadForms(const Json& numbers, const Json& odd, int calls);

}  // namespace hone

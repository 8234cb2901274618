// Selects the knowledge that a task needs by its card: a prompt about a softmax says nothing about
// recurrences. The pieces are files in prompts/knowledge.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace hone {

// Whether the task is a recurrence: by its module or operator, or by one small product repeated step after
// step.
bool IsRecurrent(const Json& card);
// Whether it is one of PyTorch's recurrent modules or operators, whose steps are not linear in the state.
bool HasGatedRecurrence(const Json& card);

// Names of pieces: the target's own ("triton", "cuda", "cpu"), then up to three classes that the task has,
// that which decides its time first.
std::vector<std::string> KnowledgeFor(const Json& card, const std::string& task_source,
                                      const std::string& target);

}  // namespace hone

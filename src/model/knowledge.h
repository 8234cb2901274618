// Selects the knowledge that a task needs by its card, so that a prompt about a softmax does not explain
// recurrences. The pieces are files in prompts/knowledge.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace hone {

// Whether the task is a recurrence: by its module or operator, or by one small product that is repeated in
// every step.
bool IsRecurrent(const Json& card);
// Whether it is one of PyTorch's recurrent modules or operators, whose steps are not linear in the state.
bool HasGatedRecurrence(const Json& card);

// Names of pieces: the target's own ("triton", "cuda", "cpu"), then up to three classes of the task, starting
// with the one that dominates its time.
std::vector<std::string> KnowledgeFor(const Json& card, const std::string& task_source,
                                      const std::string& target);

}  // namespace hone

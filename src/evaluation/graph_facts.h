// What a task's graph adds to its card: FLOPs and bytes, as written and after rewrites, and whether the task
// is degenerate (graph/degenerate.h). For a task to be degenerate, two facts must agree: the answers to
// several draws of inputs differ by no more than PyTorch's own rounding, and rewrites leave no path from an
// input to an output.
#pragma once

#include "evaluation/truth_builder.h"
#include "graph/graph.h"
#include "task/card.h"

namespace hone {

// Whether the answers to the draws of an instance agree. False where there is only one draw.
Result<bool> DrawsAgree(TruthBuilder& builder, const Truth& truth, size_t instance);
// Whether the float64 answers to two draws of inputs differ by no more than PyTorch's own error in both.
Result<bool> AnswersAgree(const Case& a, const Case& b);

// `answers_agree`: for each instance. The first has the weights that the module is built with.
Status TakeGraphFacts(const graph::Graph& graph, const std::vector<bool>& answers_agree, Card* card);

}  // namespace hone

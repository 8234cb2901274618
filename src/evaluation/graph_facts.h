// Adds facts from a task's graph to its card: FLOPs and bytes, as written and after rewrites, and whether the
// task is degenerate (graph/degenerate.h). A task is degenerate only if two facts agree: the answers to
// several draws of inputs differ by no more than PyTorch's own rounding, and rewrites leave no path from an
// input to an output.
#pragma once

#include "evaluation/truth_builder.h"
#include "graph/graph.h"
#include "task/card.h"

namespace hone {

// Whether the answers to all draws of an instance agree. False if there is only one draw.
Result<bool> DrawsAgree(TruthBuilder& builder, const Truth& truth, size_t instance);
// Whether the float64 answers to two draws of inputs differ by no more than PyTorch's own error in both.
Result<bool> AnswersAgree(const Case& a, const Case& b);

// `answers_agree` has one entry per instance. The first instance has the initial weights.
Status TakeGraphFacts(const graph::Graph& graph, const std::vector<bool>& answers_agree, Card* card);

}  // namespace hone

// Tests the facts read from graphs of recurrent modules: the repository's tasks, and modules written in
// common styles, as the worker captured them (tests/end_to_end/recurrent_graph_test.py has their sources).
#include "codegen/recurrent_graph.h"

#include <gmock/gmock.h>

#include <set>

#include "base/text.h"
#include "codegen/recurrent_graph_fixture.h"
#include "graph/graph_fixture.h"

namespace hone {
namespace {

struct Case {
  const char* name;
  const char* used;     // for each module, in order
  const char* touched;  // "" if equal to `used`
  const char* state;
};

std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.name;
}

// clang-format off
const Case kCases[] = {
    {"35_LSTM", "last step of the output", "", "random numbers"},
    {"36_LSTMHn", "h_n", "last step of the output and h_n", "the caller"},
    {"37_LSTMCn", "c_n", "last step of the output and c_n", "the caller"},
    {"38_LSTMBidirectional", "last step of the output", "", "the caller"},
    {"39_GRU", "output sequence", "", "the caller"},
    {"40_GRUHidden", "h_n", "", "the caller"},
    {"41_GRUBidirectional", "output sequence", "", "the caller"},
    {"42_GRUBidirectionalHidden", "h_n", "", "the caller"},
    {"small_gru", "output sequence and h_n", "", "the caller"},

    {"unpacks_a_pair_of_states", "output sequence and c_n", "", "the caller"},
    {"subscripts_the_result", "output sequence", "", "zeros"},
    {"subscripts_the_result_for_the_state", "h_n", "", "zeros"},
    {"cell_state_of_a_nested_subscript", "c_n", "", "zeros"},
    {"both_concatenated", "h_n and c_n", "", "zeros"},
    {"in_a_dict", "last step of the output and c_n", "", "zeros"},

    {"last_step_batch_first", "last step of the output", "", "zeros"},
    {"last_step_without_the_last_colon", "last step of the output", "", "zeros"},
    {"last_of_the_batch_is_not_the_last_step", "output sequence", "", "zeros"},
    {"last_step_sequence_first", "last step of the output", "", "zeros"},
    {"last_step_by_ellipsis", "last step of the output", "", "zeros"},
    {"last_step_unbatched", "last step of the output", "", "zeros"},
    {"last_step_of_both_directions", "last step of the output", "", "zeros"},
    {"last_step_counted_from_the_front", "last step of the output", "", "zeros"},
    {"last_step_out_of_parts", "last step of the output", "", "zeros"},
    {"last_step_over_the_length", "last step of the output", "", "zeros"},
    {"last_step_written_in_place", "last step of the output", "", "zeros"},
    {"first_step", "output sequence", "", "zeros"},
    {"mean_over_time_reads_all_of_it", "output sequence", "", "zeros"},
    // If one step is computed, it stands for all steps. This holds for views that accept any strides.
    {"last_step_by_select_after_contiguous", "last step of the output", "output sequence", "zeros"},
    {"view_of_the_sequence", "last step of the output", "output sequence", "zeros"},
    {"head_on_all_steps_read_at_the_last", "last step of the output", "output sequence", "zeros"},

    // Operands of a dropped operator must exist. A shape exists without being computed.
    {"a_dropped_view", "h_n", "last step of the output and h_n", "zeros"},
    {"computed_and_dropped", "h_n", "output sequence and h_n", "zeros"},
    {"a_dropped_head", "h_n", "last step of the output and h_n", "zeros"},
    {"shape_of_what_nobody_reads", "output sequence", "", "zeros"},

    {"zeros_as_state", "h_n", "", "zeros"},
    {"state_from_a_method", "output sequence", "", "zeros"},
    {"state_in_a_buffer", "output sequence", "", "an attribute of the module"},
    {"state_and_zeros", "output sequence", "", "the caller or zeros"},
    {"state_in_a_tuple", "h_n", "", "the caller"},
    {"state_computed", "h_n", "", "a computed value"},
    {"state_drawn", "h_n", "", "random numbers"},

    // Only one call is captured, with the branches that it took.
    {"a_branch_on_the_given_state", "h_n", "", "zeros"},
    {"a_flag", "last step of the output", "", "zeros"},
    {"a_branch_on_the_batch", "last step of the output", "", "zeros"},
    {"a_branch_on_training", "h_n", "", "zeros"},

    {"collected_in_a_list", "last step of the output", "", "zeros"},
    {"two_calls_that_differ", "last step of the output and h_n", "", "zeros or a computed value"},
    {"handed_to_a_function", "h_n", "", "zeros"},
    {"a_helper_method", "h_n", "", "zeros"},
    {"an_inherited_forward", "output sequence", "", "zeros"},
    {"a_sequential", "last step of the output", "", "zeros"},
    {"a_stack_in_a_list", "output sequence; h_n", "", "zeros; zeros"},
    {"an_encoder_and_a_decoder", "h_n and c_n; output sequence", "", "zeros; a computed value"},
    {"never_called", "nothing; last step of the output", "", "a computed value; zeros"},

    {"called_under_two_names", "output sequence and h_n, because the graph has 0 of its 1 calls", "", "a computed value"},
    {"state_kept_in_the_module", "output sequence and h_n, because forward keeps state between calls in self.kept", "", "a computed value"},
    {"packed", "output sequence and h_n, because torch.export fails: TypeError: zeros(): argument 'size' failed to unpack the object at pos 2 with error \"type must be tuple of ints,but got FakeTensor\"", "", "a computed value"},
};
// clang-format on

class ReadsGraph : public testing::TestWithParam<Case> {};

TEST_P(ReadsGraph, OfACapturedModule) {
  const Case& expected = GetParam();
  const RecurrentPlan plan = CapturedCase(expected.name).Plan();
  std::vector<std::string> used, touched, state;
  for (const RecurrentModule& module : plan.modules) {
    const std::string why = module.why_untraced.empty() ? "" : ", because " + module.why_untraced;
    used.push_back(OutputsText(module.used) + why);
    touched.push_back(OutputsText(module.touched) + why);
    state.push_back(module.state.Text());
  }
  EXPECT_EQ(Join(used, "; "), expected.used);
  EXPECT_EQ(Join(touched, "; "), *expected.touched != '\0' ? expected.touched : expected.used);
  EXPECT_EQ(Join(state, "; "), expected.state);
}

INSTANTIATE_TEST_SUITE_P(RecurrentGraph, ReadsGraph, testing::ValuesIn(kCases),
                         [](const auto& info) { return "of_" + std::string(info.param.name); });

TEST(RecurrentGraph, EveryCapturedModuleHasItsCase) {
  std::set<std::string> captured, expected;
  for (const auto& [name, task] : CapturedTasks().items()) captured.insert(name);
  for (const Case& one : kCases) expected.insert(one.name);
  EXPECT_EQ(captured, expected);
}

TEST(RecurrentGraph, KnowsThePackedSequenceOfTheWorkersFacts) {
  EXPECT_TRUE(CapturedCase("packed").Plan().modules[0].packed_input);
  EXPECT_FALSE(CapturedCase("39_GRU").Plan().modules[0].packed_input);
}

// A GRU over packed data whose states are read through a view of its own module.
graph::Graph Packed(std::string view_module) {
  using graph::F32;
  graph::Graph graph;
  const graph::ValueId data = graph.AddValue(graph::ValueKind::kInput, "data", F32({20, 8}));
  const graph::ValueId start = graph.AddConstant("", F32({1, 4, 16}), std::vector<double>(64, 0.0));
  graph.AddInput(graph::Leaf(data));
  const graph::Node& gru = graph.node(graph.Append({"aten.gru.data",
                                                    {{"data", data}, {"hx", start}, {"batch_first", false}},
                                                    {F32({20, 16}), F32({1, 4, 16})},
                                                    "rnn"}));
  const graph::ValueId out = gru.results[0], h_n = gru.results[1];
  graph.Append({"aten.squeeze.dim", {{"self", h_n}, {"dim", int64_t{0}}}, {F32({4, 16})}, view_module});
  graph.SetOutputs(graph::Leaf(
      graph
          .node(graph.Append(
              {"aten.select.int", {{"self", out}, {"dim", int64_t{0}}, {"index", int64_t{-1}}}, {F32({16})}}))
          .result()));
  return graph;
}

RecurrentModule ReadOne(const graph::Graph& graph, int64_t calls) {
  std::vector<RecurrentModule> modules(1);
  modules[0].path = "rnn";
  modules[0].kind = "GRU";
  modules[0].calls = calls;
  ReadRecurrentGraph(graph, &modules);
  return modules[0];
}

TEST(RecurrentGraph, TimeIsNoAxisOfAPackedSequence) {
  const RecurrentModule module = ReadOne(Packed("rnn"), 1);
  EXPECT_TRUE(module.packed_input);
  EXPECT_EQ(OutputsText(module.used), "output sequence");
  EXPECT_EQ(module.state.Text(), "zeros");
}

TEST(RecurrentGraph, AViewThatNobodyReadsCountsUnlessTheModuleMadeItItself) {
  EXPECT_FALSE(ReadOne(Packed("rnn"), 1).touched.h_n);
  EXPECT_TRUE(ReadOne(Packed(""), 1).touched.h_n);
  EXPECT_FALSE(ReadOne(Packed(""), 1).used.h_n);
}

TEST(RecurrentGraph, CallsThatTheGraphDoesNotShowCountForAllOutputs) {
  const RecurrentModule module = ReadOne(Packed("rnn"), 2);
  EXPECT_EQ(module.why_untraced, "the graph has 1 of its 2 calls");
  EXPECT_EQ(OutputsText(module.used), "output sequence and h_n");
}

TEST(RecurrentGraph, WritesTheArgumentsItWasCapturedWith) {
  EXPECT_EQ(CapturedArguments(*CapturedCase("a_flag").graph), "[(torch.float32, (12, 4, 8)), True]");
  EXPECT_EQ(
      CapturedArguments(*CapturedCase("state_in_a_tuple").graph),
      "[(torch.float32, (12, 4, 8)), (tuple, [(torch.float32, (1, 4, 16)), (torch.float32, (1, 4, 16))])]");
  graph::Graph graph;
  graph::ValueTree tree;
  tree.kind = graph::ValueTree::Kind::kDict;
  tree.keys = {"a\"b", "n", "f", "s", "none"};
  tree.children.resize(5);
  for (graph::ValueTree& child : tree.children) child.kind = graph::ValueTree::Kind::kLiteral;
  tree.children[0] = graph::Leaf(graph.AddValue(graph::ValueKind::kInput, "x", graph::F32({3})));
  tree.children[1].literal = int64_t{-2};
  tree.children[2].literal = 0.1;
  tree.children[3].literal = std::string("mean");
  graph.AddInput(tree);
  EXPECT_EQ(CapturedArguments(graph),
            "[{\"a\\\"b\": (torch.float32, (3,)), \"n\": -2, \"f\": float(\"0.1\"), \"s\": \"mean\", "
            "\"none\": None}]");
}

}  // namespace
}  // namespace hone

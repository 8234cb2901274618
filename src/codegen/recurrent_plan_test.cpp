// Tests the plan of modules and loops over time. recurrent_graph_test.cpp tests what graphs show about
// modules.
#include "codegen/recurrent_plan.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "codegen/recurrent_graph_fixture.h"

namespace hone {
namespace {

Json Module(const std::string& path, const std::string& kind, std::vector<int64_t> shape, Json more = {}) {
  Json fact = {{"path", path},         {"kind", kind},
               {"cell", false},        {"nonlinearity", kind == "RNN" ? "tanh" : ""},
               {"input_size", 8},      {"hidden_size", 16},
               {"num_layers", 1},      {"bias", true},
               {"batch_first", false}, {"bidirectional", false},
               {"proj_size", 0},       {"dtype", "float32"},
               {"calls", 1},           {"input_shape", shape}};
  if (more.is_object()) fact.update(more);
  return fact;
}

Json Cell(const std::string& path, const std::string& kind) {
  return Module(path, kind, {4, 8}, {{"cell", true}});
}

Json Linear(const std::string& path, int64_t in, int64_t out) {
  return {{"path", path}, {"type", "Linear"}, {"in_features", in}, {"out_features", out}, {"bias", true}};
}

Json Typed(const std::string& path, const std::string& type) {
  return {{"path", path}, {"type", type}};
}

RecurrentPlan Recognise(const std::string& source, const std::vector<Json>& recurrent,
                        std::vector<Json> list = {}) {
  for (const Json& fact : recurrent)
    list.push_back({{"path", fact["path"]},
                    {"type", fact["kind"].get<std::string>() + (fact["cell"].get<bool>() ? "Cell" : "")}});
  Result<RecurrentPlan> plan = RecognizeRecurrent(
      source, {{"recurrent_modules", recurrent}, {"module_list", list}}, nullptr, "it has none");
  EXPECT_TRUE(plan.ok());
  return plan.ok() ? *plan : RecurrentPlan{};
}

TEST(Recurrent, SaysWhatIsThereInOneSentence) {
  EXPECT_EQ(CapturedCase("39_GRU").Plan().sentence,
            "6-layer GRU, 128 -> 256, sequence first; only the output sequence is used");
  EXPECT_EQ(CapturedCase("38_LSTMBidirectional").Plan().sentence,
            "6-layer bidirectional LSTM, 128 -> 256, batch first; only the last step of the output is used");
  EXPECT_EQ(CapturedCase("both_concatenated").Plan().sentence,
            "1-layer LSTM, 8 -> 16, sequence first; only h_n and c_n are used");
  EXPECT_EQ(CapturedCase("a_stack_in_a_list").Plan().sentence,
            "1-layer GRU, 8 -> 16, sequence first; only the output sequence is used (rnn.0); "
            "1-layer GRU, 16 -> 16, sequence first; only h_n is used (rnn.1)");
  EXPECT_EQ(CapturedCase("last_step_unbatched").Plan().sentence,
            "1-layer GRU, 8 -> 16, no batch; only the last step of the output is used");
}

TEST(Recurrent, TakesShapesFromTheFacts) {
  for (const char* name : {"35_LSTM", "39_GRU"}) {  // batch first, sequence first
    const RecurrentPlan plan = CapturedCase(name).Plan();
    ASSERT_EQ(plan.modules.size(), 1u);
    EXPECT_EQ(plan.modules[0].steps(), 16);
    EXPECT_EQ(plan.modules[0].batch(), 10);
    EXPECT_FALSE(plan.loop.has_value());
  }
}

TEST(Recurrent, WithoutAGraphAllOutputsCountAndTheSentenceSaysWhy) {
  CapturedTask task = CapturedCase("39_GRU");
  task.why_no_graph = "forward keeps state between calls in self.h";
  const RecurrentPlan plan = task.Plan();
  EXPECT_TRUE(plan.recognised);
  EXPECT_EQ(plan.modules[0].used, (OutputsUsed{true, true, true, false}));
  EXPECT_EQ(plan.modules[0].touched, plan.modules[0].used);
  EXPECT_EQ(
      plan.sentence,
      "6-layer GRU, 128 -> 256, sequence first; all of its outputs count as used, because forward keeps "
      "state between calls in self.h");
}

// Loops

TEST(TimeLoop, TakesTheTaskApart) {
  const std::string source = *ReadFile(fs::path(HONE_SOURCE_DIR) / "tasks/34_VanillaRNNHidden.py");
  const RecurrentPlan plan =
      Recognise(source, {}, {Linear("i2h", 1280, 256), Linear("h2o", 256, 128), Typed("tanh", "Tanh")});
  ASSERT_TRUE(plan.loop.has_value()) << plan.loop_why_not;
  const TimeLoop& loop = *plan.loop;
  EXPECT_EQ(loop.form, "joined");
  EXPECT_EQ(loop.loop_variable, "t");
  EXPECT_EQ(loop.sequence, "x");
  EXPECT_EQ(loop.input_layer, "i2h");
  EXPECT_EQ(loop.output_layer, "h2o");
  EXPECT_EQ(loop.activation, "tanh");
  EXPECT_EQ(loop.state, "hidden");
  EXPECT_EQ(loop.state_source.Text(), "the caller");
  EXPECT_EQ(loop.input_size, 1024);
  EXPECT_EQ(loop.hidden_size, 256);
  EXPECT_EQ(loop.output_size, 128);
  EXPECT_FALSE(loop.state_first);
  EXPECT_EQ(source.substr(loop.loop.start, 5), "for t");
}

TEST(TimeLoop, OneStepIsNoLoop) {
  const std::string source = *ReadFile(fs::path(HONE_SOURCE_DIR) / "tasks/33_VanillaRNN.py");
  const RecurrentPlan plan = Recognise(source, {}, {Linear("i2h", 32768, 16384), Typed("tanh", "Tanh")});
  EXPECT_FALSE(plan.recognised);
  EXPECT_EQ(plan.why_not, "it holds no nn.RNN, nn.GRU or nn.LSTM and no loop over time steps");
}

struct LoopCase {
  const char* name;
  const char* body;
  const char* expected;  // "form activation state|source axis stack head", or the reason
};

std::ostream& operator<<(std::ostream& out, const LoopCase& loop) {
  return out << loop.name;
}

class ReadsLoop : public testing::TestWithParam<LoopCase> {};

TEST_P(ReadsLoop, OrSaysWhyNot) {
  const std::string source = std::string(
                                 "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
                                 "class Model(nn.Module):\n    def forward(self, x, h0):\n") +
                             GetParam().body;
  const RecurrentPlan plan =
      Recognise(source, {Cell("cell", "GRU"), Cell("lstm", "LSTM")},
                {Linear("both", 24, 16), Linear("ih", 8, 16), Linear("hh", 16, 16), Linear("out", 16, 5),
                 Typed("tanh", "Tanh"), Typed("drop", "Dropout")});
  std::string found = plan.loop_why_not;
  if (plan.loop) {
    const TimeLoop& loop = *plan.loop;
    found = loop.form + " " + loop.activation + " " + loop.state + "|" + loop.state_source.Text() + " " +
            std::to_string(loop.time_axis) + " " + std::to_string(loop.stack_axis) + " " + loop.output_layer;
  }
  EXPECT_EQ(found, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    TimeLoop, ReadsLoop,
    testing::Values(LoopCase{"state_first_along_axis_one", R"(
        h = torch.zeros(x.size(0), 16)
        outs = []
        for t in range(x.shape[1]):
            h = torch.tanh(self.both(torch.cat([h, x[:, t]], dim=-1)))
            outs.append(h)
        return torch.stack(outs, dim=1)
)",
                             "joined tanh h|zeros 1 1 "},
                    LoopCase{"two_linears", R"(
        batch, steps, _ = x.shape
        ys = []
        h = h0
        for t in range(steps):
            h = F.relu(self.ih(x[:, t, :]) + self.hh(h))
            ys.append(self.out(h))
        return torch.stack(ys, 1), h
)",
                             "split relu h|the caller 1 1 out"},
                    LoopCase{"walks_over_the_tensor", R"(
        h = h0
        ys = []
        for step in x:
            h = self.tanh(self.ih(step) + self.hh(h))
            ys.append(h)
        return torch.stack(ys)
)",
                             "split tanh h|the caller 0 0 "},
                    LoopCase{"a_cell", R"(
        h = h0
        ys = []
        for t in range(len(x)):
            h = self.cell(x[t], h)
            ys.append(self.out(h))
        return torch.stack(ys, dim=0)
)",
                             "cell  h|the caller 0 0 out"},
                    LoopCase{"a_cell_whose_last_state_counts", R"(
        h = h0
        for x_t in x.unbind(1):
            h = self.cell(x_t, h)
        return self.out(h)
)",
                             "cell  h|the caller 1 0 "},
                    LoopCase{"an_lstm_cell", R"(
        h = torch.zeros(x.size(1), 16)
        c = torch.zeros(x.size(1), 16)
        ys = []
        for t in range(x.size(0)):
            h, c = self.lstm(x[t], (h, c))
            ys.append(h.unsqueeze(0))
        return torch.cat(ys, dim=0)
)",
                             "cell  h|zeros 0 0 "},
                    LoopCase{"dropout_in_the_loop", R"(
        h = h0
        ys = []
        for t in range(x.size(0)):
            h = torch.tanh(self.both(torch.cat((x[t], h), 1)))
            ys.append(self.drop(h))
        return torch.stack(ys)
)",
                             "what is appended is neither the new state nor a Linear of it"},
                    LoopCase{"another_activation", R"(
        h = h0
        for t in range(x.size(0)):
            h = torch.sigmoid(self.both(torch.cat((x[t], h), 1)))
        return h
)",
                             "the new state is not tanh or relu of a Linear, nor an nn.*Cell"},
                    LoopCase{"a_leaky_state", R"(
        h = h0
        for t in range(x.size(0)):
            h = 0.5 * h + torch.tanh(self.both(torch.cat((x[t], h), 1)))
        return h
)",
                             "the new state is not tanh or relu of a Linear, nor an nn.*Cell"},
                    LoopCase{"appends_the_old_state", R"(
        h = h0
        ys = []
        for t in range(x.size(0)):
            ys.append(h)
            h = torch.tanh(self.both(torch.cat((x[t], h), 1)))
        return torch.stack(ys)
)",
                             "what is appended is not the new state"},
                    LoopCase{"reads_a_helper_name_afterwards", R"(
        h = h0
        for t in range(x.size(0)):
            y = self.both(torch.cat((x[t], h), 1))
            h = torch.tanh(y)
        return y
)",
                             "'y' of the loop's body is read after the loop"},
                    LoopCase{"uses_the_list_otherwise", R"(
        h = h0
        ys = []
        for t in range(x.size(0)):
            h = torch.tanh(self.both(torch.cat((x[t], h), 1)))
            ys.append(h)
        return ys
)",
                             "the list of outputs is used for something else than one torch.stack"},
                    LoopCase{"reads_another_step", R"(
        h = h0
        for t in range(x.size(0)):
            h = torch.tanh(self.both(torch.cat((x[t - 1], h), 1)))
        return h
)",
                             "what is joined is not the step and the state"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hone

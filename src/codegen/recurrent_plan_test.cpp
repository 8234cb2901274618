// Recognition over the tasks of the repository and over modules written in the ways people write them.
#include "codegen/recurrent_plan.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include "base/files.h"

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
  Result<RecurrentPlan> plan =
      RecognizeRecurrent(source, {{"recurrent_modules", recurrent}, {"module_list", list}});
  EXPECT_TRUE(plan.ok());
  return plan.ok() ? *plan : RecurrentPlan{};
}

std::string Uses(const RecurrentModule& module) {
  std::string text = OutputsText(module.used);
  if (!module.traced) text += " (not traced)";
  return text;
}

struct Recognition {
  const char* file;
  const char* path;
  const char* kind;
  bool batch_first;
  bool bidirectional;
  const char* uses;
  const char* state;
};

class RecognisesTask : public testing::TestWithParam<Recognition> {};

TEST_P(RecognisesTask, WithTheOutputsItUses) {
  const Recognition& task = GetParam();
  const std::string source = *ReadFile(fs::path(HONE_SOURCE_DIR) / "tasks" / task.file);
  const std::vector<int64_t> shape =
      task.batch_first ? std::vector<int64_t>{10, 512, 128} : std::vector<int64_t>{512, 10, 128};
  const Json module = Module(task.path, task.kind, shape,
                             {{"input_size", 128},
                              {"hidden_size", 256},
                              {"num_layers", 6},
                              {"batch_first", task.batch_first},
                              {"bidirectional", task.bidirectional}});
  const RecurrentPlan plan = Recognise(source, {module}, {Linear("fc", 256, 10)});
  ASSERT_TRUE(plan.recognised) << plan.why_not;
  ASSERT_EQ(plan.modules.size(), 1u);
  EXPECT_EQ(Uses(plan.modules[0]), task.uses);
  EXPECT_EQ(plan.modules[0].state.Text(), task.state);
  EXPECT_EQ(plan.modules[0].steps(), 512);
  EXPECT_EQ(plan.modules[0].batch(), 10);
  EXPECT_FALSE(plan.loop.has_value());
}

INSTANTIATE_TEST_SUITE_P(
    Tasks, RecognisesTask,
    testing::Values(
        Recognition{"35_LSTM.py", "lstm", "LSTM", true, false, "last step of the output",
                    "the caller or random numbers"},
        Recognition{"36_LSTMHn.py", "lstm", "LSTM", true, false, "h_n", "the caller"},
        Recognition{"37_LSTMCn.py", "lstm", "LSTM", true, false, "c_n", "the caller"},
        Recognition{"38_LSTMBidirectional.py", "lstm", "LSTM", true, true, "last step of the output",
                    "the caller"},
        Recognition{"39_GRU.py", "gru", "GRU", false, false, "output sequence", "the caller"},
        Recognition{"40_GRUHidden.py", "gru", "GRU", false, false, "h_n", "the caller"},
        Recognition{"41_GRUBidirectional.py", "gru", "GRU", false, true, "output sequence", "the caller"},
        Recognition{"42_GRUBidirectionalHidden.py", "gru", "GRU", false, true, "h_n", "the caller"},
        Recognition{"small_gru.py", "gru", "GRU", false, false, "output sequence and h_n", "the caller"}));

TEST(Recurrent, SaysWhatIsThereInOneSentence) {
  const std::string source = *ReadFile(fs::path(HONE_SOURCE_DIR) / "tasks/39_GRU.py");
  const Json module =
      Module("gru", "GRU", {512, 10, 128}, {{"input_size", 128}, {"hidden_size", 256}, {"num_layers", 6}});
  EXPECT_EQ(Recognise(source, {module}).sentence,
            "6-layer GRU, 128 -> 256, sequence first; only the output sequence is used");
}

TEST(Recurrent, KeepsWhatADroppedHeadLooksAt) {
  const std::string source = *ReadFile(fs::path(HONE_SOURCE_DIR) / "tasks/36_LSTMHn.py");
  const RecurrentPlan plan = Recognise(
      source, {Module("lstm", "LSTM", {10, 512, 128}, {{"batch_first", true}})}, {Linear("fc", 256, 10)});
  EXPECT_FALSE(plan.modules[0].used.last_step);
  EXPECT_TRUE(plan.modules[0].touched.last_step);
  EXPECT_FALSE(plan.modules[0].touched.sequence);
  EXPECT_FALSE(plan.modules[0].touched.c_n);
}

// forward bodies around one module `rnn`, in a class that also has `fc`, `norm` and `head`.
struct Body {
  const char* name;
  const char* text;
  const char* kind;
  const char* uses;
  const char* state;
  std::vector<int64_t> shape = {12, 4, 8};
  bool batch_first = false;
};

std::ostream& operator<<(std::ostream& out, const Body& body) {
  return out << body.name;
}

class FollowsOutputs : public testing::TestWithParam<Body> {};

TEST_P(FollowsOutputs, ThroughForward) {
  const Body& body = GetParam();
  const std::string source =
      std::string("import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n") + body.text;
  const RecurrentPlan plan =
      Recognise(source, {Module("rnn", body.kind, body.shape, {{"batch_first", body.batch_first}})},
                {Linear("fc", 16, 3), Typed("norm", "LayerNorm"), Typed("head", "Sequential"),
                 Typed("head.0", "Linear"), Typed("head.1", "ReLU")});
  ASSERT_EQ(plan.modules.size(), 1u);
  EXPECT_EQ(Uses(plan.modules[0]), body.uses);
  EXPECT_EQ(plan.modules[0].state.Text(), body.state);
}

INSTANTIATE_TEST_SUITE_P(Recurrent, FollowsOutputs,
                         testing::Values(Body{"unpacks_a_pair_of_states", R"(
class Model(nn.Module):
    def forward(self, x, h0, c0):
        out, (h, c) = self.rnn(x, (h0, c0))
        return out, c
)",
                                              "LSTM", "output sequence and c_n", "the caller"},
                                         Body{"subscripts_the_result", R"(
class Model(nn.Module):
    def forward(self, x):
        return self.rnn(x)[0]
)",
                                              "GRU", "output sequence", "zeros"},
                                         Body{"subscripts_the_result_for_the_state", R"(
class Model(nn.Module):
    def forward(self, x):
        return self.fc(self.rnn(x)[1][-1])
)",
                                              "GRU", "h_n", "zeros"},
                                         Body{"cell_state_of_a_nested_subscript", R"(
class Model(nn.Module):
    def forward(self, x):
        return self.rnn(x)[1][1]
)",
                                              "LSTM", "c_n", "zeros"},
                                         Body{"last_step_batch_first",
                                              R"(
class Model(nn.Module):
    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(out[:, -1, :])
)",
                                              "GRU",
                                              "last step of the output",
                                              "zeros",
                                              {4, 12, 8},
                                              true},
                                         Body{"last_step_without_the_last_colon",
                                              R"(
class Model(nn.Module):
    def forward(self, x):
        out, _ = self.rnn(x)
        out = self.norm(out[:, -1])
        return self.head(out)
)",
                                              "GRU",
                                              "last step of the output",
                                              "zeros",
                                              {4, 12, 8},
                                              true},
                                         Body{"last_of_the_batch_is_not_the_last_step", R"(
class Model(nn.Module):
    def forward(self, x):
        out, _ = self.rnn(x)
        return out[:, -1, :]
)",
                                              "GRU", "output sequence", "zeros"},
                                         Body{"last_step_sequence_first", R"(
class Model(nn.Module):
    def forward(self, x):
        output, hidden = self.rnn(x)
        return self.fc(output[-1])
)",
                                              "GRU", "last step of the output", "zeros"},
                                         Body{"last_step_by_ellipsis",
                                              R"(
class Model(nn.Module):
    def forward(self, x):
        y = self.rnn(x)[0]
        return y[..., -1, :]
)",
                                              "GRU",
                                              "last step of the output",
                                              "zeros",
                                              {4, 12, 8},
                                              true},
                                         Body{"last_step_by_select_after_contiguous",
                                              R"(
class Model(nn.Module):
    def forward(self, x):
        y, _ = self.rnn(x)
        return y.contiguous().select(1, -1)
)",
                                              "GRU",
                                              "last step of the output",
                                              "zeros",
                                              {4, 12, 8},
                                              true},
                                         Body{"last_step_unbatched",
                                              R"(
class Model(nn.Module):
    def forward(self, x):
        y, _ = self.rnn(x)
        return y[-1]
)",
                                              "GRU",
                                              "last step of the output",
                                              "zeros",
                                              {12, 8},
                                              true},
                                         Body{"mean_over_time_reads_all_of_it",
                                              R"(
class Model(nn.Module):
    def forward(self, x):
        out, _ = self.rnn(x)
        return out.mean(dim=1)
)",
                                              "GRU",
                                              "output sequence",
                                              "zeros",
                                              {4, 12, 8},
                                              true},
                                         Body{"zeros_as_state", R"(
class Model(nn.Module):
    def forward(self, x):
        h0 = torch.zeros(1, x.size(1), 16, device=x.device)
        _, h = self.rnn(x, h0)
        return h.squeeze(0)
)",
                                              "GRU", "h_n", "zeros"},
                                         Body{"state_from_a_method", R"(
class Model(nn.Module):
    def init_hidden(self, batch):
        return (torch.zeros(1, batch, 16), torch.zeros(1, batch, 16))

    def forward(self, x):
        out, state = self.rnn(x, self.init_hidden(x.size(1)))
        return out
)",
                                              "LSTM", "output sequence", "zeros"},
                                         Body{"state_kept_in_the_module", R"(
class Model(nn.Module):
    def forward(self, x):
        out, self.h = self.rnn(x, self.h)
        return self.fc(out)
)",
                                              "GRU", "output sequence and h_n", "an attribute of the module"},
                                         Body{"a_branch_on_the_given_state", R"(
class Model(nn.Module):
    def forward(self, x, state=None):
        if state is None:
            state = torch.zeros(1, x.size(1), 16)
        out, h = self.rnn(x, hx=state)
        return h if self.flag else h + 1
)",
                                              "GRU", "h_n", "the caller or zeros"},
                                         Body{"both_concatenated", R"(
class Model(nn.Module):
    def forward(self, x):
        _, (h, c) = self.rnn(x)
        return torch.cat([h[-1], c[-1]], dim=-1)
)",
                                              "LSTM", "h_n and c_n", "zeros"},
                                         Body{"computed_and_dropped", R"(
class Model(nn.Module):
    def forward(self, x):
        out, h = self.rnn(x)
        attention = torch.softmax(self.fc(out), dim=0)
        return h
)",
                                              "GRU", "h_n", "zeros"},
                                         Body{"collected_in_a_list", R"(
class Model(nn.Module):
    def forward(self, x):
        parts = []
        for i in range(3):
            out, h = self.rnn(x[i])
            parts.append(out[-1])
        return torch.stack(parts)
)",
                                              "GRU", "last step of the output", "zeros"},
                                         Body{"handed_to_an_unknown_function", R"(
class Model(nn.Module):
    def forward(self, x):
        return F.relu(apply_it(self.rnn, x))
)",
                                              "GRU", "output sequence and h_n (not traced)",
                                              "a computed value"},
                                         Body{"a_helper_method", R"(
class Model(nn.Module):
    def encode(self, x):
        out, h = self.rnn(x)
        return out, h

    def forward(self, x):
        out, h = self.encode(x)
        return F.relu(h[-1])
)",
                                              "RNN", "h_n", "zeros"},
                                         Body{"an_inherited_forward", R"(
class Base(nn.Module):
    def forward(self, x):
        return self.rnn(x)[0]

class Model(Base):
    pass
)",
                                              "GRU", "output sequence", "zeros"}),
                         [](const auto& info) { return info.param.name; });

TEST(Recurrent, EntersWrappersAndSequentials) {
  const RecurrentPlan plan =
      Recognise(R"(
import torch.nn as nn
class Last(nn.Module):
    def forward(self, pair):
        out, state = pair
        return out[:, -1]
class Model(nn.Module):
    def __init__(self):
        self.net = nn.Sequential(nn.GRU(8, 16, batch_first=True), Last(), nn.Linear(16, 2))
    def forward(self, x):
        return self.net(x)
)",
                {Module("net.0", "GRU", {4, 12, 8}, {{"batch_first", true}})},
                {Typed("net", "Sequential"), Typed("net.1", "Last"), Linear("net.2", 16, 2)});
  EXPECT_EQ(Uses(plan.modules[0]), "last step of the output");
}

TEST(Recurrent, FollowsAStackThroughAModuleList) {
  const std::vector<Json> modules = {Module("layers.0", "GRU", {12, 4, 8}),
                                     Module("layers.1", "GRU", {12, 4, 8})};
  const RecurrentPlan plan = Recognise(R"(
class Model(nn.Module):
    def forward(self, x):
        for layer in self.layers:
            x, h = layer(x)
        return h
)",
                                       modules, {Typed("layers", "ModuleList")});
  EXPECT_EQ(Uses(plan.modules[0]), "output sequence");
  EXPECT_EQ(Uses(plan.modules[1]), "h_n");
}

TEST(Recurrent, FollowsAnEncoderIntoADecoder) {
  const std::vector<Json> modules = {Module("encoder.rnn", "LSTM", {12, 4, 8}),
                                     Module("decoder", "LSTM", {12, 4, 8})};
  const RecurrentPlan plan = Recognise(R"(
class Encoder(nn.Module):
    def forward(self, x):
        out, state = self.rnn(x)
        return state
class Model(nn.Module):
    def forward(self, x, y):
        state = self.encoder(x)
        out, _ = self.decoder(y, state)
        return self.fc(out)
)",
                                       modules, {Typed("encoder", "Encoder"), Linear("fc", 16, 3)});
  EXPECT_EQ(Uses(plan.modules[0]), "h_n and c_n");
  EXPECT_EQ(Uses(plan.modules[1]), "output sequence");
  EXPECT_EQ(plan.modules[1].state.Text(), "a computed value");
}

TEST(Recurrent, MarksPackedSequences) {
  const RecurrentPlan plan = Recognise(R"(
class Model(nn.Module):
    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths)
        _, h = self.rnn(packed)
        return h
)",
                                       {Module("rnn", "GRU", {12, 4, 8})});
  EXPECT_TRUE(plan.modules[0].packed_input);
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
  const char* expected;  // "form activation state|source axis stack head", or why not
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

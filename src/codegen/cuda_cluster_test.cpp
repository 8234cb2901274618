// Tests the cluster recipes on tasks that they support: the text is valid, lint sees a persistent recurrence,
// the kernel computes only outputs that forward reads, and the predicted time is that of the chain of steps.
// Also tests that they decline other tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lint.h"
#include "base/files.h"
#include "codegen/expert.h"
#include "codegen/recurrent_graph_fixture.h"
#include "source/syntax_tree.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

struct TaskCase {
  const char* file;
  const char* path;  // "" for the hand-written loop
  const char* kind;
  bool batch_first;
  bool bidirectional;
  const char* outputs;
  double predicted_us;
};

ExpertInputs InputsOf(const TaskCase& task) {
  ExpertInputs inputs;
  inputs.task.name = task.file;
  inputs.task.source = *ReadFile(fs::path(HONE_SOURCE_DIR) / "tasks" / task.file);
  inputs.task.sha256 = std::string(64, 'a');
  inputs.device = inputs.target = "cuda";
  inputs.machine = {{"cores", 2}, {"threads", 1}, {"sm", 90}, {"torch", "2.11.0"}};
  inputs.card.floor_us = inputs.card.library_us = 100;
  inputs.card.operators = {{"addmm", 512}};
  if (*task.path == '\0') {
    inputs.card.inputs = {{"float32", {256, 8, 1024}}};
    inputs.facts = *ParseJson(R"({"module_list": [
        {"path": "i2h", "type": "Linear", "in_features": 1280, "out_features": 256, "bias": true},
        {"path": "h2o", "type": "Linear", "in_features": 256, "out_features": 128, "bias": true},
        {"path": "tanh", "type": "Tanh"}]})");
    return inputs;
  }
  const std::vector<int64_t> shape =
      task.batch_first ? std::vector<int64_t>{10, 512, 128} : std::vector<int64_t>{512, 10, 128};
  const int64_t fc_inputs = task.bidirectional ? 512 : 256;
  inputs.facts["recurrent_modules"] = {{{"path", task.path},
                                        {"kind", task.kind},
                                        {"input_size", 128},
                                        {"hidden_size", 256},
                                        {"num_layers", 6},
                                        {"batch_first", task.batch_first},
                                        {"bidirectional", task.bidirectional},
                                        {"calls", 1},
                                        {"dtype", "float32"},
                                        {"input_shape", shape}}};
  inputs.facts["module_list"] = {
      {{"path", task.path}, {"type", task.kind}},
      {{"path", "fc"}, {"type", "Linear"}, {"in_features", fc_inputs}, {"out_features", 10}}};
  inputs.graph = CapturedCase(fs::path(task.file).stem()).graph;
  return inputs;
}

const TaskCase kTasks[] = {
    {"34_VanillaRNNHidden.py", "", "RNN", false, false, "", 214},
    {"35_LSTM.py", "lstm", "LSTM", true, false, R"("lstm": ("last",))", 400},
    {"36_LSTMHn.py", "lstm", "LSTM", true, false, R"("lstm": ("last", "h_n"))", 400},
    {"37_LSTMCn.py", "lstm", "LSTM", true, false, R"("lstm": ("last", "c_n"))", 400},
    {"38_LSTMBidirectional.py", "lstm", "LSTM", true, true, R"("lstm": ("last",))", 1768},
    {"39_GRU.py", "gru", "GRU", false, false, R"("gru": ("sequence",))", 369},
    {"40_GRUHidden.py", "gru", "GRU", false, false, R"("gru": ("h_n",))", 369},
    {"41_GRUBidirectional.py", "gru", "GRU", false, true, R"("gru": ("sequence",))", 1645},
    {"42_GRUBidirectionalHidden.py", "gru", "GRU", false, true, R"("gru": ("h_n",))", 1645},
};

Proposal Offered(const ExpertAnswer& answer, const std::string& recipe) {
  for (const Proposal& proposal : answer.proposals)
    if (proposal.recipe == recipe) return proposal;
  ADD_FAILURE() << recipe << " is not offered";
  return {};
}

std::string WhyDeclined(const ExpertInputs& inputs, const std::string& recipe) {
  const Result<ExpertAnswer> answer = ProposeExpert(inputs);
  EXPECT_TRUE(answer.ok());
  for (const Declined& declined : answer->declined)
    if (declined.recipe == recipe) return declined.why;
  return "offered";
}

class ClusterRecipe : public testing::TestWithParam<TaskCase> {};

TEST_P(ClusterRecipe, WritesASoundCandidate) {
  const TaskCase& task = GetParam();
  const Result<ExpertAnswer> answer = ProposeExpert(InputsOf(task));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  const std::string recipe = task.bidirectional ? "cuda/cluster_bidirectional" : "cuda/cluster_wavefront";
  const Proposal proposal = Offered(*answer, recipe);
  EXPECT_EQ(answer->proposals.front().recipe, recipe);
  EXPECT_EQ(SyntaxTree::Parse(proposal.source, Language::kPython).first_error(), nullptr);
  const LintReport report = LintSource("candidate.py", proposal.source);
  EXPECT_EQ(report.kernel_class, KernelClass::kPersistentRecurrent);
  for (const Finding& finding : report.findings)
    EXPECT_NE(finding.severity, Severity::kError)
        << finding.rule << " " << finding.line << ": " << finding.message;
  EXPECT_THAT(proposal.source, HasSubstr(task.outputs));
  EXPECT_THAT(proposal.source, Not(HasSubstr("@@")));
  EXPECT_NEAR(proposal.predicted_us, task.predicted_us, 1);
}

INSTANTIATE_TEST_SUITE_P(Tasks, ClusterRecipe, testing::ValuesIn(kTasks),
                         [](const auto& test) { return std::string(test.param.file, 2); });

TEST(ClusterRecipes, OfferFloat32BesideTf32WherePyTorchRounds) {
  for (const TaskCase& task : kTasks) {
    const std::string recipe =
        task.bidirectional ? "cuda/cluster_bidirectional_fp32" : "cuda/cluster_wavefront_fp32";
    ExpertInputs inputs = InputsOf(task);
    EXPECT_THAT(WhyDeclined(inputs, recipe), HasSubstr("at float32 level already")) << task.file;
    if (*task.path == '\0') continue;
    inputs.facts["cudnn_tf32"] = true;
    const Result<ExpertAnswer> answer = ProposeExpert(inputs);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    const Proposal proposal = Offered(*answer, recipe);
    EXPECT_THAT(proposal.source, HasSubstr("\n_FULL_FLOAT32 = True\n"));
    EXPECT_EQ(SyntaxTree::Parse(proposal.source, Language::kPython).first_error(), nullptr);
    EXPECT_GT(proposal.predicted_us, task.predicted_us);
  }
}

TEST(ClusterRecipes, SayWhatTheyAreNotFor) {
  struct Case {
    const char* field;
    Json value;
    const char* why;
  };
  for (const Case& c : {Case{"hidden_size", 512, "hidden units"}, Case{"proj_size", 64, "proj_size"},
                        Case{"dtype", "float64", "float64"}, Case{"num_layers", 40, "clusters at once"},
                        Case{"packed_input", true, "packed"}, Case{"calls", 0, "not called"}}) {
    ExpertInputs inputs = InputsOf(kTasks[5]);
    inputs.facts["recurrent_modules"][0][c.field] = c.value;
    EXPECT_THAT(WhyDeclined(inputs, "cuda/cluster_wavefront"), HasSubstr(c.why)) << c.field;
  }
  ExpertInputs older = InputsOf(kTasks[5]);
  older.machine["sm"] = 80;
  EXPECT_THAT(WhyDeclined(older, "cuda/cluster_wavefront"), HasSubstr("sm_80"));
  ExpertInputs cpu = InputsOf(kTasks[5]);
  cpu.device = "cpu";
  EXPECT_EQ(WhyDeclined(cpu, "cuda/cluster_wavefront"), "it needs a GPU");
}

TEST(ClusterRecipes, LeaveToEachOtherWhatTheOtherTakes) {
  EXPECT_THAT(WhyDeclined(InputsOf(kTasks[5]), "cuda/cluster_bidirectional"),
              HasSubstr("cluster_wavefront takes"));
  EXPECT_THAT(WhyDeclined(InputsOf(kTasks[7]), "cuda/cluster_wavefront"),
              HasSubstr("cluster_bidirectional takes"));
}

}  // namespace
}  // namespace hone

// Tests that the text of every recipe parses and passes lint for tasks that it supports, and that it declines
// other tasks with a reason.
#include "codegen/expert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "analysis/lint.h"
#include "base/files.h"
#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/recipe.h"
#include "codegen/recurrent_graph_fixture.h"
#include "source/python_ast.h"
#include "source/syntax_tree.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

Json Machine() {
  return {{"cores", 2},         {"threads", 1}, {"sm", 90},    {"torch", "2.11.0"},   {"has_compile", true},
          {"has_triton", true}, {"nvcc", true}, {"gxx", true}, {"tf32_allowed", true}};
}

ExpertInputs InputsOf(const std::string& source, const std::string& device) {
  ExpertInputs inputs;
  inputs.task.name = "case";
  inputs.task.source = source;
  inputs.task.sha256 = std::string(64, 'a');
  inputs.device = inputs.target = device;
  inputs.machine = Machine();
  inputs.card.floor_us = inputs.card.library_us = 100;
  inputs.card.operators = {{"addmm", 10}};
  inputs.card.outputs = {{"float32", {4, 4}}};
  return inputs;
}

ExpertInputs TaskInputs(const std::string& file, const std::string& device) {
  ExpertInputs inputs = InputsOf(*ReadFile(fs::path(HONE_SOURCE_DIR) / "tasks" / file), device);
  inputs.task.name = fs::path(file).stem();
  return inputs;
}

ExpertInputs Gru(const std::string& device) {
  ExpertInputs inputs = TaskInputs("39_GRU.py", device);
  inputs.card.modules = {{"GRU", 1}};
  inputs.facts = *ParseJson(R"({"recurrent_modules": [{"path": "gru", "kind": "GRU", "input_size": 128,
      "hidden_size": 256, "num_layers": 6, "calls": 1, "dtype": "float32", "input_shape": [512, 10, 128]}],
      "module_list": [{"path": "gru", "type": "GRU"}]})");
  inputs.graph = CapturedCase("39_GRU").graph;
  return inputs;
}

ExpertInputs BothDirections(const std::string& device) {
  ExpertInputs inputs = Gru(device);
  inputs.task.source = *ReadFile(fs::path(HONE_SOURCE_DIR) / "tasks/41_GRUBidirectional.py");
  inputs.facts["recurrent_modules"][0]["bidirectional"] = true;
  inputs.graph = CapturedCase("41_GRUBidirectional").graph;
  return inputs;
}

// A machine where PyTorch uses TF32.
ExpertInputs Rounding(ExpertInputs inputs) {
  inputs.facts["cudnn_tf32"] = true;
  return inputs;
}

// A layer too large for a cluster, or for the chip.
ExpertInputs Large(const std::string& device, int64_t hidden) {
  ExpertInputs inputs = Rounding(Gru(device));
  inputs.facts["recurrent_modules"][0]["hidden_size"] = hidden;
  inputs.facts["recurrent_modules"][0]["num_layers"] = 1;
  return inputs;
}

ExpertInputs Loop(const std::string& device) {
  ExpertInputs inputs = TaskInputs("34_VanillaRNNHidden.py", device);
  inputs.card.modules = {{"Linear", 2}, {"Tanh", 1}};
  inputs.card.inputs = {{"float32", {256, 8, 1024}}};
  inputs.facts = *ParseJson(R"({"module_list": [
      {"path": "i2h", "type": "Linear", "in_features": 1280, "out_features": 256, "bias": true},
      {"path": "h2o", "type": "Linear", "in_features": 256, "out_features": 128, "bias": true},
      {"path": "tanh", "type": "Tanh"}]})");
  return inputs;
}

ExpertInputs HugeStep(const std::string& device) {
  ExpertInputs inputs = TaskInputs("33_VanillaRNN.py", device);
  inputs.card.modules = {{"Linear", 2}, {"Tanh", 1}};
  inputs.facts = *ParseJson(R"({"module_list": [
      {"path": "i2h", "type": "Linear", "of_torch": true, "in_features": 32768, "out_features": 16384, "bias": true,
       "dtype": "float32", "rows": 256, "calls": 1},
      {"path": "h2o", "type": "Linear", "of_torch": true, "in_features": 16384, "out_features": 8192, "bias": true,
       "dtype": "float32", "rows": 256, "calls": 1}]})");
  return inputs;
}

ExpertInputs ResNet(const std::string& device) {
  ExpertInputs inputs = TaskInputs("9_ResNet18.py", device);
  inputs.card.modules = {{"Conv2d", 20}, {"BatchNorm2d", 20}, {"Linear", 1}};
  return inputs;
}

// Two maps over 64 x 64, as the worker would capture them.
ExpertInputs Captured(const std::string& device) {
  ExpertInputs inputs = TaskInputs("small_softmax.py", device);
  inputs.card.floor_us = inputs.card.library_us = 1;  // shorter than a launch
  graph::Graph graph;
  const graph::TensorType type = graph::ContiguousType(graph::DType::kFloat32, {64, 64});
  graph::ValueTree leaf;
  leaf.kind = graph::ValueTree::Kind::kValue;
  leaf.value = graph.AddValue(graph::ValueKind::kInput, "x", type);
  graph.AddInput(leaf);
  for (const char* target : {"aten.relu.default", "aten.tanh.default"})
    leaf.value = graph.node(graph.Append({target, {{"self", leaf.value}}, {type}})).result();
  graph.SetOutputs(leaf);
  graph.verified = true;
  inputs.graph = std::make_shared<const graph::Graph>(std::move(graph));
  return inputs;
}

// One operator for each layout of fused kernels, over rows that are short, long and divided.
std::vector<ExpertInputs> FusedLayouts(const std::string& device) {
  using graph::ContiguousType;
  using graph::DType;
  struct Row {
    const char* target;
    std::vector<graph::Argument> arguments;  // after self
    graph::Shape in, out;
  };
  std::vector<ExpertInputs> all;
  for (const Row& row : std::vector<Row>{
           {"aten.softmax.int", {{"dim", int64_t{1}}}, {64, 100}, {64, 100}},
           {"aten.softmax.int", {{"dim", int64_t{1}}}, {400, 9000}, {400, 9000}},
           {"aten.softmax.int", {{"dim", int64_t{0}}}, {9000, 30}, {9000, 30}},
           {"aten.sum.dim_IntList", {{"dim", std::vector<int64_t>{0, 1}}}, {900, 900}, {}},
           {"aten.argmax.default", {{"dim", int64_t{1}}}, {3, 40000}, {3}},
           {"aten.var.correction", {{"dim", std::vector<int64_t>{1}}}, {3, 40000}, {3}},
           {"aten.cumsum.default", {{"dim", int64_t{1}}}, {64, 3000}, {64, 3000}},
           {"aten.max_pool2d.default",
            {{"kernel_size", std::vector<int64_t>{2, 2}}},
            {2, 3, 8, 8},
            {2, 3, 4, 4}},
       }) {
    ExpertInputs inputs = Captured(device);
    graph::Graph graph;
    graph::ValueTree leaf;
    leaf.kind = graph::ValueTree::Kind::kValue;
    leaf.value = graph.AddValue(graph::ValueKind::kInput, "x", ContiguousType(DType::kFloat32, row.in));
    graph.AddInput(leaf);
    std::vector<graph::Argument> arguments = {{"self", leaf.value}};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const DType made = std::string(row.target) == "aten.argmax.default" ? DType::kInt64 : DType::kFloat32;
    leaf.value = graph.node(graph.Append({row.target, arguments, {ContiguousType(made, row.out)}})).result();
    graph.SetOutputs(leaf);
    graph.verified = true;
    inputs.graph = std::make_shared<const graph::Graph>(std::move(graph));
    all.push_back(std::move(inputs));
  }
  return all;
}

// Two convolutions with a map between them.
ExpertInputs Convolutions(const std::string& device) {
  ExpertInputs inputs = Captured(device);
  graph::Graph graph;
  graph::ValueTree leaf;
  leaf.kind = graph::ValueTree::Kind::kValue;
  const graph::TensorType type = graph::ContiguousType(graph::DType::kFloat32, {8, 64, 32, 32});
  leaf.value = graph.AddValue(graph::ValueKind::kInput, "x", type);
  graph.AddInput(leaf);
  const graph::ValueId weight = graph.AddValue(graph::ValueKind::kParameter, "conv.weight",
                                               graph::ContiguousType(graph::DType::kFloat32, {64, 64, 3, 3}));
  const std::vector<int64_t> ones = {1, 1};
  for (const bool first : {true, false}) {
    leaf.value = graph
                     .node(graph.Append({"aten.conv2d.default",
                                         {{"input", leaf.value},
                                          {"weight", weight},
                                          {"bias", graph::None{}},
                                          {"stride", ones},
                                          {"padding", ones},
                                          {"dilation", ones},
                                          {"groups", int64_t{1}}},
                                         {type}}))
                     .result();
    if (first)
      leaf.value = graph.node(graph.Append({"aten.relu.default", {{"self", leaf.value}}, {type}})).result();
  }
  graph.SetOutputs(leaf);
  graph.verified = true;
  inputs.graph = std::make_shared<const graph::Graph>(std::move(graph));
  return inputs;
}

std::map<std::string, Proposal> ByRecipe(const ExpertAnswer& answer) {
  std::map<std::string, Proposal> proposals;
  for (const Proposal& proposal : answer.proposals) proposals[proposal.recipe] = proposal;
  return proposals;
}

std::string WhyDeclined(const ExpertAnswer& answer, const std::string& recipe) {
  for (const Declined& declined : answer.declined)
    if (declined.recipe == recipe) return declined.why;
  return "offered";
}

void ExpectSound(const Proposal& proposal, const ExpertInputs& inputs) {
  SCOPED_TRACE(proposal.recipe);
  const SyntaxTree syntax = SyntaxTree::Parse(proposal.source, Language::kPython);
  ASSERT_FALSE(syntax.gave_up());
  EXPECT_EQ(syntax.first_error(), nullptr);
  // Lints it with the task, as `hone bench` does. Hone's own text must cause no warning and no error.
  LintOptions options;
  options.task_text = inputs.task.source;
  const LintReport report = LintSource("candidate.py", proposal.source, options);
  for (const Finding& finding : report.findings)
    EXPECT_EQ(finding.severity, Severity::kNote)
        << finding.rule << " " << finding.line << ": " << finding.message;
  EXPECT_THAT(proposal.source, HasSubstr("class ModelNew(Model)"));
  EXPECT_THAT(proposal.source, HasSubstr("Recipe " + proposal.recipe));
  EXPECT_THAT(proposal.source, Not(HasSubstr("@{")));
  EXPECT_THAT(proposal.source, Not(HasSubstr("@if")));
  EXPECT_FALSE(proposal.why.empty());
  EXPECT_GT(proposal.predicted_us, 0);
}

TEST(Expert, EveryRecipeWritesSoundCandidatesForTheTasksItIsFor) {
  std::map<std::string, int> written;
  ExpertInputs in_triton = Gru("cuda"), fused_in_triton = Captured("cuda");
  in_triton.target = fused_in_triton.target = "triton";
  for (const char* device : {"cpu", "cuda"})
    for (const ExpertInputs& inputs :
         {in_triton, fused_in_triton, Gru(device), BothDirections(device), Rounding(Gru(device)),
          Rounding(BothDirections(device)), Large(device, 1024), Large(device, 4096), Loop(device),
          HugeStep(device), ResNet(device), Captured(device), Convolutions(device)}) {
      const Result<ExpertAnswer> answer = ProposeExpert(inputs);
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      EXPECT_EQ(answer->proposals.size() + answer->declined.size(), AllRecipes().size());
      for (const Proposal& proposal : answer->proposals) {
        ExpectSound(proposal, inputs);
        ++written[proposal.recipe];
      }
      for (const Declined& declined : answer->declined) EXPECT_FALSE(declined.why.empty()) << declined.recipe;
    }
  for (const Recipe& recipe : AllRecipes()) EXPECT_GT(written[recipe.name], 0) << recipe.name;
}

TEST(Expert, SaysWhichRecipesAreForAnotherDevice) {
  for (const char* device : {"cpu", "cuda"}) {
    const Result<ExpertAnswer> answer = ProposeExpert(Gru(device));
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    std::map<std::string, bool> elsewhere;
    for (const Declined& declined : answer->declined) elsewhere[declined.recipe] = declined.other_device;
    const bool gpu = std::string(device) == "cuda";
    EXPECT_EQ(elsewhere["cuda/step_graph"], !gpu);
    EXPECT_EQ(elsewhere["library/tf32"], !gpu);
    EXPECT_EQ(elsewhere["library/cpu_threads"], gpu);
    EXPECT_FALSE(elsewhere["library/folded_channels_last"]);
  }
}

TEST(Expert, LeavesCudaOutWhereTritonIsAskedFor) {
  ExpertInputs inputs = Gru("cuda");
  inputs.target = "triton";
  const Result<ExpertAnswer> answer = ProposeExpert(inputs);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->proposals.front().recipe, "triton/persistent");
  for (const Proposal& proposal : answer->proposals)
    EXPECT_THAT(proposal.recipe, Not(testing::StartsWith("cuda/")));
}

TEST(Expert, EveryLayoutOfAFusedKernelIsSound) {
  for (const char* target : {"cpu", "cuda", "triton"})
    for (ExpertInputs inputs : FusedLayouts(std::string(target) == "cpu" ? "cpu" : "cuda")) {
      inputs.target = target;
      const std::string recipe = std::string(target) + "/fused_graph";
      const ExpertAnswer answer = *ProposeExpert(inputs);
      ASSERT_EQ(WhyDeclined(answer, recipe), "offered");
      ExpectSound(ByRecipe(answer)[recipe], inputs);
    }
}

TEST(Expert, FusesInTritonWhereItIsAskedForOrNothingElseCompiles) {
  ExpertInputs inputs = Captured("cuda");
  EXPECT_THAT(WhyDeclined(*ProposeExpert(inputs), "triton/fused_graph"), HasSubstr("CUDA compiler"));
  inputs.target = "triton";
  EXPECT_EQ(WhyDeclined(*ProposeExpert(inputs), "triton/fused_graph"), "offered");
  inputs.target = "cuda";
  inputs.machine["nvcc"] = false;
  EXPECT_EQ(WhyDeclined(*ProposeExpert(inputs), "triton/fused_graph"), "offered");
  inputs.machine["has_triton"] = false;
  EXPECT_EQ(WhyDeclined(*ProposeExpert(inputs), "triton/fused_graph"), "there is no Triton here");
}

TEST(Expert, FusesInTritonWhereTheCudaKernelsAreForNewerDevices) {
  for (const int sm : {80, 89}) {
    ExpertInputs inputs = Captured("cuda");
    inputs.machine["sm"] = sm;
    inputs.machine["nvrtc"] = true;
    const Result<ExpertAnswer> answer = ProposeExpert(inputs);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(WhyDeclined(*answer, "triton/fused_graph"), "offered") << sm;
    EXPECT_THAT(WhyDeclined(*answer, "cuda/fused_graph"), HasSubstr("sm_" + std::to_string(sm))) << sm;
    inputs.machine["has_triton"] = false;
    EXPECT_EQ(WhyDeclined(*ProposeExpert(inputs), "triton/fused_graph"), "there is no Triton here") << sm;
  }
}

TEST(Expert, PutsTheMostPromisingFirst) {
  const Result<ExpertAnswer> answer = ProposeExpert(ResNet("cuda"));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->proposals.front().recipe, "library/folded_cuda_graph");
  for (size_t i = 1; i < answer->proposals.size(); ++i)
    EXPECT_LE(answer->proposals[i - 1].predicted_us, answer->proposals[i].predicted_us);
}

TEST(Expert, PreparesNothingForAModuleThatKeepsState) {
  ExpertInputs inputs = TaskInputs("33_VanillaRNN.py", "cuda");
  inputs.card.modules = {{"Linear", 2}};
  const Result<ExpertAnswer> answer = ProposeExpert(inputs);
  ASSERT_TRUE(answer.ok());
  for (const char* recipe : {"library/cuda_graph", "library/compile"})
    EXPECT_THAT(WhyDeclined(*answer, recipe), HasSubstr("state")) << recipe;
  EXPECT_EQ(WhyDeclined(*answer, "library/tf32"), "offered");
}

TEST(Expert, PreparesNothingForAModuleThatDraws) {
  const Result<ExpertAnswer> from_source = ProposeExpert(TaskInputs("35_LSTM.py", "cuda"));
  ASSERT_TRUE(from_source.ok());
  EXPECT_THAT(WhyDeclined(*from_source, "library/cuda_graph"), HasSubstr("random"));
  ExpertInputs told = TaskInputs("small_softmax.py", "cuda");
  told.facts = {{"random_in_forward", true}};
  const Result<ExpertAnswer> from_facts = ProposeExpert(told);
  ASSERT_TRUE(from_facts.ok());
  EXPECT_THAT(WhyDeclined(*from_facts, "library/cuda_graph"), HasSubstr("random"));
}

TEST(Expert, TrustsNoGraphThatWasNotRun) {
  for (const char* device : {"cuda", "cpu"}) {
    ExpertInputs inputs = Captured(device);
    auto unverified = std::make_shared<graph::Graph>(*inputs.graph);
    unverified->verified = false;
    unverified->note = "it needs 90 GB";
    inputs.graph = unverified;
    const Result<ExpertAnswer> answer = ProposeExpert(inputs);
    ASSERT_TRUE(answer.ok());
    EXPECT_THAT(WhyDeclined(*answer, device + std::string("/fused_graph")),
                HasSubstr("not run against the module: it needs 90 GB"));
  }
}

TEST(Expert, SaysWhatIsMissing) {
  ExpertInputs inputs = Gru("cpu");
  inputs.machine["gxx"] = false;
  inputs.machine["threads"] = 2;
  inputs.machine["has_compile"] = false;
  const Result<ExpertAnswer> answer = ProposeExpert(inputs);
  ASSERT_TRUE(answer.ok());
  EXPECT_THAT(WhyDeclined(*answer, "cpu/persistent"), HasSubstr("compiler"));
  EXPECT_EQ(WhyDeclined(*answer, "library/cpu_threads"), "all cores are best already");
  EXPECT_EQ(WhyDeclined(*answer, "library/cuda_graph"), "it needs a GPU");
  EXPECT_EQ(WhyDeclined(*answer, "library/compile"), "there is no torch.compile here");
  EXPECT_EQ(WhyDeclined(*answer, "library/cpu_packed_weights"), "it has no linear layers");
}

TEST(Expert, AsksTheKernelOnlyForWhatIsRead) {
  const Result<ExpertAnswer> answer = ProposeExpert(Gru("cpu"));
  ASSERT_TRUE(answer.ok());
  EXPECT_THAT(ByRecipe(*answer)["cpu/persistent"].source, HasSubstr("\"gru\": (\"sequence\",),"));
  EXPECT_EQ(answer->recognised, "6-layer GRU, 128 -> 256, sequence first; only the output sequence is used");
}

TEST(Expert, LeavesOutputsOutOnlyInCallsLikeTheOneOfTheGraph) {
  const std::string guard =
      "    forward = like_captured(Model.forward, [(torch.float32, (16, 10, 128)), (torch.float32, (6, 10, "
      "256))])\n";
  ExpertInputs inputs = Gru("cpu");
  EXPECT_THAT(ByRecipe(*ProposeExpert(inputs))["cpu/persistent"].source, HasSubstr(guard));
  inputs.graph = nullptr;
  inputs.why_no_graph = "forward reads a value on the host";
  const std::string source = ByRecipe(*ProposeExpert(inputs))["cpu/persistent"].source;
  EXPECT_THAT(source, HasSubstr("\"gru\": (\"sequence\", \"h_n\"),"));
  EXPECT_THAT(source, HasSubstr("all of its outputs count as used, because"));
  EXPECT_THAT(source, Not(HasSubstr("forward = like_captured")));
}

// A method that only a constructor calls may set attributes. A method that forward calls may not.
TEST(Expert, TakesNoHelperOfAConstructorForState) {
  const std::string task = R"(import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.width = 3
        self.layer = self._make_layer(4)
    def _make_layer(self, width):
        self._widen(width)
        return torch.nn.Conv2d(3, self.width, 3)
    def _widen(self, width):
        self.width = width
    def forward(self, x):
        return self.layer(x)
)";
  const auto offers = [](const std::string& source) {
    ExpertInputs inputs = InputsOf(source, "cuda");
    inputs.card.modules = {{"Conv2d", 1}};
    const ExpertAnswer answer = *ProposeExpert(inputs);
    return std::any_of(answer.proposals.begin(), answer.proposals.end(),
                       [](const Proposal& one) { return one.recipe == "library/cuda_graph"; });
  };
  EXPECT_TRUE(offers(task));
  EXPECT_FALSE(offers(ReplaceAll(task, "return self.layer(x)", "return self._make_layer(4)(x)")));
  EXPECT_FALSE(
      offers(ReplaceAll(task, "return self.layer(x)", "self._widen(5)\n        return self.layer(x)")));
}

TEST(Expert, AGraphThatMayNotBeTheModuleIsNotRead) {
  ExpertInputs stateful = Gru("cpu"), unverified = stateful;
  stateful.facts["stateful"] = true;
  graph::Graph graph = *unverified.graph;
  graph.verified = false;
  graph.note = "too large";
  unverified.graph = std::make_shared<const graph::Graph>(std::move(graph));
  EXPECT_THAT(ProposeExpert(stateful)->recognised, HasSubstr("which the graph does not show"));
  EXPECT_THAT(ProposeExpert(unverified)->recognised, HasSubstr("was not run against the module: too large"));
}

TEST(Expert, ProjectionsRunInTheKernelForTheCpu) {
  ExpertInputs inputs = Gru("cpu");
  inputs.facts["recurrent_modules"][0]["proj_size"] = 64;
  const Result<ExpertAnswer> answer = ProposeExpert(inputs);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(WhyDeclined(*answer, "cpu/persistent"), "offered");
}

TEST(Expert, TakesALoopOutOfForwardAndLeavesTheRest) {
  const Result<ExpertAnswer> answer = ProposeExpert(Loop("cpu"));
  ASSERT_TRUE(answer.ok());
  const std::string source = ByRecipe(*answer)["cpu/persistent"].source;
  EXPECT_THAT(source, HasSubstr(R"(        hidden = h0.to(x.device)
        hone_outputs = None
        hone_outputs, hidden = self.hone_steps(x, hidden)
        return hone_outputs
)"));
  EXPECT_THAT(source, HasSubstr("w_x, w_h = weight[:, :1024], weight[:, 1024:]"));
}

TEST(Expert, KeepsFutureImportsFirstAndDropsTheTasksOwnMain) {
  const std::string source =
      "\"\"\"What a \\\"quoted\\\" task says.\"\"\"\nfrom __future__ import annotations\nimport torch\n"
      "class Model(torch.nn.Module):\n    def forward(self, x):\n        return x.relu()\n"
      "def get_inputs():\n    return [torch.ones(3)]\n"
      "if __name__ == \"__main__\":\n    print('the task runs')\n";
  const Result<ExpertAnswer> answer = ProposeExpert(InputsOf(source, "cpu"));
  ASSERT_TRUE(answer.ok());
  const std::string made = ByRecipe(*answer)["library/cpu_inference_mode"].source;
  EXPECT_THAT(made, Not(HasSubstr("the task runs")));
  const SyntaxTree syntax = SyntaxTree::Parse(made, Language::kPython);
  const PyTree tree = BuildPythonTree(syntax);
  ASSERT_GE(tree.module->body.size(), 2u);
  EXPECT_TRUE(tree.module->body[0]->Is(PyKind::kExprStmt));
  EXPECT_THAT(std::string(made.substr(tree.module->body[1]->start, 30)), HasSubstr("__future__"));
}

TEST(Expert, ATaskThatCannotBeParsedStillGetsAnAnswer) {
  const Result<ExpertAnswer> answer = ProposeExpert(InputsOf("class Model(:\n  ((((", "cpu"));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(WhyDeclined(*answer, "cpu/persistent"),
            "not a recurrent network: it holds no nn.RNN, nn.GRU or nn.LSTM and no loop over time steps");
}

TEST(Expert, ATaskThatImportsFilesBesideItIsDeclinedWithTheReason) {
  const TempFolder folder = *TempFolder::Make("hone-beside-");
  ASSERT_TRUE(MakeFolders(folder.path() / "net").ok());
  for (const char* name : {"net/__init__.py", "net/layers.py", "helpers.py"})
    ASSERT_TRUE(WriteFileAtomic(folder.path() / name, "").ok());
  struct Row {
    const char* import;
    const char* says;  // empty if the recipe accepts
  };
  for (const Row& row : std::vector<Row>{{"from .layers import Block", "'.layers'"},
                                         {"from . import layers", "'.'"},
                                         {"from net.layers import Block", "'net.layers'"},
                                         {"import helpers as h", "'helpers'"},
                                         {"import math", ""},
                                         {"import torch.nn.functional as F", ""}}) {
    ExpertInputs inputs = Gru("cpu");
    inputs.task.source = std::string(row.import) + "\n" + inputs.task.source;
    inputs.task.path = folder.path() / "net" / "task.py";
    const ExpertAnswer answer = *ProposeExpert(inputs);
    EXPECT_EQ(answer.proposals.empty(), *row.says != '\0') << row.import;
    if (*row.says == '\0') continue;
    ASSERT_EQ(answer.declined.size(), 1u);
    EXPECT_THAT(answer.declined[0].why, HasSubstr(row.says)) << row.import;
  }
}

}  // namespace
}  // namespace hone

// Tests the recipes for networks too large for a cluster: which modules they take, the text they write, and
// that predicted times equal those of the runtime in the candidate file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lint.h"
#include "base/files.h"
#include "codegen/expert.h"
#include "codegen/recurrent_cost.h"
#include "source/syntax_tree.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kTask = R"(import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(64, 1024, 1)

    def forward(self, x):
        return self.rnn(x)[0]

def get_inputs():
    return [torch.rand(256, 32, 64)]

def get_init_inputs():
    return []
)";

ExpertInputs InputsOf(const std::string& kind, int64_t hidden, int64_t layers, bool bidirectional,
                      int64_t batch, const std::string& dtype = "float32") {
  ExpertInputs inputs;
  inputs.task.name = "large.py";
  inputs.task.source = kTask;
  inputs.task.sha256 = std::string(64, 'a');
  inputs.device = inputs.target = "cuda";
  inputs.machine = {{"cores", 2}, {"threads", 1}, {"sm", 90}, {"torch", "2.11.0"}};
  inputs.card.floor_us = inputs.card.library_us = 100;
  inputs.facts["recurrent_modules"] = {{{"path", "rnn"},
                                        {"kind", kind},
                                        {"input_size", 64},
                                        {"hidden_size", hidden},
                                        {"num_layers", layers},
                                        {"bidirectional", bidirectional},
                                        {"calls", 1},
                                        {"dtype", dtype},
                                        {"input_shape", {256, batch, 64}}}};
  inputs.facts["module_list"] = {{{"path", "rnn"}, {"type", kind}}};
  return inputs;
}

std::string FirstOffered(const ExpertInputs& inputs) {
  const Result<ExpertAnswer> answer = ProposeExpert(inputs);
  EXPECT_TRUE(answer.ok());
  return answer->proposals.empty() ? "nothing" : answer->proposals.front().recipe;
}

std::string ReasonToDecline(const ExpertInputs& inputs, const std::string& recipe) {
  const Result<ExpertAnswer> answer = ProposeExpert(inputs);
  EXPECT_TRUE(answer.ok());
  for (const Declined& declined : answer->declined)
    if (declined.recipe == recipe) return declined.why;
  return "offered";
}

TEST(GridRecipes, TakeWhatTheyAreFor) {
  EXPECT_EQ(FirstOffered(InputsOf("GRU", 1024, 1, false, 32)), "cuda/cooperative_grid");
  EXPECT_EQ(FirstOffered(InputsOf("GRU", 1024, 1, false, 32, "bfloat16")), "cuda/cooperative_grid");
  EXPECT_EQ(FirstOffered(InputsOf("LSTM", 1500, 2, true, 3)), "cuda/cooperative_grid");
  EXPECT_EQ(FirstOffered(InputsOf("GRU", 256, 4, false, 128)), "cuda/cooperative_grid");
  EXPECT_EQ(FirstOffered(InputsOf("GRU", 256, 1, false, 8, "float16")), "cuda/cluster_wavefront");
  EXPECT_EQ(ReasonToDecline(InputsOf("GRU", 4096, 1, false, 64), "cuda/step_graph"), "offered");
}

TEST(GridRecipes, SayWhatTheyAreNotFor) {
  EXPECT_THAT(ReasonToDecline(InputsOf("GRU", 4096, 1, false, 64), "cuda/cooperative_grid"),
              HasSubstr("do not fit the chip"));
  EXPECT_THAT(ReasonToDecline(InputsOf("GRU", 128, 1, false, 8), "cuda/cooperative_grid"),
              HasSubstr("fits clusters"));
  EXPECT_THAT(ReasonToDecline(InputsOf("GRU", 1024, 1, false, 32), "cuda/step_graph"),
              HasSubstr("stay on the chip"));
  EXPECT_THAT(ReasonToDecline(InputsOf("GRU", 1024, 1, false, 32, "float64"), "cuda/cooperative_grid"),
              HasSubstr("float64"));
  ExpertInputs older = InputsOf("GRU", 1024, 1, false, 32);
  older.machine["sm"] = 75;
  EXPECT_THAT(ReasonToDecline(older, "cuda/cooperative_grid"), HasSubstr("sm_75"));
}

// cuda_host_test.py checks the runtime against the same file. The file was written before the two shared
// their figures.
TEST(RecurrentCost, SaysWhatTheRuntimeSays) {
  const GpuCosts costs = LoadDeviceCosts()->gpu;
  const Json rows = *ParseJson(*ReadFile(fs::path(HONE_SOURCE_DIR) / "tests/golden/recurrent_costs.json"));
  ASSERT_GT(rows.size(), 60u);
  for (const Json& row : rows) {
    RecurrentShape shape;
    const std::string cell = GetString(row, "cell"), label = DumpJson(row);
    shape.kind = cell.substr(0, cell.find('_'));
    shape.relu = cell == "RNN_RELU";
    shape.inputs = GetInt(row, "inputs");
    shape.hidden = GetInt(row, "hidden");
    shape.layers = GetInt(row, "layers");
    shape.directions = GetInt(row, "directions");
    shape.steps = GetInt(row, "steps");
    shape.batch = GetInt(row, "batch");
    shape.terms = GetInt(row, "terms");
    std::string chosen = "pytorch";
    double best = costs.of_pytorch * PytorchUs(shape, costs.cudnn);
    EXPECT_NEAR(PytorchUs(shape, costs.cudnn), GetNumber(row, "pytorch_us"), 0.1) << label;
    const auto way = [&](const char* name, std::optional<double> us) {
      const Json& said = GetMember(row, (std::string(name) + "_us").c_str());
      EXPECT_EQ(us.has_value(), said.is_number()) << name << " of " << label;
      if (!us || !said.is_number()) return;
      EXPECT_NEAR(*us, said.get<double>(), 0.1) << name << " of " << label;
      if (*us <= best) best = *us, chosen = name;
    };
    way("cluster", ClusterUs(shape, costs.cluster));
    way("grid", GridUs(shape, costs));
    way("step", StepUs(shape, costs.step));
    EXPECT_EQ(chosen, GetString(row, "chosen")) << label;
  }
}

TEST(GridRecipes, WriteASoundCandidate) {
  const Result<ExpertAnswer> answer = ProposeExpert(InputsOf("GRU", 1024, 1, false, 32));
  ASSERT_TRUE(answer.ok());
  const Proposal& proposal = answer->proposals.front();
  EXPECT_EQ(SyntaxTree::Parse(proposal.source, Language::kPython).first_error(), nullptr);
  const LintReport report = LintSource("candidate.py", proposal.source);
  EXPECT_EQ(report.kernel_class, KernelClass::kPersistentRecurrent);
  for (const Finding& finding : report.findings)
    EXPECT_NE(finding.severity, Severity::kError)
        << finding.rule << " " << finding.line << ": " << finding.message;
  EXPECT_THAT(proposal.source, Not(HasSubstr("@@")));
  EXPECT_THAT(proposal.source, HasSubstr("recurrent_grid"));
}

}  // namespace
}  // namespace hone

// The recipes for networks that no cluster holds: what they take and what they leave to others, the text they
// write, and predicted times that are those of the runtime in the candidate file (the figures below are what
// recurrent_grid.py says for these shapes).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lint.h"
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
  inputs.card.floor_us = 100;
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

std::string WhyDeclined(const ExpertInputs& inputs, const std::string& recipe) {
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
  EXPECT_EQ(WhyDeclined(InputsOf("GRU", 4096, 1, false, 64), "cuda/step_graph"), "offered");
}

TEST(GridRecipes, SayWhatTheyAreNotFor) {
  EXPECT_THAT(WhyDeclined(InputsOf("GRU", 4096, 1, false, 64), "cuda/cooperative_grid"),
              HasSubstr("do not fit the chip"));
  EXPECT_THAT(WhyDeclined(InputsOf("GRU", 128, 1, false, 8), "cuda/cooperative_grid"),
              HasSubstr("fits clusters"));
  EXPECT_THAT(WhyDeclined(InputsOf("GRU", 1024, 1, false, 32), "cuda/step_graph"),
              HasSubstr("stay on the chip"));
  EXPECT_THAT(WhyDeclined(InputsOf("GRU", 1024, 1, false, 32, "float64"), "cuda/cooperative_grid"),
              HasSubstr("float64"));
  ExpertInputs older = InputsOf("GRU", 1024, 1, false, 32);
  older.machine["sm"] = 75;
  EXPECT_THAT(WhyDeclined(older, "cuda/cooperative_grid"), HasSubstr("sm_75"));
}

TEST(RecurrentCost, SaysWhatTheRuntimeSays) {
  struct Case {
    const char* kind;
    int64_t hidden, layers, directions, batch, terms;
    double us;
  };
  for (const Case& c : {Case{"GRU", 1024, 1, 1, 32, 1, 643.2}, Case{"LSTM", 1536, 1, 1, 32, 1, 1546.4},
                        Case{"GRU", 512, 4, 1, 32, 1, 1160.7}, Case{"LSTM", 616, 2, 2, 42, 1, 2438.7},
                        Case{"GRU", 1336, 3, 2, 21, 1, 5519.1}, Case{"GRU", 640, 2, 2, 12, 2, 1414.9}}) {
    RecurrentShape shape;
    shape.kind = c.kind;
    shape.inputs = 128;
    shape.hidden = c.hidden;
    shape.layers = c.layers;
    shape.directions = c.directions;
    shape.steps = 256;
    shape.batch = c.batch;
    shape.terms = c.terms;
    const std::optional<double> us = GridUs(shape, 132);
    ASSERT_TRUE(us.has_value()) << c.kind << c.hidden;
    EXPECT_NEAR(*us, c.us, 0.1) << c.kind << c.hidden;
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

// Tests the Triton recipe: when it is chosen, and that lint accepts its output as a sound persistent kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lint.h"
#include "base/files.h"
#include "codegen/expert.h"

namespace hone {
namespace {

using testing::HasSubstr;

ExpertInputs Gru(bool bidirectional = false) {
  ExpertInputs inputs;
  inputs.task.name = "39_GRU";
  inputs.task.source = *ReadFile(fs::path(HONE_SOURCE_DIR) / "tasks/39_GRU.py");
  inputs.task.sha256 = std::string(64, 'a');
  inputs.device = "cuda";
  inputs.target = "triton";
  inputs.machine = {{"sm", 80}, {"has_triton", true}, {"nvcc", true}, {"nvrtc", true}};
  inputs.card.floor_us = inputs.card.library_us = 100;
  inputs.card.modules = {{"GRU", 1}};
  inputs.facts["recurrent_modules"] = {{{"path", "gru"},
                                        {"kind", "GRU"},
                                        {"input_size", 128},
                                        {"hidden_size", 256},
                                        {"num_layers", 6},
                                        {"bidirectional", bidirectional},
                                        {"calls", 1},
                                        {"dtype", "float32"},
                                        {"input_shape", {512, 10, 128}}}};
  inputs.facts["module_list"] = {{{"path", "gru"}, {"type", "GRU"}}};
  return inputs;
}

Proposal Offered(const ExpertInputs& inputs) {
  const Result<ExpertAnswer> answer = ProposeExpert(inputs);
  if (answer.ok())
    for (const Proposal& proposal : answer->proposals)
      if (proposal.recipe == "triton/persistent") return proposal;
  return {};
}

std::string WhyNot(const ExpertInputs& inputs) {
  const Result<ExpertAnswer> answer = ProposeExpert(inputs);
  if (!answer.ok()) return "failed: " + answer.error().message;
  for (const Declined& declined : answer->declined)
    if (declined.recipe == "triton/persistent") return declined.why;
  return "offered";
}

TEST(TritonPersistent, LintFindsNothingWrongAndKnowsWhatItIs) {
  // Lint does not follow adopt(), so for lint nn.GRU still does the work and the kernel is unreachable.
  const LintReport report = LintSource("candidate.py", Offered(Gru()).source);
  for (const Finding& finding : report.findings)
    if (finding.rule != "library-fallback" && finding.rule != "decoy-kernel")
      ADD_FAILURE() << finding.rule << " " << finding.line << ": " << finding.message;
  EXPECT_STREQ(KernelClassName(report.kernel_class), "persistent_recurrent");
}

TEST(TritonPersistent, AChainOfLayersCostsItsStepsAndTwoDirectionsTheirSum) {
  const double wavefront = Offered(Gru()).predicted_us;
  const double both = Offered(Gru(true)).predicted_us;
  // Measured times: 4090 us and 16990 us.
  EXPECT_NEAR(wavefront, 4090, 400);
  EXPECT_NEAR(both, 16990, 1700);
}

TEST(TritonPersistent, IsForTheTritonTargetOrWhereNothingCompilesCuda) {
  ExpertInputs inputs = Gru();
  EXPECT_EQ(WhyNot(inputs), "offered");
  inputs.target = "cuda";
  EXPECT_THAT(WhyNot(inputs), HasSubstr("CUDA compiler"));
  inputs.machine["nvcc"] = false;
  EXPECT_THAT(WhyNot(inputs), HasSubstr("CUDA compiler"));
  inputs.machine["nvrtc"] = false;
  EXPECT_EQ(WhyNot(inputs), "offered");
  inputs.machine["has_triton"] = false;
  EXPECT_EQ(WhyNot(inputs), "there is no Triton here");
  inputs.device = "cpu";
  EXPECT_EQ(WhyNot(inputs), "it needs a GPU");
}

TEST(TritonPersistent, DeclinesMoreUnitsThanProgramsAreResident) {
  ExpertInputs inputs = Gru();
  inputs.facts["recurrent_modules"][0]["hidden_size"] = 8192;
  EXPECT_THAT(WhyNot(inputs), HasSubstr("8192 hidden units"));
}

}  // namespace
}  // namespace hone

// Tests the recipe for large linear layers: which layers it takes, the times it predicts, and that the file
// it writes uses the same figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lint.h"
#include "base/files.h"
#include "codegen/candidate_text.h"
#include "codegen/expert.h"
#include "codegen/recipe.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

Json Linear(const std::string& path, int64_t rows, int64_t width, int64_t units) {
  return {{"path", path}, {"type", "Linear"},     {"of_torch", true},      {"rows", rows},      {"calls", 1},
          {"bias", true}, {"in_features", width}, {"out_features", units}, {"dtype", "float32"}};
}

RecipeContext Context(const std::vector<Json>& layers) {
  RecipeContext context;
  context.inputs.task.name = "33_VanillaRNN";
  context.inputs.task.source = *ReadFile(fs::path(HONE_SOURCE_DIR) / "tasks/33_VanillaRNN.py");
  context.inputs.task.sha256 = std::string(64, 'a');
  context.inputs.device = context.inputs.target = "cuda";
  context.inputs.machine = {{"sm", 90}};
  context.inputs.card.floor_us = context.inputs.card.library_us = 6700;
  context.inputs.card.launches = 5;
  context.inputs.facts["module_list"] = layers;
  context.costs = *LoadDeviceCosts();
  context.linears = static_cast<int64_t>(layers.size());
  SplitTask(context.inputs.task.source, &context);
  return context;
}

RecipeContext Vanilla() {
  return Context({Linear("i2h", 256, 32768, 16384), Linear("h2o", 256, 16384, 8192)});
}

std::string WhyNot(const RecipeContext& context) {
  const Result<RecipeAnswer> answer = ProposeSplitGemm(context);
  if (!answer.ok()) return "failed: " + answer.error().message;
  const auto* declined = std::get_if<Declined>(&*answer);
  return declined == nullptr ? "offered" : declined->why;
}

Proposal Offered(const RecipeContext& context) {
  const Result<RecipeAnswer> answer = ProposeSplitGemm(context);
  const auto* proposal = answer.ok() ? std::get_if<Proposal>(&*answer) : nullptr;
  return proposal == nullptr ? Proposal{} : *proposal;
}

TEST(SplitGemm, TakesBothLayersOfTheHugeStep) {
  const Proposal proposal = Offered(Vanilla());
  EXPECT_THAT(proposal.source, HasSubstr("            \"i2h\",\n            \"h2o\",\n"));
  EXPECT_THAT(proposal.source, HasSubstr("split_product(const char* w"));
  EXPECT_THAT(proposal.source, Not(HasSubstr("@@")));
  EXPECT_THAT(proposal.why, HasSubstr("i2h (256 x 32768 -> 16384)"));
  // 1.03 TFLOP in three products; PyTorch takes 6900 us.
  EXPECT_GT(proposal.predicted_us, 1300);
  EXPECT_LT(proposal.predicted_us, 2500);
}

TEST(SplitGemm, LintFindsNoErrors) {
  const LintReport report = LintSource("candidate.py", Offered(Vanilla()).source);
  for (const Finding& finding : report.findings)
    EXPECT_NE(finding.severity, Severity::kError)
        << finding.rule << " " << finding.line << ": " << finding.message;
}

TEST(SplitGemm, LeavesSmallLayersToPyTorchEachForItself) {
  const Proposal proposal = Offered(Context({Linear("wide", 256, 8192, 8192), Linear("few", 4, 8192, 8192)}));
  EXPECT_THAT(proposal.source, HasSubstr("\"wide\","));
  EXPECT_THAT(proposal.source, Not(HasSubstr("\"few\",")));
}

TEST(SplitGemm, SaysWhyNot) {
  EXPECT_THAT(WhyNot(Context({Linear("few", 4, 8192, 8192)})),
              HasSubstr("few (4 x 8192 -> 8192) would take"));
  EXPECT_THAT(WhyNot(Context({Linear("tiny", 256, 64, 64)})), HasSubstr("large enough"));
  Json half = Linear("half", 256, 8192, 8192);
  half["dtype"] = "float16";
  EXPECT_THAT(WhyNot(Context({half})), HasSubstr("float32"));
  Json own = Linear("own", 256, 8192, 8192);
  own["of_torch"] = false;
  EXPECT_THAT(WhyNot(Context({own})), HasSubstr("PyTorch's own"));
  RecipeContext other = Vanilla();
  other.inputs.machine["sm"] = 100;
  EXPECT_THAT(WhyNot(other), HasSubstr("sm_100"));
  other = Vanilla();
  other.inputs.device = "cpu";
  EXPECT_EQ(WhyNot(other), "it needs a GPU");
  other = Vanilla();
  other.linears = 0;
  EXPECT_EQ(WhyNot(other), "it has no linear layers");
}

// The figures of split_gemm_test.py for the same layers. device_costs_test.cpp checks that both come from one
// file.
TEST(SplitGemm, ExpectsWhatTheFileExpects) {
  EXPECT_THAT(WhyNot(Context({Linear("few", 4, 8192, 8192)})),
              HasSubstr("would take 131 us, PyTorch's 67 us"));
}

}  // namespace
}  // namespace hone

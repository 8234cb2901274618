#include "evaluation/phase.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// Stored verdicts contain these names.
TEST(Phase, NamesAreThoseOfStoredVerdicts) {
  const struct {
    Phase phase;
    const char* name;
    const char* step;
  } rows[] = {
      {Phase::kLint, "lint", "lint"},
      {Phase::kStart, "start", "start"},
      {Phase::kImport, "import", "import"},
      {Phase::kBuild, "build", "build"},
      {Phase::kWeights, "weights", "weights"},
      {Phase::kTrial, "trial", "trials"},
      {Phase::kRepeat, "repeat", "repeats"},
      {Phase::kInspect, "inspect", "inspect"},
      {Phase::kProfile, "profile", "profile"},
      {Phase::kTiming, "timing", "timing"},
      {Phase::kContract, "contract", "contract"},
  };
  for (const auto& row : rows) {
    EXPECT_STREQ(NameOf(row.phase), row.name);
    EXPECT_STREQ(StepNameOf(row.phase), row.step);
  }
}

}  // namespace
}  // namespace hone

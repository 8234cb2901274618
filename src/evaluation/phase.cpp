#include "evaluation/phase.h"

#include <cstddef>
#include <iterator>

namespace hone {

namespace {

struct PhaseRow {
  Phase phase;
  const char* name;
  const char* step;
};
// The rows are in the order of the enum.
constexpr PhaseRow kPhases[] = {
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
    {Phase::kCompile, "compile", "compile"},
    {Phase::kFresh, "fresh", "fresh"},
};

constexpr bool IsInOrderOfPhases() {
  for (size_t i = 0; i < std::size(kPhases); ++i)
    if (static_cast<size_t>(kPhases[i].phase) != i) return false;
  return std::size(kPhases) == static_cast<size_t>(Phase::kFresh) + 1;
}
static_assert(IsInOrderOfPhases());

}  // namespace

const char* NameOf(Phase phase) {
  return kPhases[static_cast<size_t>(phase)].name;
}

const char* StepNameOf(Phase phase) {
  return kPhases[static_cast<size_t>(phase)].step;
}

}  // namespace hone

// The phases of an evaluation, in their order, and their names. The names are part of the JSON of a verdict.
#pragma once

namespace hone {

enum class Phase {
  kLint,
  kStart,
  kImport,
  kBuild,
  kWeights,
  kTrial,
  kRepeat,
  kInspect,
  kProfile,
  kTiming,
  kContract,
  kCompile,  // torch.compile as a baseline, and what follows are parts of timing
  kFresh,
};

// Of the phase in which an evaluation ended: "trial".
const char* NameOf(Phase phase);
// Of the phase as a step whose seconds are told: "trials".
const char* StepNameOf(Phase phase);

}  // namespace hone

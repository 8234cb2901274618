// The phases of an evaluation in order, and their names. The names are part of a verdict's JSON.
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
  kCompile,  // torch.compile as a baseline; this and the following are parts of timing
  kFresh,
};

// Name of a phase in which an evaluation ended: "trial".
const char* NameOf(Phase phase);
// Name of the timed step: "trials".
const char* StepNameOf(Phase phase);

}  // namespace hone

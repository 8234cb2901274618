// Runs known wrong computations (mutants) through the reference and checks whether the cases detect them. If
// a mutant goes undetected, a candidate could make the same mistake, such as ignoring an input, a parameter
// or an output.
#pragma once

#include "evaluation/progress.h"
#include "evaluation/truth.h"
#include "evaluation/truth_builder.h"

namespace hone {

// Sets mutants, doubts and remarks of the truth. Costs about as much as 30 calls of the reference.
Status AuditTask(TruthBuilder& builder, Truth* truth, const Progress& progress);

}  // namespace hone

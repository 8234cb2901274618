// Sets the number of threads that was measured to be best.
#include <fmt/format.h>

#include "codegen/candidate_text.h"
#include "codegen/cost.h"

namespace hone {

Result<RecipeAnswer> ProposeCpuThreads(const RecipeContext& context) {
  if (context.on_gpu()) return RecipeAnswer(Declined{"", "it is for the CPU"});
  if (context.threads() == context.cores()) return RecipeAnswer(Declined{"", "all cores are best already"});
  CandidateParts parts;
  parts.recipe = "library/cpu_threads";
  parts.title =
      fmt::format("The module on {} thread{}", context.threads(), context.threads() == 1 ? "" : "s");
  parts.about =
      "Model as it is, on the number of threads that was fastest when measured; the setting is put back "
      "afterwards.";
  parts.files = {"cpu_threads.py"};
  parts.values = {{"threads", context.threads()}};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = "more threads than the work can feed only wait for each other";
  proposal.predicted_us = OperatorChainUs(context, "cpu_threads");
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

// Folds batch norms into convolutions and uses channels-last images.
#include "codegen/candidate_text.h"
#include "codegen/cost.h"

namespace hone {

Result<RecipeAnswer> ProposeFoldedChannelsLast(const RecipeContext& context) {
  if (const std::string why = WhyNotPrepared(context); !why.empty()) return RecipeAnswer(Declined{"", why});
  if (context.convolutions == 0) return RecipeAnswer(Declined{"", "it has no convolutions"});
  CandidateParts parts;
  parts.recipe = "library/folded_channels_last";
  parts.title = "Folded, channels-last convolutions";
  parts.about =
      "Batch norms are folded into the convolutions before them at the first call in eval mode, and images "
      "keep their channels "
      "last. Parameters keep their names; when they change, they are folded again.";
  parts.files = {"part_kept.py",      "part_shadow.py",  "part_folded.py", "folded_channels_last.py",
                 "part_compiling.py", "part_prepared.py"};
  parts.values = {{"graph", false}};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = "a batch norm behind a convolution is only another weight";
  proposal.predicted_us = OperatorChainUs(context, "folded_channels_last");
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone

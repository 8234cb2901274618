// missing-modelnew: the file has no class called ModelNew, which the judge needs.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckMissingModelNew(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr || candidate.python->syntax.first_error() != nullptr) return;
  const Scopes& scopes = *candidate.python->scopes;
  const ScopeNames& names = scopes.NamesIn(scopes.module());
  if (names.count("ModelNew") != 0 || scopes.has_star_import()) return;
  // A task file is not a candidate.
  if (names.count("Model") != 0 && names.count("get_inputs") != 0) return;
  const bool has_model = names.count("Model") != 0;
  sink->AddAt(0, 0, Severity::kError, "the file defines no class ModelNew",
              has_model
                  ? "Rename class Model to ModelNew."
                  : "Define class ModelNew(torch.nn.Module) with the reference's constructor and forward.");
}

}  // namespace hone

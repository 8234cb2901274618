// Assembles a candidate file: a docstring that describes it, the task's own source, a recipe's parts and
// template, and a __main__ that compares ModelNew with Model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "codegen/recipe.h"

namespace hone {

// Return an embedded file, "templates/NAME" or "devices/NAME", and the text of templates/NAME.
Result<std::string_view> EmbeddedText(const std::string& path);
Result<std::string_view> TemplateText(const std::string& name);

struct CandidateParts {
  std::string recipe;
  std::string title;               // one line
  std::string about;               // a paragraph: what it does and what it requires
  std::vector<std::string> files;  // templates after the task's source, in order
  Json values = Json::object();    // values for all of them
};
Result<std::string> WriteCandidate(const RecipeContext& context, const CandidateParts& parts);

// Removes the docstring and the __main__ part from a task's source.
void SplitTask(const std::string& source, RecipeContext* context);

}  // namespace hone

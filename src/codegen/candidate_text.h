// Puts a candidate file together: a docstring that says what it is, the task's own source, the parts and the
// template of a recipe, and a __main__ that checks ModelNew against Model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "codegen/recipe.h"

namespace hone {

// A file that travels in the binary, "templates/NAME" or "devices/NAME"; the text of templates/NAME.
Result<std::string_view> EmbeddedText(const std::string& path);
Result<std::string_view> TemplateText(const std::string& name);

struct CandidateParts {
  std::string recipe;
  std::string title;               // one line
  std::string about;               // a paragraph: what it does and what it relies on
  std::vector<std::string> files;  // templates that follow the task's source, in order
  Json values = Json::object();    // for all of them
};
Result<std::string> WriteCandidate(const RecipeContext& context, const CandidateParts& parts);

// Cuts the docstring and the __main__ part out of a task's source.
void SplitTask(const std::string& source, RecipeContext* context);

}  // namespace hone

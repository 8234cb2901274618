// The common output of all recipes for recurrent networks: which modules are replaced and which outputs are
// computed, the task's forward with its loop over time replaced by one call, and the runtime in the file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "codegen/recipe.h"

namespace hone {

struct Takeover {
  std::string why_not;  // one sentence; all else is empty then
  std::vector<const RecurrentModule*> modules;
  Json values = Json::object();  // values for recurrent_model.py
};
// Modules for which `refuse` returns a sentence stay with PyTorch.
Result<Takeover> PlanTakeover(const RecipeContext& context,
                              const std::function<std::string(const RecurrentModule&)>& refuse);

// Why no kernel supports the module, or "". The first is for float32, the second for kernels that also
// support 16 bits.
std::string WhyNotModule(const RecurrentModule& module);
std::string WhyNotModuleOfAnyFloat(const RecurrentModule& module);

// Concatenates the templates. In them and their includes, @@NAME@@ is replaced by the template of that name,
// and @@h200.json:SECTION@@ by that section of a device's figures as a Python value, or by the one figure
// that SECTION names with dots.
Result<std::string> RuntimeText(const std::vector<std::string>& templates);

}  // namespace hone

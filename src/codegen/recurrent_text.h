// What every recipe for recurrent networks writes: which modules are taken over and which of their outputs
// are asked for, the task's forward with its loop over time replaced by one call, and the runtime that stands
// in the file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "codegen/recipe.h"

namespace hone {

struct Takeover {
  std::string why_not;  // one sentence; the rest is empty then
  std::vector<const RecurrentModule*> modules;
  Json values = Json::object();  // for recurrent_model.py
};
// Modules for which `refuse` has a sentence are left to PyTorch.
Result<Takeover> PlanTakeover(const RecipeContext& context,
                              const std::function<std::string(const RecurrentModule&)>& refuse);

// What no kernel covers, or "": for float32, and for kernels that also take 16 bits.
std::string WhyNotModule(const RecurrentModule& module);
std::string WhyNotModuleOfAnyFloat(const RecurrentModule& module);

// The templates one after the other. In them and in what they include, @@NAME@@ is replaced by the template
// of that name, and @@h200.json:SECTION@@ by that section of a device's figures as a Python value.
Result<std::string> RuntimeText(const std::vector<std::string>& templates);

}  // namespace hone

// What every recipe for recurrent networks writes: which modules are taken over and which of their outputs
// are asked for, the task's forward with its loop over time replaced by one call, and the runtime that stands
// in the file.
#pragma once

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
Result<Takeover> PlanTakeover(const RecipeContext& context, std::string (*refuse)(const RecurrentModule&));

// What no kernel covers, or "": for float32, and for kernels that also take 16 bits.
std::string WhyNotModule(const RecurrentModule& module);
std::string WhyNotModuleOfAnyFloat(const RecurrentModule& module);

// The Python templates one after the other, each @@FILE@@ in them replaced by the template of that name.
Result<std::string> RuntimeText(const std::vector<std::string>& templates,
                                const std::vector<std::string>& kernels);

}  // namespace hone

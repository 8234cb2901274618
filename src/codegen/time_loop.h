// Recognises a recurrence that `forward` writes as a loop over time steps: a Linear on cat(x_t, h), a sum of
// two Linears, or an nn.*Cell, with an activation and an optional Linear on every step's state. The body is
// evaluated once symbolically. If the result is not exactly one of these forms, the loop is left alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/scopes.h"
#include "codegen/recurrent_plan.h"

namespace hone {

// Facts about a Linear from the worker, by attribute path.
struct LinearFacts {
  int64_t in_features = 0;
  int64_t out_features = 0;
  bool bias = true;
};
struct LoopFacts {
  std::map<std::string, LinearFacts> linears;
  std::map<std::string, std::string> types;  // type of every submodule
  const std::vector<RecurrentModule>* modules = nullptr;
};

struct LoopAnswer {
  std::optional<TimeLoop> loop;
  bool there_is_a_loop = false;
  std::string why_not;
};
LoopAnswer FindTimeLoop(const Scopes& scopes, const LoopFacts& facts);

}  // namespace hone

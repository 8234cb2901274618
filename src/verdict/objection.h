// The result of a gate: nothing, or the reason why a candidate is not accepted, with a sentence about it.
#pragma once

#include <optional>
#include <string>

#include "verdict/reasons.h"

namespace hone {

struct Objection {
  Reason reason;
  std::string detail;
};
using GateResult = std::optional<Objection>;

}  // namespace hone

// What a gate says: nothing, or the reason for which a candidate is not accepted and a sentence about it.
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

// What a gate says: nothing, or the reason for which a candidate is rejected and a sentence about it.
#pragma once

#include <optional>
#include <string>

namespace hone {

struct Objection {
  std::string reason;
  std::string detail;
};
using GateResult = std::optional<Objection>;

}  // namespace hone

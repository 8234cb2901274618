#include "graph/argument.h"

namespace hone::graph {

std::optional<double> NumberOf(const ArgumentValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

std::optional<std::vector<int64_t>> IntsOf(const ArgumentValue& value) {
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) return *list;
  if (const auto* one = std::get_if<int64_t>(&value)) return std::vector<int64_t>{*one};
  return std::nullopt;
}

}  // namespace hone::graph

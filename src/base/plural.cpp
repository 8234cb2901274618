#include "base/plural.h"

namespace hone {

std::string CountAndNoun(int64_t count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

}  // namespace hone

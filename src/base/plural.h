// A number with its noun, for sentences: "1 run", "3 runs". For nouns that take an s.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

std::string CountAndNoun(int64_t count, std::string_view noun);

}  // namespace hone

// What an item computes, as a tree: "Select($0 > ($C)0, $0, $0 * $1)" is written once, in C's notation, and
// languages that are no C print it from here (emit_triton.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::fused {

struct Formula {
  enum class Kind {
    kArgument,  // $0: `argument`
    kNumber,    // `text`: digits, HONE_NAN or HONE_INF
    kCast,      // ($C) in front of parts[0]
    kUnary,     // `text` is - or !
    kBinary,    // `text` is the operator
    kCall,      // `text` is the function's name
  } kind = Kind::kNumber;
  std::string text;
  size_t argument = 0;
  std::vector<Formula> parts;
};

// An Error says what stands where something else was expected.
Result<Formula> ParseFormula(std::string_view text);

}  // namespace hone::fused

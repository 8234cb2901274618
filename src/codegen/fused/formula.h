// An item's computation as a tree. "Select($0 > ($C)0, $0, $0 * $1)" is written once in C's notation.
// Emitters for languages unlike C print it from this tree (emit_triton.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::fused {

struct Formula {
  enum class Kind {
    kArgument,  // $0; `argument` holds the number
    kNumber,    // `text` holds digits, HONE_NAN or HONE_INF
    kCast,      // ($C) before parts[0]
    kUnary,     // `text` is - or !
    kBinary,    // `text` is the operator
    kCall,      // `text` is the function's name
  } kind = Kind::kNumber;
  std::string text;
  size_t argument = 0;
  std::vector<Formula> parts;
};

// The Error says what was found and what was expected.
Result<Formula> ParseFormula(std::string_view text);

}  // namespace hone::fused

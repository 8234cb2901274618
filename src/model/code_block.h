// The Python file in a model's reply. Replies are written by strangers: prose around the code, several
// blocks, fences inside docstrings, a block that was never closed, no fence at all. What counts as usable is
// decided by the parser, not by how the reply is laid out.
#pragma once

#include <optional>
#include <string>

namespace hone {

// The block that holds a complete candidate: it parses and defines ModelNew with a forward; of several the
// last one, because corrections follow what they correct. Failing that, the longest that parses and mentions
// ModelNew, then the longest that mentions it and does not parse: the judge says what is wrong with it.
// Line ends become \n and broken UTF-8 is replaced. Nothing when no block mentions ModelNew.
std::optional<std::string> ExtractCandidate(const std::string& reply);

}  // namespace hone

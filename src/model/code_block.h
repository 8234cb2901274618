// Finds the Python file in a model's reply. Replies have many forms: prose around the code, several blocks,
// fences inside docstrings, a block that was never closed, no fence at all. The parser decides what is
// usable, not the layout of the reply.
#pragma once

#include <optional>
#include <string>

namespace hone {

// Returns the block that holds a complete candidate: it parses and defines ModelNew with a forward. Of
// several it takes the last, because corrections come later. If there is none, it takes the longest block
// that parses and mentions ModelNew, then the longest that mentions it and does not parse; the judge says
// what is wrong with it. Line ends become \n and broken UTF-8 is replaced. Returns nothing if no block
// mentions ModelNew.
std::optional<std::string> ExtractCandidate(const std::string& reply);

}  // namespace hone

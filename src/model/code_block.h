// Finds the Python file in a model's reply. Replies have many forms: prose around the code, several blocks,
// fences inside docstrings, an unclosed block, no fence at all. The parser decides what is usable, not the
// reply's layout.
#pragma once

#include <optional>
#include <string>

namespace hone {

// Returns the block with a complete candidate: it parses and defines ModelNew with a forward. If there are
// several, returns the last, because corrections come later. If there is none, returns the longest block that
// parses and mentions ModelNew, else the longest that mentions it; the judge reports what is wrong with it.
// Line ends become \n and invalid UTF-8 is replaced. No value if no block mentions ModelNew.
std::optional<std::string> ExtractCandidate(const std::string& reply);

}  // namespace hone

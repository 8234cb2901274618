// Source code as HTML with colour classes: Python, and CUDA or C++ inside strings. The server makes it with
// the parsers of the static analysis, so that pages need no script. Text that does not parse is shown without
// colours; it is escaped in any case.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// Returns one element per line, without line ends, as Lines() counts them. Spans never cross a line end.
// Classes: "hk" keyword, "hs" string, "hn" number, "hc" comment, "hf" name of a definition, "ht" type, "hd"
// decorator.
std::vector<std::string> HighlightPython(std::string_view source);
std::vector<std::string> HighlightCuda(std::string_view source);

}  // namespace hone

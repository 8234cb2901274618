// Source code as HTML with classes for colours: Python, and CUDA or C++ where a Python file carries it in a
// string. Made on the server from the parsers that the static analysis uses, so that pages need no script.
// Text that does not parse is shown without colours; it is escaped in every case.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// One element per line, without line ends, as Lines() counts them. Spans never cross a line end.
// Classes: "hk" keyword, "hs" string, "hn" number, "hc" comment, "hf" name of a definition, "ht" type,
// "hd" decorator.
std::vector<std::string> HighlightPython(std::string_view source);
std::vector<std::string> HighlightCuda(std::string_view source);

}  // namespace hone

// Finds the files that a reply's Python file needs beside itself. A reply is one file; whatever else it held
// is gone when the candidate runs. The most common forms are a kernel in a file of its own that load() or
// open() reads, a header that a kernel in a string includes, and a module that the file imports.
//
// It reads the syntax tree, not the text. A file that writes files itself may read them again, so nothing is
// said about what such a file reads.
#pragma once

#include <string>

namespace hone {

// "imports kernels.py", "reads kernel.cu" or "includes tiles.cuh"; empty if the file needs no other. `file`
// is the Python file that was taken from `reply`.
std::string OtherFileNeeded(const std::string& file, const std::string& reply);

}  // namespace hone

// Files embedded in the binary (the worker, templates, prompts), so that `hone` can be copied alone to
// another machine. cmake/embed.cmake writes one table for each target that has such files.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hone {

struct EmbeddedFile {
  std::string name;  // relative to the embedded root, such as "hone_worker.py"
  std::string_view content;
};

}  // namespace hone

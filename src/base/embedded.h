// Files that travel inside the binary (the worker, templates, prompts), so that `hone` can be copied alone
// to another machine. cmake/embed.cmake writes one table per target that carries files.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hone {

struct EmbeddedFile {
  std::string name;  // relative to the embedded root, "hone_worker.py"
  std::string_view content;
};

}  // namespace hone

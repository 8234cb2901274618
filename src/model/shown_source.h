// A source file as a prompt shows it. A file of usual length is shown whole. Of a very long one, text that
// says least about its design is left out: the task's own text, helper text for kernels, then definitions far
// from ModelNew, and kernels only after these. A comment stands in the place of each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone {

struct ShownSource {
  std::string text;      // valid UTF-8, without white space around it
  std::string left_out;  // what is missing, for a sentence: "_PRELUDE (20.1 KiB), ..."; empty: nothing
};

constexpr size_t kMostShownBytes = 100'000;

// `known` is text that the prompt shows elsewhere: the task.
ShownSource ShowSource(std::string_view source, std::string_view known = "", size_t most = kMostShownBytes);

}  // namespace hone

#include "model/reply_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "model/code_block.h"
#include "model/reply_files.h"
#include "source/syntax_tree.h"

namespace hone {

namespace {

// A refusal is short. A long reply that apologises somewhere is none.
constexpr size_t kLongestRefusal = 1500;
constexpr size_t kOpening = 240;

constexpr const char* kNoFile =
    "Your last reply held no Python file with a class ModelNew. Answer with one complete file in one "
    "```python block.";

constexpr const char* kCutOffAtTheLimit =
    "Your last reply was cut off before the Python file was complete. Answer with a shorter one: one "
    "complete "
    "file in one ```python block, and no words around it.";
constexpr const char* kEndedInside =
    "Your last reply ended before the Python file was complete. Answer with one complete file in one "
    "```python block.";

bool HasOneOf(std::string_view text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return Contains(text, word); });
}

bool Declines(std::string_view reply) {
  if (reply.size() > kLongestRefusal || Contains(reply, "```")) return false;
  std::string opening = ToLower(std::string(reply.substr(0, kOpening)));
  opening = ReplaceAll(opening, "\xE2\x80\x99", "'");
  return HasOneOf(opening,
                  {"i can't", "i cannot", "i'm sorry", "i am sorry", "i won't", "i will not", "i'm unable",
                   "i am unable", "i'm not able", "not able to help", "can't help", "cannot help"});
}

bool IsOtherLanguage(const std::string& text) {
  return HasOneOf(
      text, {"struct ModelNew", "class ModelNew :", "class ModelNew final", "public torch::nn", "fn main("});
}

bool IsPython(const std::string& file) {
  const SyntaxTree syntax = SyntaxTree::Parse(file, Language::kPython);
  return syntax.gave_up() || syntax.first_error() == nullptr;
}

// Whether the fence around the file was never closed.
bool EndsInside(const std::string& file, const std::string& reply) {
  const std::string text = ReplaceAll(ValidUtf8(reply), "\r\n", "\n");
  return Contains(text, "```") && EndsWith(Trim(text), Trim(file));
}

}  // namespace

const char* const kWhatThisIs =
    "This is performance work on the user's own PyTorch module: the file is compiled, checked and timed on "
    "the "
    "user's machine, and nothing else is done with it.";

const char* const kDoNotRepeat =
    "\n\nAn earlier reply to this began to repeat the same lines without end. Write every line once.";

ReplyReading ReadReply(const std::string& reply, const std::string& finish_reason) {
  ReplyReading reading;
  reading.file = ExtractCandidate(reply);
  const auto fault = [&](ReplyFault what, std::string send_back) {
    reading.fault = what;
    reading.send_back = std::move(send_back);
    return reading;
  };
  if (reading.file && IsOtherLanguage(*reading.file)) reading.file.reset();
  const bool at_the_limit = finish_reason == "length";
  if (reading.file && (at_the_limit || EndsInside(*reading.file, reply)) && !IsPython(*reading.file))
    return fault(ReplyFault::kCutOff, at_the_limit ? kCutOffAtTheLimit : kEndedInside);
  if (reading.file) {
    const std::string needs = OtherFileNeeded(*reading.file, reply);
    if (needs.empty()) return reading;
    return fault(
        ReplyFault::kSeveralFiles,
        fmt::format("Your last reply needs several files: the one with ModelNew {}. Only one file is taken. "
                    "Answer with everything in one complete file in one ```python block; source in C++ or "
                    "CUDA is a string in it.",
                    needs));
  }
  if (at_the_limit) return fault(ReplyFault::kCutOff, kCutOffAtTheLimit);
  const std::string_view text = Trim(reply);
  if (Declines(text))
    return fault(ReplyFault::kDeclined, fmt::format("You declined. {} {}", kWhatThisIs, kNoFile));
  if (IsOtherLanguage(reply) || HasOneOf(reply, {"```cpp", "```c++", "```cuda", "```c\n", "```cu\n",
                                                 "```rust", "__global__", "#include <"}))
    return fault(
        ReplyFault::kOtherLanguage,
        "Your last reply was not a Python file. Source in C++ or CUDA has to be a string in the Python file "
        "that compiles it (hone_ext, as shown above). Answer with one complete file with a class ModelNew in "
        "one "
        "```python block.");
  return fault(ReplyFault::kProse, kNoFile);
}

}  // namespace hone

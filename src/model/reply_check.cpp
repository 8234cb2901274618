#include "model/reply_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "base/text.h"
#include "model/code_block.h"
#include "source/syntax_tree.h"

namespace hone {

namespace {

constexpr size_t kTail = 8192;
constexpr size_t kLongestPeriod = 512;
constexpr size_t kLookEvery = 1024;
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

// The period of the text.
size_t PeriodOf(std::string_view text) {
  std::vector<size_t> border(text.size(), 0);
  for (size_t i = 1, k = 0; i < text.size(); ++i) {
    while (k > 0 && text[i] != text[k]) k = border[k - 1];
    if (text[i] == text[k]) ++k;
    border[i] = k;
  }
  return text.size() - border.back();
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

// The module that the file imports and that is a second file of the reply. Empty if there is none.
std::string ImportedSibling(const std::string& file, const std::string& reply) {
  for (const std::string& line : Lines(file)) {
    std::string_view rest = line;
    if (StartsWith(rest, "from "))
      rest.remove_prefix(5);
    else if (StartsWith(rest, "import "))
      rest.remove_prefix(7);
    else
      continue;
    if (StartsWith(rest, ".")) rest.remove_prefix(1);
    const size_t end = std::min(rest.find_first_of(" .,;#"), rest.size());
    const std::string module(rest.substr(0, end));
    if (module.size() < 2) continue;
    // The reply names it as a file, outside of the one that imports it.
    const std::string name = module + ".py";
    if (Contains(ReplaceAll(reply, file, ""), name)) return name;
  }
  return "";
}

}  // namespace

const char* const kWhatThisIs =
    "This is performance work on the user's own PyTorch module: the file is compiled, checked and timed on "
    "the "
    "user's machine, and nothing else is done with it.";

bool LoopWatch::Add(std::string_view piece) {
  if (loops_) return true;
  since_ += piece.size();
  tail_ += piece;
  if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  if (tail_.size() < kTail || since_ < kLookEvery) return false;
  since_ = 0;
  loops_ = PeriodOf(tail_) <= kLongestPeriod;
  return loops_;
}

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
    const std::string sibling = ImportedSibling(*reading.file, reply);
    if (sibling.empty()) return reading;
    return fault(
        ReplyFault::kSeveralFiles,
        fmt::format("Your last reply held several files: the one with ModelNew imports {}. Only one file is "
                    "taken. Answer with everything in one complete file in one ```python block.",
                    sibling));
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

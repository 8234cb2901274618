// Classifies unusable replies, with a rule for each kind. http_model.cpp handles text that is still arriving,
// and the pipeline handles whole replies; this file only distinguishes the kinds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hone {

// Detects endless repetition by a model that is stuck: the last 8 KB have a period of at most 512 bytes. No
// program worth judging looks like that.
class LoopWatch {
 public:
  // Returns true once the text repeats itself, and stays true.
  bool Add(std::string_view piece);

 private:
  std::string tail_;
  size_t since_ = 0;  // bytes since the last check
  bool loops_ = false;
};

enum class ReplyFault {
  kNone,
  kCutOff,         // it ended before the file was complete
  kDeclined,       // it refuses
  kOtherLanguage,  // C++ or CUDA instead of a Python file
  kSeveralFiles,   // the file imports another file of the reply
  kProse,          // no file, for another reason
};

struct ReplyReading {
  ReplyFault fault = ReplyFault::kNone;
  std::optional<std::string> file;  // unchanged, even if it has a fault
  std::string send_back;            // the message to the model; empty without a fault
};

// Reads a reply that should contain one Python file with a class ModelNew.
ReplyReading ReadReply(const std::string& reply, const std::string& finish_reason);

// The message to a model that declined, because many do so by mistake.
extern const char* const kWhatThisIs;

}  // namespace hone

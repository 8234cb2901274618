// Replies that are not what was asked for: a rule for each kind. The rules about text that is still coming
// belong to http_model.cpp, those about a whole reply to the pipeline; this file only tells the kinds apart.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hone {

// Notices text that repeats itself without end, as models do that got stuck: its last 8 KB have a period of
// at most 512 bytes. No program that is worth judging looks like that.
class LoopWatch {
 public:
  // True once the text loops; it stays so.
  bool Add(std::string_view piece);

 private:
  std::string tail_;
  size_t since_ = 0;  // bytes since the last look
  bool loops_ = false;
};

enum class ReplyFault {
  kNone,
  kCutOff,         // it ended before the file was complete
  kDeclined,       // it says that it will not do this
  kOtherLanguage,  // C++ or CUDA where a Python file was asked for
  kSeveralFiles,   // the file imports another one that stands beside it
  kProse,          // no file, for any other reason
};

struct ReplyReading {
  ReplyFault fault = ReplyFault::kNone;
  std::optional<std::string> file;  // as it came, even if it has a fault
  std::string send_back;            // what to tell the model; empty without a fault
};

// Reads a reply that should hold one Python file with a class ModelNew.
ReplyReading ReadReply(const std::string& reply, const std::string& finish_reason);

// What a model is told that declined: many do so by mistake.
extern const char* const kWhatThisIs;

}  // namespace hone

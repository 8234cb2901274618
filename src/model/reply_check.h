// Classifies unusable replies, with a rule for each kind. http_model.cpp handles text that is still arriving
// (loop_watch.h), and the pipeline handles whole replies; this file only distinguishes the kinds.
#pragma once

#include <optional>
#include <string>

namespace hone {

enum class ReplyFault {
  kNone,
  kCutOff,         // it ended before the file was complete
  kDeclined,       // it refuses
  kOtherLanguage,  // C++ or CUDA instead of a Python file
  kSeveralFiles,   // the file needs another file
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
// Added to the prompt after a reply that repeated itself (loop_watch.h).
extern const char* const kDoNotRepeat;

}  // namespace hone

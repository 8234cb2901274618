// Collects the pieces of a response, as events or as one document, in a ChatTurn. Stops invalid responses:
// garbled, too large, with an error in the middle, or with endless repetition. Afterwards selects the usable
// ones of several replies.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat_api.h"
#include "model/http_client.h"
#include "model/loop_watch.h"

namespace hone {

class ChatListener {
 public:
  enum class Verdict { kGood, kGarbled, kTooLarge, kError, kLooping };

  // `heard` receives every new piece of text and thinking. `limit` is the maximum size of one reply in bytes.
  ChatListener(const ChatApi& api, size_t limit, std::function<void(std::string_view)> heard, ChatTurn& turn);

  // Returns false to disconnect.
  bool Hear(const HttpAnswer& head, std::string_view piece);
  void Finish();

  Verdict verdict() const { return verdict_; }
  size_t limit() const { return limit_; }

 private:
  // The position up to which a reply was checked.
  struct Watched {
    size_t text = 0;
    size_t thinking = 0;
    LoopWatch said;
    LoopWatch thought;
  };

  bool Events(std::string_view piece);
  bool Event(const SseEvent& event);
  // Checks new pieces of every reply. Returns false when no usable reply continues.
  bool Watch();
  bool Stop(Verdict why);
  size_t most_bytes() const { return limit_ * static_cast<size_t>(turn_.wanted); }

  const ChatApi& api_;
  const size_t limit_;
  const std::function<void(std::string_view)> heard_;
  ChatTurn& turn_;
  Verdict verdict_ = Verdict::kGood;
  std::optional<bool> streaming_;
  std::string body_;
  SseReader events_;
  std::vector<Watched> watched_;
};

// True if the reply is complete, not refused, and has some text.
bool IsOfUse(const ChatChoice& reply);
// Puts usable replies first, those that the length limit cut off after the others, and drops the rest from
// `more`. If none is usable, only the first one that ended is kept, for handling as a single reply. Returns
// what was dropped and why ("1 empty, 1 declined"), or an empty string.
std::string KeepRepliesOfUse(ChatTurn& turn);

}  // namespace hone

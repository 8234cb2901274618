// Takes the pieces of a good answer as they arrive, as events or as one document, into a ChatTurn; and stops
// what is no answer: something garbled, too large, an error in the middle, a reply that repeats itself. Then,
// of several replies, which are of use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat_api.h"
#include "model/http_client.h"
#include "model/reply_check.h"

namespace hone {

class ChatListener {
 public:
  enum class Verdict { kGood, kGarbled, kTooLarge, kError, kLooping };

  // `heard` gets every new piece of text and thinking. `limit` is of one reply, in bytes.
  ChatListener(const ChatApi& api, size_t limit, std::function<void(std::string_view)> heard, ChatTurn& turn);

  // False to hang up.
  bool Hear(const HttpAnswer& head, std::string_view piece);
  void Finish();

  Verdict verdict() const { return verdict_; }
  size_t limit() const { return limit_; }

 private:
  // How far a reply was looked at.
  struct Watched {
    size_t text = 0;
    size_t thinking = 0;
    LoopWatch said;
    LoopWatch thought;
  };

  bool Events(std::string_view piece);
  bool Event(const SseEvent& event);
  // New pieces of every reply; false once no reply goes on that is of use.
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

// Whole, not refused, and with some text.
bool IsOfUse(const ChatChoice& reply);
// Puts the replies that are of use first, those that the length limit cut off behind the others, and drops
// the rest from `more`. If none is of use, the first one that ended stands alone, for what is done about a
// single reply of its kind. Returns what was dropped and why ("1 empty, 1 declined"); empty if nothing was.
std::string KeepRepliesOfUse(ChatTurn& turn);

}  // namespace hone

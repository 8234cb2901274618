#include "model/chat_listener.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

size_t BytesOf(const ChatTurn& turn) {
  size_t bytes = 0;
  for (const ChatChoice* reply : turn.choices()) bytes += reply->text.size() + reply->thinking.size();
  return bytes;
}

const char* WhyOfNoUse(const ChatChoice& reply) {
  return reply.looped     ? "endless"
         : reply.declined ? "declined"
         : !reply.ended   ? "cut off in the middle"
                          : "empty";
}

}  // namespace

ChatListener::ChatListener(const ChatApi& api, size_t limit, std::function<void(std::string_view)> heard,
                           ChatTurn& turn)
    : api_(api), limit_(limit), heard_(std::move(heard)), turn_(turn) {}

bool ChatListener::Hear(const HttpAnswer& head, std::string_view piece) {
  if (!streaming_.has_value()) {
    body_ += piece;
    const auto type = head.headers.find("content-type");
    const std::string_view start = Trim(body_);
    if (type != head.headers.end() && Contains(ToLower(type->second), "event-stream"))
      streaming_ = true;
    else if (start.size() >= 6)
      streaming_ = StartsWith(start, "data:") || StartsWith(start, "event:");
    else
      return true;
    if (!*streaming_) return true;
    return Events(std::exchange(body_, ""));
  }
  if (*streaming_) return Events(piece);
  body_ += piece;
  // Escapes and field names make a document longer than its text, by less than this.
  return body_.size() <= 2 * most_bytes() + (64u << 10) || Stop(Verdict::kTooLarge);
}

bool ChatListener::Events(std::string_view piece) {
  const bool more = events_.Add(piece, [this](const SseEvent& event) { return Event(event); });
  return more && (events_.pending_bytes() <= 2 * most_bytes() || Stop(Verdict::kTooLarge));
}

bool ChatListener::Event(const SseEvent& event) {
  if (!api_.ReadEvent(event, turn_)) return Stop(Verdict::kGarbled);
  if (!turn_.error.empty()) return Stop(Verdict::kError);
  if (BytesOf(turn_) > most_bytes()) return Stop(Verdict::kTooLarge);
  return Watch() && !turn_.nothing_follows;
}

void ChatListener::Finish() {
  if (verdict_ != Verdict::kGood) return;
  if (streaming_.value_or(false)) {
    events_.Finish([this](const SseEvent& event) { return Event(event); });
    return;
  }
  Result<Json> document = ParseServerJson(body_);
  if (!document.ok() || !api_.ReadDocument(*document, turn_))
    Stop(Verdict::kGarbled);
  else if (!turn_.error.empty())
    Stop(Verdict::kError);
  else if (BytesOf(turn_) > most_bytes())
    Stop(Verdict::kTooLarge);
  else
    Watch();
}

// A reply that repeats itself does not end the others. When they have ended, nothing remains to wait for.
bool ChatListener::Watch() {
  const std::vector<ChatChoice*> replies = turn_.choices();
  watched_.resize(std::max(watched_.size(), replies.size()));
  bool loops = false;
  bool goes_on = false;
  bool of_use = false;
  for (size_t i = 0; i < replies.size(); ++i) {
    ChatChoice& reply = *replies[i];
    Watched& seen = watched_[i];
    const std::string_view text = std::string_view(reply.text).substr(seen.text);
    const std::string_view thinking = std::string_view(reply.thinking).substr(seen.thinking);
    heard_(text);
    heard_(thinking);
    const bool said = seen.said.Add(text);
    const bool thought = seen.thought.Add(thinking);
    reply.looped = said || thought;
    seen.text = reply.text.size();
    seen.thinking = reply.thinking.size();
    loops = loops || reply.looped;
    goes_on = goes_on || (!reply.looped && !reply.ended);
    of_use = of_use || IsOfUse(reply);
  }
  if (!loops || goes_on) return true;
  return of_use ? false : Stop(Verdict::kLooping);
}

bool ChatListener::Stop(Verdict why) {
  verdict_ = why;
  return false;
}

bool IsOfUse(const ChatChoice& reply) {
  return reply.ended && !reply.declined && !reply.looped && !Trim(reply.text).empty();
}

std::string KeepRepliesOfUse(ChatTurn& turn) {
  if (turn.more.empty()) return "";
  std::vector<ChatChoice> whole, cut_off, rest;
  std::vector<std::pair<std::string, int>> dropped;
  for (ChatChoice* reply : turn.choices()) {
    if (IsOfUse(*reply)) {
      (reply->finish_reason == "length" ? cut_off : whole).push_back(std::move(*reply));
      continue;
    }
    const std::string why = WhyOfNoUse(*reply);
    const auto known =
        std::find_if(dropped.begin(), dropped.end(), [&](const auto& one) { return one.first == why; });
    if (known == dropped.end())
      dropped.emplace_back(why, 1);
    else
      ++known->second;
    rest.push_back(std::move(*reply));
  }
  whole.insert(whole.end(), std::make_move_iterator(cut_off.begin()), std::make_move_iterator(cut_off.end()));
  if (whole.empty()) {
    const auto ended =
        std::find_if(rest.begin(), rest.end(), [](const ChatChoice& one) { return one.ended; });
    whole.push_back(std::move(ended == rest.end() ? rest.front() : *ended));
  }
  static_cast<ChatChoice&>(turn) = std::move(whole.front());
  turn.more.assign(std::make_move_iterator(whole.begin() + 1), std::make_move_iterator(whole.end()));
  std::vector<std::string> parts;
  for (const auto& [why, count] : dropped) parts.push_back(fmt::format("{} {}", count, why));
  return Join(parts, ", ");
}

}  // namespace hone

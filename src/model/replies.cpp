#include "model/replies.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"

namespace hone {

namespace {

constexpr char kNumber = '~';

// The position of a reply's number in its key; npos if it has none.
size_t NumberIn(const std::string& key, int* number) {
  const size_t mark = key.rfind(kNumber);
  if (mark == std::string::npos) return mark;
  const char* end = key.data() + key.size();
  const auto read = std::from_chars(key.data() + mark + 1, end, *number);
  return read.ec == std::errc() && read.ptr == end && *number > 1 ? mark : std::string::npos;
}

}  // namespace

std::string ReplyKey(const std::string& call, int number) {
  return number > 1 ? fmt::format("{}{}{}", call, kNumber, number) : call;
}

std::string CallKeyOf(const std::string& key) {
  int number = 0;
  return key.substr(0, NumberIn(key, &number));
}

int ReplyNumberOf(const std::string& key) {
  int number = 0;
  return NumberIn(key, &number) == std::string::npos ? 1 : number;
}

std::string RepliesText(const std::vector<ReplyChoice>& replies) {
  if (replies.empty()) return "";
  Json array = Json::array();
  for (const ReplyChoice& one : replies)
    array.push_back({{"text", one.text}, {"thinking", one.thinking}, {"finish_reason", one.finish_reason}});
  return DumpJson(array);
}

std::vector<ReplyChoice> RepliesFrom(const std::string& text) {
  std::vector<ReplyChoice> replies;
  if (text.empty()) return replies;
  const Result<Json> array = ParseJson(text);
  if (!array.ok() || !array->is_array()) return replies;
  for (const Json& one : *array)
    replies.push_back({GetString(one, "text"), GetString(one, "thinking"), GetString(one, "finish_reason")});
  return replies;
}

std::string AllTexts(const std::string& first, const std::vector<ReplyChoice>& more,
                     std::string ReplyChoice::*part) {
  if (std::all_of(more.begin(), more.end(), [&](const ReplyChoice& one) { return (one.*part).empty(); }))
    return first;
  const auto head = [&](size_t number) {
    return fmt::format("===== {} of {} =====\n", number, more.size() + 1);
  };
  std::string all = head(1) + first;
  for (size_t i = 0; i < more.size(); ++i) {
    if (all.back() != '\n') all += '\n';
    all += head(i + 2) + more[i].*part;
  }
  return all;
}

ModelReply MergeReplies(std::vector<ModelReply> replies) {
  size_t first = replies.size();
  size_t failed = 0;
  for (size_t i = 0; i < replies.size(); ++i) {
    if (replies[i].failure == ModelFailure::kInterrupted) return std::move(replies[i]);
    if (replies[i].ok()) first = std::min(first, i);
    if (!StopsTheRun(replies[failed].failure) && StopsTheRun(replies[i].failure)) failed = i;
  }
  const bool any = first < replies.size();
  ModelReply merged = replies[any ? first : failed];
  if (!any) merged.text.clear();
  merged.notes.clear();
  merged.usage = replies[0].usage;
  merged.attempts = 0;
  for (size_t i = 0; i < replies.size(); ++i) {
    const ModelReply& one = replies[i];
    if (i > 0) merged.usage = merged.usage + one.usage;
    merged.attempts += one.attempts;
    merged.seconds = std::max(merged.seconds, one.seconds);
    merged.notes.insert(merged.notes.end(), one.notes.begin(), one.notes.end());
    if (i == first || !any) continue;
    if (!one.ok()) {
      merged.notes.push_back(
          fmt::format("reply {} of {} did not come: {}", i + 1, replies.size(), one.message));
      continue;
    }
    merged.more.push_back({one.text, one.thinking, one.finish_reason});
    merged.more.insert(merged.more.end(), one.more.begin(), one.more.end());
  }
  return merged;
}

}  // namespace hone

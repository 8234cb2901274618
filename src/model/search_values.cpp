#include "model/search_values.h"

#include "base/text.h"
#include "model/prompt_values.h"
#include "model/shown_source.h"

namespace hone {

namespace {

constexpr size_t kMostRows = 6;
constexpr size_t kMostWords = 300;

Json Rows(const Json& rows) {
  Json out = Json::array();
  if (!rows.is_array()) return out;
  for (const Json& row : rows) {
    if (out.size() == kMostRows) break;
    out.push_back({{"kind", ValidUtf8(GetString(row, "kind", "a candidate"))},
                   {"from", ValidUtf8(GetString(row, "from"))},
                   {"result", ValidUtf8(GetString(row, "result"))},
                   {"what", ValidUtf8(GetString(row, "what").substr(0, kMostWords))}});
  }
  return out;
}

}  // namespace

Json SearchValues(const Json& search, const std::string& task_source) {
  const ShownSource second = ShowSource(GetString(search, "second_source"), task_source);
  return {{"reached", ValidUtf8(GetString(search, "reached"))},
          {"floor", ValidUtf8(GetString(search, "floor"))},
          {"second_source", second.text},
          {"second_fence", FenceFor(second.text)},
          {"second_left_out", second.left_out},
          {"second_result", ValidUtf8(GetString(search, "second_result"))},
          {"second_profile", ProfileLines(GetMember(search, "second_profile"))},
          {"second_profile_source", ProfileSource(GetMember(search, "second_profile"))},
          {"others", Rows(GetMember(search, "others"))},
          {"failed", Rows(GetMember(search, "failed"))},
          {"tried", Rows(GetMember(search, "tried"))}};
}

}  // namespace hone

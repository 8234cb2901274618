#include "model/search_values.h"

#include "base/text.h"
#include "model/prompt_values.h"

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
                   {"result", ValidUtf8(GetString(row, "result"))},
                   {"what", ValidUtf8(GetString(row, "what").substr(0, kMostWords))}});
  }
  return out;
}

}  // namespace

Json SearchValues(const Json& search) {
  const std::string second = ValidUtf8(Trim(GetString(search, "second_source")));
  return {{"reached", ValidUtf8(GetString(search, "reached"))},
          {"floor", ValidUtf8(GetString(search, "floor"))},
          {"second_source", second},
          {"second_fence", FenceFor(second)},
          {"second_result", ValidUtf8(GetString(search, "second_result"))},
          {"others", Rows(GetMember(search, "others"))},
          {"tried", Rows(GetMember(search, "tried"))}};
}

}  // namespace hone

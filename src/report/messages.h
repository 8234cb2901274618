// All of Hone's own texts in explanations and comparisons, in English and Chinese. Texts from the store
// (verdicts' details, findings, replies of a model) are quoted as recorded.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

enum class ReportLanguage { kEnglish, kChinese };
// "en", "zh".
std::optional<ReportLanguage> LanguageFromName(std::string_view name);

struct MessageText {
  std::string_view id;
  std::string_view english;
  std::string_view chinese;
};
const std::vector<MessageText>& AllMessages();
bool HasMessage(std::string_view id);

// The message with {0}, {1}, … replaced. An unknown id is a bug, and is returned as it is.
std::string Words(ReportLanguage language, std::string_view id,
                  std::initializer_list<std::string> values = {});
std::string Words(ReportLanguage language, std::string_view id, const std::vector<std::string>& values);

}  // namespace hone

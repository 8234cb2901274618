// All texts of explanations and comparisons that are Hone's own, in English and in Chinese. Texts from the
// store (verdicts' details, findings, replies of a model) are quoted as recorded.
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

// The message with {0}, {1}, … replaced. An id without a message is a bug, and comes out as the id itself.
std::string Words(ReportLanguage language, std::string_view id,
                  std::initializer_list<std::string> values = {});
std::string Words(ReportLanguage language, std::string_view id, const std::vector<std::string>& values);

}  // namespace hone

#include "report/messages.h"

#include <fmt/format.h>

#include <unordered_map>

namespace hone {

namespace {

const std::unordered_map<std::string_view, const MessageText*>& ById() {
  static const auto* const kById = [] {
    auto* by_id = new std::unordered_map<std::string_view, const MessageText*>();
    for (const MessageText& message : AllMessages()) by_id->emplace(message.id, &message);
    return by_id;
  }();
  return *kById;
}

}  // namespace

std::optional<ReportLanguage> LanguageFromName(std::string_view name) {
  if (name == "en") return ReportLanguage::kEnglish;
  if (name == "zh") return ReportLanguage::kChinese;
  return std::nullopt;
}

bool HasMessage(std::string_view id) {
  return ById().count(id) != 0;
}

std::string Words(ReportLanguage language, std::string_view id, std::initializer_list<std::string> values) {
  return Words(language, id, std::vector<std::string>(values));
}

std::string Words(ReportLanguage language, std::string_view id, const std::vector<std::string>& values) {
  const auto found = ById().find(id);
  if (found == ById().end()) return std::string(id);
  const std::string_view text =
      language == ReportLanguage::kChinese ? found->second->chinese : found->second->english;
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_value = text[i] == '{' && i + 2 < text.size() && text[i + 2] == '}';
    if (!is_value) {
      out += text[i];
      continue;
    }
    const size_t index = static_cast<size_t>(text[i + 1] - '0');
    out += index < values.size() ? values[index] : "?";
    i += 2;
  }
  return out;
}

}  // namespace hone

#include "source/source_text.h"

#include <algorithm>

namespace hone {

SourceText::SourceText(std::string text) : text_(std::move(text)) {
  starts_.push_back(0);
  for (uint32_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') starts_.push_back(i + 1);
}

Position SourceText::PositionAt(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size()));
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const uint32_t start = *(next - 1);
  uint32_t column = 1;
  for (uint32_t i = start; i < offset; ++i)
    if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) ++column;
  return {static_cast<uint32_t>(next - starts_.begin()), column};
}

uint32_t SourceText::LineStart(uint32_t line) const {
  if (line == 0) return 0;
  return line <= starts_.size() ? starts_[line - 1] : static_cast<uint32_t>(text_.size());
}

std::string_view SourceText::Line(uint32_t line) const {
  if (line == 0 || line > starts_.size()) return {};
  const uint32_t start = starts_[line - 1];
  size_t end = text_.find('\n', start);
  if (end == std::string::npos) end = text_.size();
  if (end > start && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(start, end - start);
}

}  // namespace hone

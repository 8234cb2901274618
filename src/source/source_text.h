// One source file as text with a line index. Every position in the analysis is a byte offset; lines and
// columns (1-based, columns counted in characters as editors do) are computed only when something is shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct Position {
  uint32_t line = 0;
  uint32_t column = 0;
};

class SourceText {
 public:
  explicit SourceText(std::string text);

  std::string_view text() const { return text_; }
  Position PositionAt(uint32_t offset) const;
  // Without its line break; empty past the end.
  std::string_view Line(uint32_t line) const;
  uint32_t LineStart(uint32_t line) const;
  uint32_t line_count() const { return static_cast<uint32_t>(starts_.size()); }

 private:
  std::string text_;
  std::vector<uint32_t> starts_;
};

}  // namespace hone

// The text of one source file with a line index. Positions in the analysis are byte offsets. Lines and
// columns (1-based, columns count characters as editors do) are computed only for output.
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
  // The line without its line break; empty past the end.
  std::string_view Line(uint32_t line) const;
  uint32_t LineStart(uint32_t line) const;
  uint32_t line_count() const { return static_cast<uint32_t>(starts_.size()); }

 private:
  std::string text_;
  std::vector<uint32_t> starts_;
};

}  // namespace hone

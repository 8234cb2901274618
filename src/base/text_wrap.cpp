#include "base/text_wrap.h"

#include <algorithm>
#include <cstdint>

namespace hone {

namespace {

struct CodePoints {
  uint32_t low;
  uint32_t high;
};
// East Asian Wide and Fullwidth, and emoji (Unicode Standard Annex 11).
constexpr CodePoints kWide[] = {{0x1100, 0x115F}, {0x2E80, 0x303E},   {0x3041, 0xA4CF},  {0xA960, 0xA97F},
                                {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},  {0xFF00, 0xFF60},
                                {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
// Combining characters, which take no column.
constexpr CodePoints kZero[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}};

template <size_t n>
bool In(const CodePoints (&ranges)[n], uint32_t point) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const CodePoints& range) { return point >= range.low && point <= range.high; });
}

struct Character {
  std::string_view text;
  int width = 1;
  bool space = false;
  bool wide = false;
  bool closes = false;  // punctuation that must not begin a line
  bool joins = false;   // separates parts of a name: "seed0.repair1", "cuda/persistent"
};

Character CharacterAt(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  size = std::min(size, text.size() - at);
  uint32_t point = size == 1 ? lead : lead & (0xFFU >> (size + 1));
  for (size_t i = 1; i < size; ++i) point = point << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  Character found;
  found.text = text.substr(at, size);
  found.wide = In(kWide, point);
  found.width = found.wide ? 2 : In(kZero, point) ? 0 : 1;
  found.space = point == ' ';
  found.joins = std::string_view("./:_-,=").find(static_cast<char>(lead)) != std::string_view::npos;
  static constexpr std::string_view kClosing = "，。、；：？！）」』】》";
  found.closes = found.wide && kClosing.find(found.text) != std::string_view::npos;
  return found;
}

std::vector<Character> Characters(std::string_view text) {
  std::vector<Character> characters;
  for (size_t at = 0; at < text.size(); at += characters.back().text.size())
    characters.push_back(CharacterAt(text, at));
  return characters;
}

}  // namespace

int DisplayWidth(std::string_view text) {
  int width = 0;
  for (const Character& one : Characters(text)) width += one.width;
  return width;
}

std::vector<std::string> WrapText(std::string_view text, int width) {
  width = std::max(width, 2);
  const std::vector<Character> all = Characters(text);
  std::vector<std::string> lines;
  size_t begin = 0;
  while (begin < all.size() || lines.empty()) {
    // Finds the characters that fit on the line, and the last place where it may break.
    size_t end = begin;
    size_t break_at = begin;
    size_t inside_word = begin;
    bool seen = false;  // the line has a character that is no indent
    for (int used = 0; end < all.size() && used + all[end].width <= width; ++end) {
      used += all[end].width;
      seen = seen || !all[end].space;
      const bool next_starts_line = end + 1 >= all.size() || !all[end + 1].closes;
      if ((all[end].space && seen) || (all[end].wide && next_starts_line) ||
          (end + 1 < all.size() && all[end + 1].wide && next_starts_line))
        break_at = end + 1;
      if (all[end].joins) inside_word = end + 1;
    }
    if (end < all.size() && all[end].space) break_at = end;
    const size_t stop = end == all.size()      ? end
                        : break_at != begin    ? break_at
                        : inside_word != begin ? inside_word
                                               : end;
    std::string line;
    for (size_t i = begin; i < stop; ++i) line += all[i].text;
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
    begin = stop;
    while (begin < all.size() && all[begin].space) ++begin;
  }
  return lines;
}

std::string WrapIndented(std::string_view text, int indent, int width) {
  std::string out;
  for (const std::string& line : WrapText(text, width - indent)) {
    if (!out.empty()) out += "\n" + std::string(static_cast<size_t>(indent), ' ');
    out += line;
  }
  return out;
}

}  // namespace hone

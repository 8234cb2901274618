#include "report/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace hone {

namespace {

std::string OneLine(const std::string& text) {
  return SafeForTerminal(ReplaceAll(ReplaceAll(text, "\n", " "), "\t", " "));
}

// Plain text stays plain text: nothing in it becomes markup, a tag or a cell.
std::string MarkdownText(const std::string& text) {
  std::string out;
  for (const char c : OneLine(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (std::string_view("\\`*|[]#").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

// Code in a line, in as many backticks as it needs.
std::string MarkdownCode(const std::string& text) {
  const std::string line = OneLine(text);
  std::string fence = "`";
  while (Contains(line, fence)) fence += "`";
  return fence.size() == 1 ? fence + line + fence : fence + " " + line + " " + fence;
}

std::string Fenced(const Document::Block& block) {
  std::string fence = "```";
  while (Contains(block.text, fence)) fence += "`";
  return fmt::format("{}{}\n{}{}{}\n", fence, block.code, SafeForTerminal(block.text),
                     EndsWith(block.text, "\n") ? "" : "\n", fence);
}

std::string MarkdownTable(const std::vector<std::vector<std::string>>& rows) {
  std::string out;
  for (size_t row = 0; row < rows.size(); ++row) {
    out += "|";
    for (const std::string& cell : rows[row]) out += " " + MarkdownText(cell) + " |";
    out += "\n";
    if (row > 0) continue;
    out += "|";
    for (size_t i = 0; i < rows[row].size(); ++i) out += "---|";
    out += "\n";
  }
  return out;
}

std::string TextTable(const std::vector<std::vector<std::string>>& rows, const Style& style) {
  std::vector<int> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], DisplayWidth(OneLine(row[i])));
    }
  std::string out;
  for (size_t row = 0; row < rows.size(); ++row) {
    std::string line = " ";
    for (size_t i = 0; i < rows[row].size(); ++i) {
      const std::string cell = OneLine(rows[row][i]);
      line += " " + cell + std::string(static_cast<size_t>(widths[i] - DisplayWidth(cell)) + 1, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += (row == 0 ? style.Bold(line) : line) + "\n";
  }
  return out;
}

std::string TextCode(const Document::Block& block, const Style& style) {
  std::string out;
  for (const std::string& line : Lines(SafeForTerminal(block.text))) {
    const bool diff = block.code == "diff";
    const std::string coloured = diff && StartsWith(line, "+")   ? style.Green(line)
                                 : diff && StartsWith(line, "-") ? style.Red(line)
                                                                 : line;
    out += "  " + coloured + "\n";
  }
  return out;
}

}  // namespace

void Document::Title(std::string text) {
  blocks_.push_back({Kind::kTitle, std::move(text), "", {}, {}});
}
void Document::Heading(std::string text) {
  blocks_.push_back({Kind::kHeading, std::move(text), "", {}, {}});
}
void Document::Paragraph(std::string text) {
  blocks_.push_back({Kind::kParagraph, std::move(text), "", {}, {}});
}
void Document::Bullet(std::string text, std::string command, std::vector<std::string> details) {
  blocks_.push_back({Kind::kBullet, std::move(text), std::move(command), std::move(details), {}});
}
void Document::Table(std::vector<std::vector<std::string>> rows) {
  blocks_.push_back({Kind::kTable, "", "", {}, std::move(rows)});
}
void Document::Code(std::string code, std::string language) {
  blocks_.push_back({Kind::kCode, std::move(code), std::move(language), {}, {}});
}

std::string Document::Text(const Style& style) const {
  std::string out;
  for (const Block& block : blocks_) switch (block.kind) {
      case Kind::kTitle:
        out += style.Bold(OneLine(block.text)) + "\n";
        break;
      case Kind::kHeading:
        out += "\n" + style.Bold(OneLine(block.text)) + "\n";
        break;
      case Kind::kParagraph:
        out += "  " + OneLine(block.text) + "\n";
        break;
      case Kind::kBullet:
        out += "  - " + OneLine(block.text) + "\n";
        for (const std::string& detail : block.details) out += "      " + style.Dim(OneLine(detail)) + "\n";
        if (!block.code.empty()) out += "      " + OneLine(block.code) + "\n";
        break;
      case Kind::kTable:
        out += TextTable(block.rows, style);
        break;
      case Kind::kCode:
        out += TextCode(block, style);
        break;
    }
  return out;
}

std::string Document::Markdown() const {
  std::string out;
  const Block* last = nullptr;
  for (const Block& block : blocks_) {
    const bool goes_on = last != nullptr && last->kind == Kind::kBullet && block.kind == Kind::kBullet;
    if (last != nullptr && !goes_on) out += "\n";
    switch (block.kind) {
      case Kind::kTitle:
        out += "# " + MarkdownText(block.text) + "\n";
        break;
      case Kind::kHeading:
        out += "## " + MarkdownText(block.text) + "\n";
        break;
      case Kind::kParagraph:
        out += MarkdownText(block.text) + "\n";
        break;
      case Kind::kBullet:
        out += "- " + MarkdownText(block.text) + "\n";
        for (const std::string& detail : block.details) out += "  - " + MarkdownText(detail) + "\n";
        if (!block.code.empty()) out += "  - " + MarkdownCode(block.code) + "\n";
        break;
      case Kind::kTable:
        out += MarkdownTable(block.rows);
        break;
      case Kind::kCode:
        out += Fenced(block);
        break;
    }
    last = &block;
  }
  return out;
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) == 0x80) continue;
    // Three-byte sequences from U+2E80 on hold the wide characters of Chinese text and its punctuation.
    const bool wide = byte >= 0xE3 || (byte == 0xE2 && i + 1 < text.size() &&
                                       static_cast<unsigned char>(text[i + 1]) >= 0xBA);
    width += wide && byte < 0xF8 ? 2 : 1;
  }
  return width;
}

}  // namespace hone

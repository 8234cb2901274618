#include "report/document.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/text_wrap.h"

namespace hone {

namespace {

std::string OneLine(const std::string& text) {
  return SafeForTerminal(ReplaceAll(ReplaceAll(text, "\n", " "), "\t", " "));
}

// Escapes plain text, so that nothing in it becomes markup, a tag or a cell.
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

// Inline code, in as many backticks as it needs.
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

constexpr int kLeastFirstColumn = 10;
constexpr int kLeastColumn = 16;

std::string PrintedTable(const Document::Block& block, const std::string& note, const Style& style) {
  TextTable table;
  table.left_out_note = note;
  table.columns = block.columns;
  const std::vector<std::string>& header = block.rows[0];
  for (size_t i = table.columns.size(); i < header.size(); ++i)
    table.columns.push_back({"", 0, i == 0 ? kLeastFirstColumn : kLeastColumn, false});
  for (size_t i = 0; i < header.size(); ++i) table.columns[i].header = header[i];
  for (size_t i = 1; i < block.rows.size(); ++i)
    table.rows.emplace_back(block.rows[i].begin(), block.rows[i].end());
  return PrintTable(table, style);
}

// A sentence after `mark`; its other lines are indented below the first.
std::string Sentence(const std::string& mark, const std::string& text, const Style& style) {
  return mark + WrapIndented(OneLine(text), static_cast<int>(mark.size()), style.width()) + "\n";
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
  blocks_.push_back({Kind::kTitle, std::move(text), "", {}, {}, {}});
}
void Document::Heading(std::string text) {
  blocks_.push_back({Kind::kHeading, std::move(text), "", {}, {}, {}});
}
void Document::Paragraph(std::string text) {
  blocks_.push_back({Kind::kParagraph, std::move(text), "", {}, {}, {}});
}
void Document::Bullet(std::string text, std::string command, std::vector<std::string> details) {
  blocks_.push_back({Kind::kBullet, std::move(text), std::move(command), std::move(details), {}, {}});
}
void Document::Table(std::vector<std::vector<std::string>> rows, std::vector<TableColumn> columns) {
  blocks_.push_back({Kind::kTable, "", "", {}, std::move(rows), std::move(columns)});
}
void Document::Code(std::string code, std::string language) {
  blocks_.push_back({Kind::kCode, std::move(code), std::move(language), {}, {}, {}});
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
        out += Sentence("  ", block.text, style);
        break;
      case Kind::kBullet:
        out += Sentence("  - ", block.text, style);
        for (const std::string& detail : block.details) out += style.Dim(Sentence("      ", detail, style));
        if (!block.code.empty()) out += "      " + OneLine(block.code) + "\n";
        break;
      case Kind::kTable:
        out += PrintedTable(block, left_out_note_, style);
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

}  // namespace hone

// A report before it becomes text or Markdown: headings, paragraphs, bullets, tables and code. All of it is
// plain text until then, so that one place does the escaping: text from candidates and models can neither
// control a terminal nor become markup.
#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"
#include "base/text_table.h"

namespace hone {

class Document {
 public:
  enum class Kind { kTitle, kHeading, kParagraph, kBullet, kTable, kCode };
  struct Block {
    Kind kind = Kind::kParagraph;
    std::string text;                            // for a code block: the code
    std::string code;                            // for a bullet: a command; for a code block: its language
    std::vector<std::string> details;            // for a bullet: lines below it
    std::vector<std::vector<std::string>> rows;  // for a table; the first row is the header
    std::vector<TableColumn> columns;  // for a table: the behaviour of each column on a narrow terminal
  };

  void Title(std::string text);
  void Heading(std::string text);
  void Paragraph(std::string text);
  void Bullet(std::string text, std::string command = "", std::vector<std::string> details = {});
  // The first row has the headers. Without `columns`, every column is wrapped and none is left out.
  void Table(std::vector<std::vector<std::string>> rows, std::vector<TableColumn> columns = {});
  void Code(std::string code, std::string language);

  const std::vector<Block>& blocks() const { return blocks_; }
  // The note below a table that lost columns on a narrow terminal. {0} stands for their names.
  void SetLeftOutNote(std::string note) { left_out_note_ = std::move(note); }
  // Sentences and tables are wrapped at style.width(), code is not.
  std::string Text(const Style& style) const;
  std::string Markdown() const;

 private:
  std::vector<Block> blocks_;
  std::string left_out_note_ = TextTable().left_out_note;
};

}  // namespace hone

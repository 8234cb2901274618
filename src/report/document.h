// A report before it is text or Markdown: headings, paragraphs, bullets, tables and code, all of it plain
// text, so that escaping is done in one place. What strangers wrote cannot drive a terminal or become markup.
#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"

namespace hone {

class Document {
 public:
  enum class Kind { kTitle, kHeading, kParagraph, kBullet, kTable, kCode };
  struct Block {
    Kind kind = Kind::kParagraph;
    std::string text;                            // of a code block: the code
    std::string code;                            // of a bullet: a command; of a code block: its language
    std::vector<std::string> details;            // of a bullet: lines below it
    std::vector<std::vector<std::string>> rows;  // of a table; the first is the header
  };

  void Title(std::string text);
  void Heading(std::string text);
  void Paragraph(std::string text);
  void Bullet(std::string text, std::string command = "", std::vector<std::string> details = {});
  void Table(std::vector<std::vector<std::string>> rows);
  void Code(std::string code, std::string language);

  const std::vector<Block>& blocks() const { return blocks_; }
  std::string Text(const Style& style) const;
  std::string Markdown() const;

 private:
  std::vector<Block> blocks_;
};

// Columns of a terminal that the text takes: Chinese characters are two wide.
int DisplayWidth(std::string_view text);

}  // namespace hone

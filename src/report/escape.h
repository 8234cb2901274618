// Escaping of untrusted text for HTML, XML, Markdown and CSV. Candidates, models and compilers may write
// tags, quotes, terminal escapes, NUL, broken UTF-8 or characters that change the writing direction. All of
// it becomes readable, inert text: control characters are shown as visible symbols and never dropped.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// For element content and quoted attribute values. The result is well-formed in HTML and XML.
std::string EscapeHtml(std::string_view text);
// One cell of a Markdown table, without active pipes, line ends, tags or links.
std::string EscapeMarkdown(std::string_view text);
// One field of a CSV file (RFC 4180). A leading = + - @ is quoted, so that no spreadsheet treats it as a
// formula.
std::string EscapeCsv(std::string_view text);
// A fragment name for links within a page: letters, digits, '-' and '_' stay, all others are spelled out.
std::string AnchorOf(std::string_view prefix, std::string_view text);

}  // namespace hone

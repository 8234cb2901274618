#include "report/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/embedded.h"
#include "base/ids.h"
#include "base/text.h"
#include "report/escape.h"
#include "store/run_result.h"
#include "verdict/reasons.h"

namespace hone {

std::span<const EmbeddedFile> EmbeddedFiles_hone_report();

namespace {

std::string Asset(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedFiles_hone_report())
    if (file.name == name) return std::string(file.content);
  return "";
}

int HexDigit(char c) {
  return c <= '9' ? c - '0' : c - 'a' + 10;
}

// Converts hexadecimal digits to Base64, the form of hashes in a content security policy.
std::string Base64OfHex(const std::string& hex) {
  static const char* const kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = bits << 4 | static_cast<uint32_t>(HexDigit(c));
    count += 4;
    if (count >= 6) {
      count -= 6;
      out += kDigits[bits >> count & 63];
    }
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

bool LooksNumeric(const std::string& text) {
  if (text.empty()) return true;
  if (text.find_first_of(":_") != std::string::npos) return false;  // a time of day, a name
  const size_t start = text.find_first_not_of("$-+");
  return start != std::string::npos && text[start] >= '0' && text[start] <= '9';
}

std::vector<bool> NumericColumns(size_t columns, const std::vector<std::vector<Cell>>& rows) {
  std::vector<bool> numeric(columns, !rows.empty());
  for (const std::vector<Cell>& row : rows)
    for (size_t i = 0; i < columns && i < row.size(); ++i)
      if (!LooksNumeric(row[i].text) || !row[i].tone.empty()) numeric[i] = false;
  if (columns > 0) numeric[0] = false;  // it contains the names of rows
  for (size_t i = 0; i < columns; ++i)
    if (std::all_of(rows.begin(), rows.end(),
                    [&](const std::vector<Cell>& row) { return i >= row.size() || row[i].text.empty(); }))
      numeric[i] = false;
  return numeric;
}

std::string CellHtml(const Cell& cell) {
  std::string html = cell.tone.empty() ? EscapeHtml(cell.text) : Badge(cell.text, cell.tone);
  if (!cell.href.empty()) html = fmt::format("<a href=\"{}\">{}</a>", EscapeHtml(cell.href), html);
  return html;
}

}  // namespace

std::string PlotStyle() {
  return Asset("plot.css");
}

std::string PageStyle() {
  return Asset("plot.css") + Asset("style.css");
}

namespace {

std::string InlineStyle() {
  return "\n" + PageStyle();
}

}  // namespace

std::string ContentPolicy(std::string_view style) {
  return fmt::format("default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
                     Base64OfHex(Sha256(style)));
}

std::string HtmlPagePolicy() {
  return ContentPolicy(InlineStyle());
}

std::string HtmlPage(const PageFrame& frame, std::string_view body_html) {
  const std::string style = InlineStyle();
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", ContentPolicy(style));
  html +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" "
      "content=\"no-referrer\">\n";
  html +=
      fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n", EscapeHtml(frame.title), style);
  html += "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n";
  if (!frame.nav.empty()) {
    html += "<nav class=\"top\" aria-label=\"Sections\"><ul>\n";
    for (const NavItem& item : frame.nav)
      html += fmt::format("<li><a href=\"{}\">{}</a></li>\n", EscapeHtml(item.href), EscapeHtml(item.text));
    html += "</ul></nav>\n";
  }
  html += fmt::format("<main id=\"main\">\n{}</main>\n", body_html);
  if (!frame.footer_html.empty()) html += fmt::format("<footer>{}</footer>\n", frame.footer_html);
  return html + "</body>\n</html>\n";
}

std::string Section(std::string_view id, std::string_view title, std::string_view body_html) {
  return fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n", id,
                     EscapeHtml(title), body_html);
}

std::string Badge(std::string_view text, std::string_view tone) {
  return fmt::format("<span class=\"badge {}\">{}</span>", tone, EscapeHtml(text));
}

std::string VerdictBadge(const std::string& verdict, const std::string& reason, bool best) {
  if (verdict.empty()) return Badge("not judged", "open");
  if (verdict == NameOf(Decision::kAccepted))
    return Badge(best ? "accepted, best" : "accepted", best ? "best" : "ok");
  if (verdict == NameOf(Decision::kNoDifference))
    return Badge(reason == "speed-not-judged" ? "correct" : "no difference", "same");
  if (verdict == NameOf(Decision::kInconclusive)) return Badge("inconclusive", "same");
  if (verdict == NameOf(Decision::kCannotJudge)) return Badge("cannot judge: " + reason, "same");
  if (verdict == "baseline") return Badge("PyTorch", "open");
  return Badge(reason.empty() ? ReplaceAll(verdict, "_", " ") : reason, reason == "slower" ? "same" : "bad");
}

const char* ResultTone(const std::string& result) {
  if (result == kAccepted) return "ok";
  return result == kRunFailed || result == kNoneRight ? "bad" : "same";
}

std::string ResultBadge(const std::string& result) {
  return Badge(ResultWords(result), ResultTone(result));
}

std::string FactList(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string html = "<dl class=\"facts\">\n";
  for (const auto& [term, value] : facts)
    if (!value.empty())
      html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", EscapeHtml(term), EscapeHtml(value));
  return html + "</dl>\n";
}

std::string HtmlTable(const std::vector<std::string>& columns, const std::vector<std::vector<Cell>>& rows,
                      std::string_view caption) {
  const std::vector<bool> numeric = NumericColumns(columns.size(), rows);
  std::string html = "<div class=\"scroll\" tabindex=\"0\" role=\"group\"";
  html += fmt::format(" aria-label=\"{}\"><table>\n", EscapeHtml(caption.empty() ? "table" : caption));
  html += "<thead><tr>";
  for (size_t i = 0; i < columns.size(); ++i)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", numeric[i] ? " class=\"number\"" : "",
                        EscapeHtml(columns[i]));
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      const char* kind = i < numeric.size() && numeric[i] ? " class=\"number\"" : "";
      html += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", kind, CellHtml(row[i]))
                     : fmt::format("<td{}>{}</td>", kind, CellHtml(row[i]));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string Details(std::string_view summary_html, std::string_view body_html, bool open,
                    std::string_view classes) {
  return fmt::format("<details{}{}><summary>{}</summary>\n{}</details>\n",
                     classes.empty() ? "" : fmt::format(" class=\"{}\"", classes), open ? " open" : "",
                     summary_html, body_html);
}

std::string PlotFigure(const Plot& plot) {
  std::string html = fmt::format("<figure id=\"plot-{}\">\n<figcaption><h3>{}</h3><p>{}</p>\n", plot.id,
                                 EscapeHtml(plot.title), EscapeHtml(plot.description));
  if (!plot.legend.empty()) {
    html += "<ul class=\"legend\">";
    for (const Legend& item : plot.legend)
      html +=
          fmt::format("<li><span class=\"swatch {}\"></span>{}</li>", item.classes, EscapeHtml(item.text));
    html += "</ul>\n";
  }
  html += "</figcaption>\n";
  static const char* const kWidths[] = {"wide", "narrow"};
  for (size_t i = 0; i < plot.drawings.size() && i < 2; ++i)
    html += fmt::format("<div class=\"drawing {}\">{}</div>\n", kWidths[i], plot.drawings[i].Inline());
  std::vector<std::vector<Cell>> rows;
  for (const std::vector<std::string>& row : plot.rows) {
    std::vector<Cell> cells;
    for (const std::string& text : row) cells.push_back({text, "", ""});
    rows.push_back(std::move(cells));
  }
  html += Details("The numbers", HtmlTable(plot.columns, rows, plot.title), false, "numbers");
  return html + "</figure>\n";
}

std::string PlotFigures(const std::vector<Plot>& plots) {
  std::string html;
  for (const Plot& plot : plots) html += PlotFigure(plot);
  return html;
}

}  // namespace hone

// The frame and small parts of HTML pages: a page in one file with its style inside, tables, badges, and a
// plot with its legend and numbers. All text is escaped here; a parameter that takes HTML has `html` in its
// name.
//
// Pages need no script and make no request: the content security policy allows only the one style, by its
// hash.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/plots/plots.h"

namespace hone {

// assets/style.css with assets/plot.css, and the latter alone for plots in separate files.
std::string PageStyle();
std::string PlotStyle();
// For a <meta> or a header of a page with exactly this inline style.
std::string ContentPolicy(std::string_view style);

struct NavItem {
  std::string href;
  std::string text;
};
struct PageFrame {
  std::string title;
  std::vector<NavItem> nav;
  std::string footer_html;
};
// A whole document, for a file.
std::string HtmlPage(const PageFrame& frame, std::string_view body_html);
// The policy of such a document, for a server's header.
std::string HtmlPagePolicy();

// <h2 id=…> and its content, as a landmark for screen readers.
std::string Section(std::string_view id, std::string_view title, std::string_view body_html);
// A word in a small frame. `tone` is "ok", "best", "same", "bad", "open" or "".
std::string Badge(std::string_view text, std::string_view tone);
// The verdict of a candidate as a badge.
std::string VerdictBadge(const std::string& verdict, const std::string& reason, bool best = false);
// A run's result (store/run_result.h) as a badge, and its tone. Only an accepted candidate is "ok".
std::string ResultBadge(const std::string& result);
const char* ResultTone(const std::string& result);
// A list of terms and values. Empty values are left out.
std::string FactList(const std::vector<std::pair<std::string, std::string>>& facts);

struct Cell {
  std::string text;
  std::string href;  // empty: no link
  std::string tone;  // if set, the cell is a badge
};
// Columns whose cells all look like numbers are right-aligned.
std::string HtmlTable(const std::vector<std::string>& columns, const std::vector<std::vector<Cell>>& rows,
                      std::string_view caption = {});
// <details>. A link to an id inside the content opens it, without a script.
std::string Details(std::string_view summary_html, std::string_view body_html, bool open = false,
                    std::string_view classes = {});

// A <figure> with both drawings, the legend, and the numbers in a table that can be opened.
std::string PlotFigure(const Plot& plot);
std::string PlotFigures(const std::vector<Plot>& plots);

}  // namespace hone

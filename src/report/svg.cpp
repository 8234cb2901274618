#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/escape.h"

namespace hone {

namespace {

constexpr double kTickFont = 11;

// 1, 2 or 5 times a power of ten, for about `wanted` intervals.
double RoundStep(double span, int wanted) {
  const double raw = span / wanted;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw * 0.999) return factor * power;
  return 10 * power;
}

std::string Tooltip(std::string_view text) {
  return text.empty() ? "" : "<title>" + EscapeHtml(text) + "</title>";
}

}  // namespace

std::string Coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string ShortNumber(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 1e-3 || size >= 1e15) return fmt::format("{:.3g}", value);
  if (size >= 1e12) return fmt::format("{:.3g}T", value / 1e12);
  if (size >= 1e9) return fmt::format("{:.3g}G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.3g}k", value / 1e3);
  return size >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string Shortened(std::string_view text, size_t most) {
  const std::string valid = ValidUtf8(text);
  size_t characters = 0;
  size_t cut = 0;
  for (size_t i = 0; i < valid.size(); ++i) {
    if ((static_cast<unsigned char>(valid[i]) & 0xC0) == 0x80) continue;
    if (++characters == most) cut = i;
  }
  return characters <= most ? valid : valid.substr(0, cut) + "\xE2\x80\xA6";
}

Axis Axis::Linear(double low, double high, double from, double to) {
  Axis axis;
  if (!(high > low)) high = low + (low == 0 ? 1 : std::abs(low));
  const int wanted = std::clamp(static_cast<int>(std::abs(to - from) / 70), 2, 8);
  const double step = RoundStep(high - low, wanted);
  axis.low_ = std::floor(low / step + 1e-9) * step;
  axis.high_ = std::ceil(high / step - 1e-9) * step;
  axis.from_ = from;
  axis.to_ = to;
  const int count = static_cast<int>(std::lround((axis.high_ - axis.low_) / step));
  for (int i = 0; i <= count; ++i) {
    double value = axis.low_ + i * step;
    if (std::abs(value) < step * 1e-9) value = 0;
    axis.ticks_.push_back({value, ShortNumber(value)});
  }
  return axis;
}

Axis Axis::Log(double low, double high, double from, double to) {
  Axis axis;
  axis.log_ = true;
  if (!(low > 0)) low = high > 0 ? high / 10 : 0.1;
  if (!(high > low)) high = low * 10;
  axis.from_ = from;
  axis.to_ = to;
  const double decades = std::log10(high / low);
  const double per_decade = std::abs(to - from) / std::max(decades, 0.3);
  // A short axis ends at a round number within a decade, a long one at powers of ten.
  const bool fine = per_decade >= 120;
  const std::vector<double> stops =
      fine ? std::vector<double>{1, 1.5, 2, 3, 5, 7} : std::vector<double>{1, 2, 5};
  std::vector<double> values;
  for (int power = static_cast<int>(std::floor(std::log10(low))) - 1; std::pow(10, power) <= high * 10;
       ++power)
    for (const double stop : decades > 3 ? std::vector<double>{1} : stops)
      values.push_back(stop * std::pow(10, power));
  axis.low_ = low;
  axis.high_ = high;
  for (const double value : values)
    if (value <= low * 1.0001) axis.low_ = value;
  for (auto it = values.rbegin(); it != values.rend(); ++it)
    if (*it >= high * 0.9999) axis.high_ = *it;
  const int total = static_cast<int>(std::lround(std::log10(axis.high_ / axis.low_)));
  const int most = std::max(2, static_cast<int>(std::abs(to - from) / 48));
  const int every = decades > 3 ? std::max(1, (total + most - 1) / most) : 1;
  std::vector<double> labelled;
  // Space for a label: horizontal on a horizontal axis, a line's height on a vertical one.
  const double room = from < to ? 40 : 16;
  const auto label = [&](double value) {
    for (const double other : labelled)
      if (std::abs(axis.At(other) - axis.At(value)) < room) return;
    labelled.push_back(value);
  };
  std::vector<double> within;
  for (const double value : values)
    if (value >= axis.low_ * 0.9999 && value <= axis.high_ * 1.0001) within.push_back(value);
  // Powers of ten first, because readers look for them.
  for (const double value : within) {
    const double power = std::log10(value);
    if (std::abs(power - std::round(power)) < 1e-6 && static_cast<int>(std::lround(power)) % every == 0)
      label(value);
  }
  for (const double value : within)
    if (decades <= 3) label(value);
  for (const double value : within) {
    const bool shown = std::find(labelled.begin(), labelled.end(), value) != labelled.end();
    axis.ticks_.push_back({value, shown ? ShortNumber(value) : ""});
  }
  return axis;
}

double Axis::At(double value) const {
  double share = 0;
  if (log_)
    share = value > 0 ? std::log(value / low_) / std::log(high_ / low_) : 0;
  else
    share = (value - low_) / (high_ - low_);
  return from_ + std::clamp(share, 0.0, 1.0) * (to_ - from_);
}

void Axis::SetUnit(const std::string& unit) {
  for (Tick& tick : ticks_)
    if (!tick.label.empty()) tick.label += unit;
}

void Axis::KeepWholeTicks() {
  std::erase_if(ticks_,
                [](const Tick& tick) { return std::abs(tick.value - std::round(tick.value)) > 1e-9; });
}

Svg::Svg(std::string id, double width, double height, std::string_view title, std::string_view description)
    : id_(std::move(id)), title_(title), description_(description), width_(width), height_(height) {}

void Svg::Line(double x1, double y1, double x2, double y2, std::string_view classes) {
  body_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", classes,
                       Coordinate(x1), Coordinate(y1), Coordinate(x2), Coordinate(y2));
}

void Svg::Rect(double x, double y, double width, double height, std::string_view classes,
               std::string_view tooltip) {
  const std::string shape =
      fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", classes, Coordinate(x),
                  Coordinate(y), Coordinate(std::max(width, 0.0)), Coordinate(std::max(height, 0.0)));
  body_ += tooltip.empty() ? shape + "/>\n" : shape + ">" + Tooltip(tooltip) + "</rect>\n";
}

void Svg::Path(const std::vector<std::pair<double, double>>& points, std::string_view classes, bool closed) {
  if (points.empty()) return;
  std::string data;
  for (const auto& [x, y] : points)
    data += fmt::format("{}{} {}", data.empty() ? "M" : "L", Coordinate(x), Coordinate(y));
  body_ += fmt::format("<path class=\"{}\" d=\"{}{}\"/>\n", classes, data, closed ? "Z" : "");
}

void Svg::Mark(MarkShape shape, double x, double y, double radius, std::string_view classes,
               std::string_view tooltip) {
  const std::string title = Tooltip(tooltip);
  switch (shape) {
    case MarkShape::kDot:
    case MarkShape::kRing:
      body_ += fmt::format("<circle class=\"{}{}\" cx=\"{}\" cy=\"{}\" r=\"{}\">{}</circle>\n", classes,
                           shape == MarkShape::kRing ? " hollow" : "", Coordinate(x), Coordinate(y),
                           Coordinate(radius), title);
      return;
    case MarkShape::kSquare:
      body_ +=
          fmt::format("<rect class=\"{} hollow\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">{}</rect>\n",
                      classes, Coordinate(x - radius), Coordinate(y - radius), Coordinate(2 * radius),
                      Coordinate(2 * radius), title);
      return;
    case MarkShape::kDiamond:
      body_ +=
          fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}L{} {}L{} {}Z\">{}</path>\n", classes,
                      Coordinate(x), Coordinate(y - radius), Coordinate(x + radius), Coordinate(y),
                      Coordinate(x), Coordinate(y + radius), Coordinate(x - radius), Coordinate(y), title);
      return;
    case MarkShape::kCross:
      body_ += fmt::format("<path class=\"{} stroke\" d=\"M{} {}L{} {}M{} {}L{} {}\">{}</path>\n", classes,
                           Coordinate(x - radius), Coordinate(y - radius), Coordinate(x + radius),
                           Coordinate(y + radius), Coordinate(x - radius), Coordinate(y + radius),
                           Coordinate(x + radius), Coordinate(y - radius), title);
      return;
  }
}

void Svg::Interval(double low_x, double high_x, double y, std::string_view classes) {
  constexpr double kCap = 3.5;
  body_ += fmt::format("<path class=\"{} stroke\" d=\"M{} {}V{}M{} {}V{}M{} {}H{}\"/>\n", classes,
                       Coordinate(low_x), Coordinate(y - kCap), Coordinate(y + kCap), Coordinate(high_x),
                       Coordinate(y - kCap), Coordinate(y + kCap), Coordinate(low_x), Coordinate(y),
                       Coordinate(high_x));
}

void Svg::Text(double x, double y, std::string_view text, std::string_view classes, Anchor anchor) {
  static const char* const kAnchors[] = {"", " middle", " end"};
  body_ += fmt::format("<text class=\"{}{}\" x=\"{}\" y=\"{}\">{}</text>\n", classes,
                       kAnchors[static_cast<int>(anchor)], Coordinate(x), Coordinate(y), EscapeHtml(text));
}

void Svg::Curve(double x1, double y1, double x2, double y2, std::string_view classes) {
  const double bend = std::max(6.0, std::abs(x2 - x1) / 2);
  body_ += fmt::format("<path class=\"{}\" d=\"M{} {}C{} {} {} {} {} {}\"/>\n", classes, Coordinate(x1),
                       Coordinate(y1), Coordinate(x1 + bend), Coordinate(y1), Coordinate(x2 - bend),
                       Coordinate(y2), Coordinate(x2), Coordinate(y2));
}

void Svg::OpenGroup(std::string_view classes, std::string_view href, std::string_view key) {
  group_is_link_ = !href.empty();
  links_ = links_ || group_is_link_;
  body_ +=
      fmt::format("<{} class=\"{}\" data-key=\"{}\"", group_is_link_ ? "a" : "g", classes, EscapeHtml(key));
  body_ += group_is_link_ ? fmt::format(" href=\"{}\">", EscapeHtml(href)) : ">";
}

void Svg::CloseGroup() {
  body_ += group_is_link_ ? "</a>\n" : "</g>\n";
}

void Svg::BottomAxis(const Axis& axis, double top, double bottom, std::string_view title) {
  for (const Tick& tick : axis.ticks()) {
    const double x = axis.At(tick.value);
    Line(x, top, x, bottom, "grid");
    if (!tick.label.empty()) Text(x, bottom + kTickFont + 4, tick.label, "tick", Anchor::kMiddle);
  }
  Line(axis.from(), bottom, axis.to(), bottom, "axis");
  if (!title.empty()) Text(axis.to(), bottom + 2 * kTickFont + 12, title, "axis-title", Anchor::kEnd);
}

void Svg::LeftAxis(const Axis& axis, double left, double right, std::string_view title) {
  for (const Tick& tick : axis.ticks()) {
    const double y = axis.At(tick.value);
    Line(left, y, right, y, "grid");
    if (!tick.label.empty()) Text(left - 6, y + 4, tick.label, "tick", Anchor::kEnd);
  }
  Line(left, axis.from(), left, axis.to(), "axis");
  if (!title.empty()) Text(0, std::min(axis.from(), axis.to()) - 12, title, "axis-title");
}

std::string Svg::Frame(std::string_view style, bool standalone) const {
  // The role img hides the content from screen readers, so a drawing with links has the role group.
  std::string out = fmt::format(
      "<svg{} class=\"plot\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"{}\" "
      "aria-labelledby=\"{}-title {}-desc\">\n",
      standalone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", Coordinate(width_), Coordinate(height_),
      Coordinate(width_), Coordinate(height_), links_ ? "group" : "img", id_, id_);
  out += fmt::format("<title id=\"{}-title\">{}</title>\n<desc id=\"{}-desc\">{}</desc>\n", id_,
                     EscapeHtml(title_), id_, EscapeHtml(description_));
  if (!style.empty()) out += fmt::format("<style>{}</style>\n", style);
  if (standalone)
    out += fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", Coordinate(width_),
                       Coordinate(height_));
  return out + body_ + "</svg>\n";
}

std::string Svg::Inline() const {
  return Frame({}, false);
}

std::string Svg::Standalone(std::string_view style) const {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + Frame(style, true);
}

}  // namespace hone

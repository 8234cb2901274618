// A small SVG writer: shapes with classes, and linear or logarithmic axes with round ticks. Colours come from
// assets/plot.css, so that one drawing serves light mode, dark mode and print. It does not depend on runs or
// candidates.
//
// Coordinates are written with two decimals at most, so that the same figures give the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone {

struct Tick {
  double value = 0;
  std::string label;  // empty: a small tick
};

// Maps values to coordinates. On a logarithmic axis, values at or below zero are at the low end.
class Axis {
 public:
  // Widens [low, high] to round numbers. `from` and `to` are the coordinates of the two ends.
  static Axis Linear(double low, double high, double from, double to);
  static Axis Log(double low, double high, double from, double to);

  double At(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  double from() const { return from_; }
  double to() const { return to_; }
  bool log() const { return log_; }
  const std::vector<Tick>& ticks() const { return ticks_; }
  // Appended to every label: "x", " us".
  void SetUnit(const std::string& unit);
  // For an axis of counts: keeps only ticks at integers.
  void KeepWholeTicks();

 private:
  double low_ = 0, high_ = 1, from_ = 0, to_ = 1;
  bool log_ = false;
  std::vector<Tick> ticks_;
};

enum class Anchor { kStart, kMiddle, kEnd };
enum class MarkShape { kDot, kRing, kSquare, kDiamond, kCross };

class Svg {
 public:
  // `id` is unique in its page. Title and description are for readers who do not see the picture.
  Svg(std::string id, double width, double height, std::string_view title, std::string_view description);

  void Line(double x1, double y1, double x2, double y2, std::string_view classes);
  void Rect(double x, double y, double width, double height, std::string_view classes,
            std::string_view tooltip = {});
  void Path(const std::vector<std::pair<double, double>>& points, std::string_view classes,
            bool closed = false);
  // `tooltip` is what browsers show under the pointer.
  void Mark(MarkShape shape, double x, double y, double radius, std::string_view classes,
            std::string_view tooltip = {});
  // A horizontal interval with end caps.
  void Interval(double low_x, double high_x, double y, std::string_view classes);
  void Text(double x, double y, std::string_view text, std::string_view classes,
            Anchor anchor = Anchor::kStart);
  // An S-shaped curve between the points, level at both ends.
  void Curve(double x1, double y1, double x2, double y2, std::string_view classes);
  // The shapes up to CloseGroup form one item, a link if `href` is not empty. Scripts find it by `key`.
  void OpenGroup(std::string_view classes, std::string_view href, std::string_view key);
  void CloseGroup();
  // Ticks, grid lines and labels below (or left of) the plotting area.
  void BottomAxis(const Axis& axis, double top, double bottom, std::string_view title);
  void LeftAxis(const Axis& axis, double left, double right, std::string_view title);

  // For a page that shows the same kind of plot several times.
  void PrefixId(std::string_view prefix) { id_ = std::string(prefix) + id_; }
  double width() const { return width_; }
  double height() const { return height_; }
  // <svg …>…</svg> for a page that includes the style.
  std::string Inline() const;
  // A separate file, with the style inside.
  std::string Standalone(std::string_view style) const;

 private:
  std::string Frame(std::string_view style, bool standalone) const;
  std::string id_, title_, description_, body_;
  double width_, height_;
  bool links_ = false;
  bool group_is_link_ = false;
};

// "12.5", "12", "-0.25": two decimals at most.
std::string Coordinate(double value);
// A tick's or a bar's number: "0.001", "1.5", "20", "3k", "2M", "1e-07".
std::string ShortNumber(double value);
// At most `most` characters, the last an ellipsis. Never cuts inside a character.
std::string Shortened(std::string_view text, size_t most);

}  // namespace hone

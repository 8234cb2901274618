// The lineage of a run as a graph: one mark per candidate, from left to right in order of creation, one lane
// per kind of kernel, and a line from each parent. Colour shows the verdict, size the speed-up. The path to
// the best candidate is drawn on top. Pointing at a mark, or moving to it with the keyboard, shows the lines
// to its parents and a sentence at the top.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/lineage_layout.h"
#include "report/plots/row_canvas.h"

namespace hone {

namespace {

constexpr double kLeastRadius = 2.8;
constexpr double kMostRadius = 6.2;
constexpr double kHit = 7.5;   // radius for the pointer and the focus ring
constexpr double kPitch = 16;  // distance of rows, and least distance of columns
constexpr double kMostPitch = 44;
constexpr double kSentence = 22;  // height of the sentence at the top
constexpr double kLaneHead = 20;
constexpr double kFoot = 24;
constexpr double kSide = 12;

struct LineageDrawing {
  const RunFigures& run;
  const CandidateHref& href;
  LineageLayout layout;
  std::vector<bool> on_the_way;  // the best candidate and its ancestors
  size_t best = 0;               // run.candidates.size(): none
  PlotWidth width = PlotWidth::kWide;
  double pitch = kPitch;
  double top_of_speed = 1;  // the fastest speed-up, for the size of marks

  double X(size_t node) const {
    return kSide + kHit + pitch * static_cast<double>(layout.places[node].column);
  }
  double Y(size_t node) const {
    const size_t row = layout.places[node].row;
    double y = kSentence + kPitch / 2;
    for (const LineageLane& lane : layout.lanes)
      if (row >= lane.first_row) y += kLaneHead;
    return y + kPitch * static_cast<double>(row);
  }
  double Radius(const CandidateFigure& one) const {
    if (!one.timed()) return kLeastRadius;
    constexpr double kSlow = 0.5;
    const double share = std::log(one.vs_best / kSlow) / std::log(std::max(top_of_speed, 2 * kSlow) / kSlow);
    return kLeastRadius + (kMostRadius - kLeastRadius) * std::clamp(share, 0.0, 1.0);
  }
};

std::vector<std::string> ParentsOf(const CandidateFigure& one) {
  std::vector<std::string> parents;
  for (const std::string& parent : {one.parent, one.other_parent})
    if (!parent.empty() && parent != "zero") parents.push_back(parent);
  return parents;
}

std::string FamilyOf(const CandidateFigure& one) {
  return one.kernel_class.empty() || one.kernel_class == "none" ? "no kernel class"
                                                                : ReplaceAll(one.kernel_class, "_", " ");
}

std::string LineageVerdict(const CandidateFigure& one) {
  if (one.verdict.empty()) return "not judged";
  if (one.verdict == NameOf(Decision::kRejected)) return "rejected: " + one.reason;
  return ReplaceAll(one.verdict, "_", " ");
}

std::string LineageCost(const CandidateFigure& one) {
  if (one.cost.calls == 0) return "";
  return one.cost.price_known ? fmt::format("${:.4f}", one.cost.cost_usd)
                              : fmt::format("{} tokens", one.cost.total());
}

// The sentence about the candidate under the pointer.
std::string LineageSentence(const CandidateFigure& one, PlotWidth width) {
  const bool wide = width == PlotWidth::kWide;
  std::string text =
      Shortened(one.key, wide ? 44 : 20) + ": " + Shortened(LineageVerdict(one), wide ? 36 : 18);
  if (one.timed()) text += ", " + TimesSign(one.vs_best);
  if (const std::string cost = LineageCost(one); !cost.empty()) text += ", " + cost;
  if (const std::vector<std::string> parents = ParentsOf(one); wide && !parents.empty())
    text += ", from " + Shortened(Join(parents, " and "), 40);
  return text;
}

void DrawLanes(const LineageDrawing& drawing, Svg* svg) {
  double y = kSentence;
  for (const LineageLane& lane : drawing.layout.lanes) {
    svg->Line(0, y, svg->width(), y, "heading-line");
    svg->Text(0, y + 13, Shortened(lane.name, 40), "heading");
    y += kLaneHead + kPitch * static_cast<double>(lane.rows);
  }
  svg->Line(0, y, svg->width(), y, "heading-line");
  svg->Text(svg->width(), y + 17, "in the order they were made \u2192", "axis-title", Anchor::kEnd);
}

void DrawEdge(const LineageDrawing& drawing, const std::pair<size_t, size_t>& edge, const char* classes,
              Svg* svg) {
  svg->Curve(drawing.X(edge.first), drawing.Y(edge.first), drawing.X(edge.second), drawing.Y(edge.second),
             classes);
}

void DrawNode(const LineageDrawing& drawing, size_t node,
              const std::vector<std::vector<std::pair<size_t, size_t>>>& edges_to, Svg* svg) {
  const CandidateFigure& one = drawing.run.candidates[node];
  const double x = drawing.X(node);
  const double y = drawing.Y(node);
  svg->OpenGroup(drawing.on_the_way[node] ? "node way" : "node", drawing.href ? drawing.href(one.key) : "",
                 one.key);
  for (const auto& edge : edges_to[node]) DrawEdge(drawing, edge, "trace", svg);
  svg->Mark(MarkShape::kDot, x, y, kHit, "hit");
  const bool wrong = !one.verdict.empty() && !one.right() && !one.unknown();
  svg->Mark(wrong                                  ? MarkShape::kCross
            : one.verdict.empty() || one.unknown() ? MarkShape::kRing
                                                   : MarkShape::kDot,
            x, y, drawing.Radius(one), ToneOf(one));
  svg->Text(0, 12, LineageSentence(one, drawing.width), "tip");
  svg->CloseGroup();
}

// The speed-ups on the path to the best, each faster than those before it, if there is space. The best comes
// first.
void DrawSpeeds(const LineageDrawing& drawing, Svg* svg) {
  struct Label {
    double left, right, y;
  };
  std::vector<Label> drawn;
  double y = kSentence;
  for (const LineageLane& lane : drawing.layout.lanes) {
    drawn.push_back({0, 7.0 * static_cast<double>(std::min<size_t>(lane.name.size(), 40)), y + 13});
    y += kLaneHead + kPitch * static_cast<double>(lane.rows);
  }
  std::vector<size_t> records;
  for (size_t i = 0; i < drawing.run.candidates.size(); ++i)
    if (drawing.on_the_way[i] && drawing.run.candidates[i].timed() &&
        (records.empty() ||
         drawing.run.candidates[i].vs_best > drawing.run.candidates[records.back()].vs_best))
      records.push_back(i);
  for (auto it = records.rbegin(); it != records.rend(); ++it) {
    const double x = std::clamp(drawing.X(*it), 18.0, svg->width() - 18);
    const Label label = {x - 18, x + 18, drawing.Y(*it) - kHit - 2};
    const bool room = std::none_of(drawn.begin(), drawn.end(), [&](const Label& other) {
      return label.left < other.right && other.left < label.right && std::abs(other.y - label.y) < 12;
    });
    if (!room) continue;
    drawn.push_back(label);
    svg->Text(x, label.y, TimesSign(drawing.run.candidates[*it].vs_best),
              *it == drawing.best ? "tick halo strong" : "tick halo", Anchor::kMiddle);
  }
}

Svg Draw(const Plot& plot, LineageDrawing drawing, const std::vector<LineageNode>& nodes, PlotWidth width) {
  const double across = PixelsOf(width) - 2 * (kSide + kHit);
  drawing.width = width;
  // A chain may need a few more columns than requested.
  drawing.layout = LayOutLineage(nodes, static_cast<size_t>(across / kPitch * 0.8));
  drawing.on_the_way.assign(nodes.size(), false);
  if (drawing.best < nodes.size()) drawing.on_the_way = AncestorMarks(drawing.layout, drawing.best);
  const double steps = static_cast<double>(std::max<size_t>(drawing.layout.columns, 2) - 1);
  drawing.pitch = std::clamp(across / steps, kPitch, kMostPitch);
  const double height = kSentence + kLaneHead * static_cast<double>(drawing.layout.lanes.size()) +
                        kPitch * static_cast<double>(drawing.layout.rows) + kFoot;
  Svg svg(plot.id + (width == PlotWidth::kWide ? "-wide" : "-narrow"),
          std::max(PixelsOf(width), drawing.pitch * steps + 2 * (kSide + kHit)), height, plot.title,
          plot.description);
  DrawLanes(drawing, &svg);
  std::vector<std::vector<std::pair<size_t, size_t>>> edges_to(nodes.size());
  for (const auto& edge : drawing.layout.edges) {
    edges_to[edge.second].push_back(edge);
    if (!drawing.on_the_way[edge.second]) DrawEdge(drawing, edge, "edge", &svg);
  }
  for (const size_t stray : drawing.layout.strays)
    svg.Line(drawing.X(stray) - kSide, drawing.Y(stray), drawing.X(stray), drawing.Y(stray), "edge stray");
  for (const auto& edge : drawing.layout.edges)
    if (drawing.on_the_way[edge.second]) DrawEdge(drawing, edge, "edge way", &svg);
  for (size_t i = 0; i < nodes.size(); ++i) DrawNode(drawing, i, edges_to, &svg);
  DrawSpeeds(drawing, &svg);
  return svg;
}

}  // namespace

std::optional<Plot> LineagePlot(const RunFigures& run, const CandidateHref& href) {
  std::vector<LineageNode> nodes;
  LineageDrawing drawing{run, href, {}, {}, run.candidates.size()};
  for (size_t i = 0; i < run.candidates.size(); ++i) {
    const CandidateFigure& one = run.candidates[i];
    nodes.push_back({one.key, ParentsOf(one), FamilyOf(one)});
    if (one.best) drawing.best = i;
    if (one.timed()) drawing.top_of_speed = std::max(drawing.top_of_speed, one.vs_best);
  }
  if (std::all_of(nodes.begin(), nodes.end(), [](const LineageNode& one) { return one.parents.empty(); }))
    return std::nullopt;
  Plot plot;
  plot.id = "lineage";
  plot.title = "Lineage";
  plot.description =
      "Each mark is a candidate, from left to right in the order they were made, in a lane for its kind of "
      "kernel. Lines lead to it from what it was made from; its size grows with its speed-up.";
  if (drawing.best < nodes.size()) plot.description += " The thick line is the way to the best candidate.";
  plot.legend = {{"best", "best"},
                 {"ok", "accepted"},
                 {"same", "correct, not faster"},
                 {"cross", "rejected"},
                 {"ring idle", "not judged"}};
  plot.columns = {"candidate", "made from", "phase", "kernel", "verdict", "speed-up", "cost"};
  for (const CandidateFigure& one : run.candidates)
    plot.rows.push_back({one.key, Join(ParentsOf(one), ", "), one.phase, FamilyOf(one), LineageVerdict(one),
                         one.timed() ? TimesSign(one.vs_best) : "", LineageCost(one)});
  DrawBoth(&plot, [&](PlotWidth width) { return Draw(plot, drawing, nodes, width); });
  return plot;
}

}  // namespace hone

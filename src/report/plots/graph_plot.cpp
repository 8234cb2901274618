#include "report/plots/graph_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "graph/graph_text.h"

namespace hone {

namespace {

using graph::Graph;
using graph::NodeId;
using graph::OpClass;
using graph::ValueId;
using graph::ValueKind;

constexpr double kBoxWidth = 210;
constexpr double kBoxHeight = 38;
constexpr double kGapX = 18;
constexpr double kGapY = 26;
constexpr double kMargin = 16;

struct Box {
  size_t row = 0;
  size_t column = 0;
  std::string title;
  std::string type;
  std::string classes;
  std::string tooltip;
  std::vector<size_t> from;  // boxes whose results it reads

  double x() const { return kMargin + static_cast<double>(column) * (kBoxWidth + kGapX); }
  double y() const { return kMargin + static_cast<double>(row) * (kBoxHeight + kGapY); }
};

const char* ClassesOf(OpClass op_class) {
  switch (op_class) {
    case OpClass::kProduct:
    case OpClass::kConvolution:
    case OpClass::kAttention:
    case OpClass::kRecurrent:
      return "hollow rung";
    case OpClass::kPointwise:
      return "hollow ok";
    case OpClass::kView:
    case OpClass::kCopy:
    case OpClass::kCreate:
      return "hollow same";
    default:
      return "hollow floor";
  }
}

std::vector<Box> PlaceBoxes(const Graph& graph) {
  std::vector<Box> boxes;
  std::map<ValueId, size_t> box_of;
  std::vector<size_t> used;  // number of boxes in each row
  const auto place = [&](Box box) {
    for (const size_t from : box.from) box.row = std::max(box.row, boxes[from].row + 1);
    if (used.size() <= box.row) used.resize(box.row + 1);
    box.column = used[box.row]++;
    boxes.push_back(std::move(box));
    return boxes.size() - 1;
  };
  for (const ValueId id : graph.ValuesOf(ValueKind::kInput)) {
    Box box;
    box.title = "input " + graph.value(id).name;
    box.type = ToText(graph.type(id));
    box.classes = "hollow ink";
    box.tooltip = box.title;
    box_of[id] = place(std::move(box));
  }
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    Box box;
    box.title = std::string(graph::BaseName(node.target));
    box.type = ToText(graph.type(node.result()));
    box.classes = ClassesOf(ClassOf(node.op));
    box.tooltip = NodeText(graph, id);
    for (const graph::Argument& argument : node.arguments)
      graph::ForEachValue(argument.value, [&](ValueId value) {
        if (const auto found = box_of.find(value); found != box_of.end()) box.from.push_back(found->second);
      });
    const size_t index = place(std::move(box));
    for (const ValueId result : node.results) box_of[result] = index;
  }
  Box end;
  end.title = "output";
  end.classes = "hollow ink";
  for (const ValueId id : graph.outputs().Leaves()) {
    if (const auto found = box_of.find(id); found != box_of.end()) end.from.push_back(found->second);
    end.type += (end.type.empty() ? "" : ", ") + ToText(graph.type(id));
  }
  end.tooltip = end.type;
  place(std::move(end));
  return boxes;
}

}  // namespace

Svg DrawGraph(const Graph& graph, const std::string& title) {
  const std::vector<Box> boxes = PlaceBoxes(graph);
  double width = 0;
  double height = 0;
  for (const Box& box : boxes) {
    width = std::max(width, box.x() + kBoxWidth + kMargin);
    height = std::max(height, box.y() + kBoxHeight + kMargin);
  }
  Svg svg(
      "graph", width, height, title,
      fmt::format("The graph of {}: {} operators, from the inputs at the top to the outputs at the bottom.",
                  title, graph.order().size()));
  for (const Box& box : boxes)
    for (const size_t from : box.from) {
      const Box& source = boxes[from];
      const double start_x = source.x() + kBoxWidth / 2;
      const double start_y = source.y() + kBoxHeight;
      const double end_x = box.x() + kBoxWidth / 2;
      // Goes down beside the boxes in between, then across just above the reader.
      svg.Path({{start_x, start_y},
                {start_x, start_y + kGapY / 3},
                {end_x, box.y() - kGapY / 3},
                {end_x, box.y()}},
               "leader");
    }
  for (const Box& box : boxes) {
    svg.Rect(box.x(), box.y(), kBoxWidth, kBoxHeight, box.classes, box.tooltip);
    svg.Text(box.x() + 8, box.y() + 16, Shortened(box.title, 28), "label");
    svg.Text(box.x() + 8, box.y() + 30, Shortened(box.type, 34), "tick");
  }
  return svg;
}

}  // namespace hone

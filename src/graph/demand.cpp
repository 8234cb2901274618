#include "graph/demand.h"

#include <algorithm>

#include "graph/rewrites/builder.h"

namespace hone::graph {

namespace {

Box Whole(const Shape& shape) {
  Box box;
  for (const int64_t size : shape) box.push_back({0, size});
  return box;
}

bool IsEmpty(const Box& box) {
  return std::any_of(box.begin(), box.end(), [](const IndexRange& range) { return range.from >= range.to; });
}

// The box of an operand that is broadcast to the result.
Box Broadcast(const Box& box, const Shape& operand) {
  Box needed = Whole(operand);
  if (operand.size() > box.size()) return needed;
  const size_t offset = box.size() - operand.size();
  for (size_t i = 0; i < operand.size(); ++i)
    if (operand[i] != 1) needed[i] = box[offset + i];
  return needed;
}

int64_t CountOf(const IndexRange& range) {
  return (range.to - range.from + range.step - 1) / range.step;
}

// Converts a range of elements in memory order to a box of these axes.
Box Unravel(IndexRange flat, const Shape& shape) {
  Box box = Whole(shape);
  int64_t inner = ElementsOf(shape);
  for (size_t i = 0; i < shape.size() && inner > 0; ++i) {
    inner /= shape[i];
    if (flat.step > 1 && flat.step % inner == 0) {  // the same position in every step-th part
      box[i] = {flat.from / inner, (flat.to + inner - 1) / inner, flat.step / inner};
      flat = {flat.from % inner, flat.from % inner + 1};
      continue;
    }
    flat.step = 1;
    box[i] = {flat.from / inner, (flat.to + inner - 1) / inner};
    if (box[i].to - box[i].from != 1) break;  // the range spans several indices, so the inner axes stay whole
    flat = {flat.from - box[i].from * inner, flat.to - box[i].from * inner};
  }
  return box;
}

IndexRange Ravel(const Box& box, const Shape& shape) {
  int64_t first = 0;
  int64_t last = 0;
  int64_t step = 1;  // step of the last axis with several indices
  int varying = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t count = CountOf(box[i]);
    first = first * shape[i] + box[i].from;
    last = last * shape[i] + box[i].from + (count - 1) * box[i].step;
    step = count > 1 ? box[i].step : step * shape[i];
    varying += count > 1 ? 1 : 0;
  }
  return {first, last + 1, varying == 1 ? step : 1};
}

// Converts the box to another shape with the same elements. Matches axes in groups of equal products.
Box Reshaped(const Box& box, const Shape& from, const Shape& to) {
  if (ElementsOf(from) != ElementsOf(to) || ElementsOf(from) == 0) return Whole(to);
  Box needed;
  size_t i = 0;
  size_t j = 0;
  while (i < from.size() || j < to.size()) {
    Shape group;
    Box part;
    Shape target;
    int64_t a = 1;
    int64_t b = 1;
    const auto take_from = [&] {
      a *= from[i];
      group.push_back(from[i]);
      part.push_back(box[i++]);
    };
    const auto take_to = [&] {
      b *= to[j];
      target.push_back(to[j++]);
    };
    if (i < from.size()) take_from();
    if (j < to.size()) take_to();
    while (a != b) {
      if (a < b && i < from.size())
        take_from();
      else if (a > b && j < to.size())
        take_to();
      else
        return Whole(to);
    }
    const Box mapped = group == target ? part : Unravel(Ravel(part, group), target);
    needed.insert(needed.end(), mapped.begin(), mapped.end());
  }
  return needed;
}

class Walk {
 public:
  explicit Walk(const Graph& graph) : graph_(graph), demands_(graph.value_count()) {}

  std::vector<std::optional<Box>> Run() {
    for (const ValueId id : graph_.outputs().Leaves()) Demand(id, Whole(graph_.type(id).shape));
    for (size_t i = graph_.order().size(); i-- > 0;) Visit(graph_.node(graph_.order()[i]));
    return std::move(demands_);
  }

  std::vector<std::optional<Box>> RunReads(const std::function<bool(const Node&)>& ignored) {
    for (const ValueId id : graph_.outputs().Leaves()) Demand(id, Whole(graph_.type(id).shape));
    for (size_t i = graph_.order().size(); i-- > 0;) {
      const Node& node = graph_.node(graph_.order()[i]);
      const bool read = std::any_of(node.results.begin(), node.results.end(), [&](ValueId id) {
        return demands_[static_cast<size_t>(id)].has_value();
      });
      if (!TakesAnyStrides(node.op)) {
        for (const Argument& argument : node.arguments)
          ForEachValue(argument.value, [&](ValueId id) { Demand(id, Whole(ShapeOf(id))); });
      } else if (read || !ignored(node)) {
        if (!read)
          for (const ValueId id : node.results) Demand(id, Whole(ShapeOf(id)));
        Visit(node);
      }
    }
    return std::move(demands_);
  }

 private:
  static bool TakesAnyStrides(Op op) {
    switch (op) {
      case Op::kSelect:
      case Op::kSlice:
      case Op::kNarrow:
      case Op::kSplit:
      case Op::kChunk:
      case Op::kUnbind:
      case Op::kTranspose:
      case Op::kPermute:
      case Op::kT:
      case Op::kSqueeze:
      case Op::kUnsqueeze:
      case Op::kDetach:
      case Op::kAlias:
        return true;
      default:
        return false;
    }
  }

  void Demand(ValueId id, const Box& box) {
    if (IsEmpty(box)) return;
    std::optional<Box>& known = demands_[static_cast<size_t>(id)];
    if (!known) {
      known = box;
      return;
    }
    for (size_t i = 0; i < box.size(); ++i)
      if (!((*known)[i] == box[i]))
        (*known)[i] = {std::min((*known)[i].from, box[i].from), std::max((*known)[i].to, box[i].to)};
  }

  const Shape& ShapeOf(ValueId id) const { return graph_.type(id).shape; }

  void Visit(const Node& node) {
    if (ClassOf(node.op) == OpClass::kCreate) return;
    for (size_t i = 0; i < node.results.size(); ++i) {
      const std::optional<Box> box = demands_[static_cast<size_t>(node.results[i])];
      if (!box) continue;
      for (const Argument& argument : node.arguments) VisitArgument(node, argument, i, *box);
    }
  }

  void VisitArgument(const Node& node, const Argument& argument, size_t result, const Box& box) {
    if (node.op == Op::kCat && argument.name == "tensors") return VisitCat(node, argument, box);
    ForEachValue(argument.value, [&](ValueId id) {
      const std::optional<Box> needed = Needed(node, argument.name, id, result, box);
      Demand(id, needed && needed->size() == ShapeOf(id).size() ? *needed : Whole(ShapeOf(id)));
    });
  }

  void VisitCat(const Node& node, const Argument& argument, const Box& box) {
    const std::optional<int64_t> axis =
        NormalizeAxis(node.IntArg("dim").value_or(0), static_cast<int64_t>(box.size()));
    int64_t start = 0;
    ForEachValue(argument.value, [&](ValueId id) {
      const Shape& shape = ShapeOf(id);
      if (!axis || shape.size() != box.size()) return Demand(id, Whole(shape));
      const auto at = static_cast<size_t>(*axis);
      Box part = box;
      part[at] = {std::max<int64_t>(0, box[at].from - start), std::min(shape[at], box[at].to - start)};
      start += shape[at];
      Demand(id, part);
    });
  }

  // Returns no value if the operand is needed whole.
  std::optional<Box> Needed(const Node& node, const std::string& name, ValueId id, size_t result,
                            const Box& box) const {
    const Shape& shape = ShapeOf(id);
    const bool data = name == "self" || name == "input";
    switch (ClassOf(node.op)) {
      case OpClass::kPointwise:
        if (node.op == Op::kPrelu && !data) return std::nullopt;
        return Broadcast(box, shape);
      case OpClass::kView:
        return data ? NeededOfView(node, id, result, box) : std::nullopt;
      case OpClass::kSoftmax:
      case OpClass::kScan:
        return data ? WholeAlong(node.IntArg("dim"), shape, box) : std::nullopt;
      case OpClass::kReduction:
        return data ? NeededOfReduction(node, shape, box) : std::nullopt;
      case OpClass::kNorm:
        return data ? NeededOfNorm(node, shape, box) : std::nullopt;
      case OpClass::kProduct:
        return NeededOfProduct(node, name, shape, box);
      case OpClass::kAttention:
        return NeededOfAttention(name, shape, box);
      case OpClass::kCopy:
        if (data && (node.op == Op::kContiguous || node.op == Op::kClone || node.op == Op::kLift)) return box;
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  static std::optional<Box> WholeAlong(std::optional<int64_t> dim, const Shape& shape, Box box) {
    if (!dim) return std::nullopt;
    const std::optional<int64_t> axis = NormalizeAxis(*dim, static_cast<int64_t>(shape.size()));
    if (!axis || shape.empty() || box.size() != shape.size()) return std::nullopt;
    box[static_cast<size_t>(*axis)] = {0, shape[static_cast<size_t>(*axis)]};
    return box;
  }

  std::optional<Box> NeededOfReduction(const Node& node, const Shape& shape, const Box& box) const {
    const auto axes = ReducedAxes(graph_, node);
    if (!axes || node.op == Op::kTopk || node.ValueArg("other")) return std::nullopt;
    const bool keep = box.size() == shape.size();
    if (!keep && box.size() + axes->size() != shape.size()) return std::nullopt;
    Box needed = Whole(shape);
    size_t next = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool reduced = std::find(axes->begin(), axes->end(), static_cast<int64_t>(i)) != axes->end();
      if (!reduced) needed[i] = box[next];
      if (!reduced || keep) ++next;
    }
    return needed;
  }

  static std::optional<Box> NeededOfNorm(const Node& node, const Shape& shape, const Box& box) {
    size_t kept = 0;  // leading axes that are independent of each other
    if (node.op == Op::kLayerNorm || node.op == Op::kRmsNorm) {
      const auto normalized = node.IntsArg("normalized_shape");
      if (!normalized || normalized->size() > shape.size()) return std::nullopt;
      kept = shape.size() - normalized->size();
    } else if (node.op == Op::kGroupNorm) {
      kept = 1;
    } else if (node.op == Op::kBatchNorm && node.BoolArg("training") == false) {
      kept = shape.size();
    }
    Box needed = Whole(shape);
    std::copy_n(box.begin(), std::min(kept, box.size()), needed.begin());
    return needed;
  }

  static std::optional<Box> NeededOfProduct(const Node& node, const std::string& name, const Shape& shape,
                                            Box box) {
    if (box.size() != shape.size() || shape.empty()) return std::nullopt;
    const size_t last = shape.size() - 1;
    if (node.op == Op::kLinear) {
      if (name != "input") return std::nullopt;
      box[last] = {0, shape[last]};
      return box;
    }
    const bool plain = node.op == Op::kMatmul || node.op == Op::kMm || node.op == Op::kBmm;
    if (!plain || last == 0) return std::nullopt;
    // Broadcast batches are needed whole.
    for (size_t i = 0; i + 1 < last; ++i)
      if (box[i].to > shape[i]) return std::nullopt;
    const size_t summed = name == "self" ? last : last - 1;
    box[summed] = {0, shape[summed]};
    return box;
  }

  static std::optional<Box> NeededOfAttention(const std::string& name, const Shape& shape, Box box) {
    if ((name != "query" && name != "key" && name != "value") || shape.size() < 3 ||
        box.size() != shape.size())
      return std::nullopt;
    for (size_t i = 0; i + 2 < shape.size(); ++i)
      if (box[i].to > shape[i]) return std::nullopt;
    const size_t last = shape.size() - 1;
    if (name != "query") box[last - 1] = {0, shape[last - 1]};
    box[last] = {0, shape[last]};
    return box;
  }

  std::optional<Box> NeededOfView(const Node& node, ValueId id, size_t result, const Box& box) const {
    const Shape& shape = ShapeOf(id);
    const Shape& out = ShapeOf(node.results[result]);
    const auto rank = static_cast<int64_t>(shape.size());
    const auto axis_of = [&](const char* name) -> std::optional<size_t> {
      const std::optional<int64_t> axis = NormalizeAxis(node.IntArg(name).value_or(0), rank);
      return axis && rank > 0 ? std::optional<size_t>(static_cast<size_t>(*axis)) : std::nullopt;
    };
    switch (node.op) {
      case Op::kView:
      case Op::kReshape:
      case Op::kFlatten:
      case Op::kUnflatten:
      case Op::kSqueeze:
      case Op::kUnsqueeze:
        return Reshaped(box, out, shape);
      case Op::kDetach:
      case Op::kAlias:
        return box;
      case Op::kExpand:
        return Broadcast(box, shape);
      case Op::kPermute: {
        const auto dims = node.IntsArg("dims");
        if (!dims || dims->size() != shape.size()) return std::nullopt;
        Box needed = Whole(shape);
        for (size_t i = 0; i < dims->size(); ++i) {
          const std::optional<int64_t> axis = NormalizeAxis((*dims)[i], rank);
          if (!axis) return std::nullopt;
          needed[static_cast<size_t>(*axis)] = box[i];
        }
        return needed;
      }
      case Op::kTranspose: {
        const auto a = axis_of("dim0");
        const auto b = axis_of("dim1");
        if (!a || !b || !node.IntArg("dim0") || !node.IntArg("dim1")) return std::nullopt;
        Box needed = box;
        std::swap(needed[*a], needed[*b]);
        return needed;
      }
      case Op::kT:
        return rank == 2 ? std::optional<Box>(Box{box[1], box[0]}) : std::nullopt;
      case Op::kSelect: {
        const auto axis = axis_of("dim");
        const std::optional<int64_t> index = node.IntArg("index");
        if (!axis || !index || box.size() + 1 != shape.size()) return std::nullopt;
        const int64_t at = *index < 0 ? *index + shape[*axis] : *index;
        Box needed = box;
        needed.insert(needed.begin() + static_cast<std::ptrdiff_t>(*axis), {at, at + 1});
        return needed;
      }
      case Op::kSlice: {
        const auto axis = axis_of("dim");
        if (!axis || box.size() != shape.size()) return std::nullopt;
        int64_t start = node.IntArg("start").value_or(0);
        if (start < 0) start += shape[*axis];
        start = std::clamp<int64_t>(start, 0, shape[*axis]);
        const int64_t step = node.IntArg("step").value_or(1);
        Box needed = box;
        needed[*axis] = {start + box[*axis].from * step, start + (box[*axis].to - 1) * step + 1};
        return needed;
      }
      case Op::kNarrow: {
        const auto axis = axis_of("dim");
        const std::optional<int64_t> start = node.IntArg("start");
        if (!axis || !start || box.size() != shape.size()) return std::nullopt;
        return Moved(box, *axis, *start < 0 ? *start + shape[*axis] : *start);
      }
      case Op::kSplit:
      case Op::kChunk: {
        const auto axis = axis_of("dim");
        if (!axis || box.size() != shape.size()) return std::nullopt;
        int64_t start = 0;
        for (size_t i = 0; i < result; ++i) start += ShapeOf(node.results[i])[*axis];
        return Moved(box, *axis, start);
      }
      case Op::kUnbind: {
        const auto axis = axis_of("dim");
        if (!axis || box.size() + 1 != shape.size()) return std::nullopt;
        Box needed = box;
        const auto at = static_cast<int64_t>(result);
        needed.insert(needed.begin() + static_cast<std::ptrdiff_t>(*axis), {at, at + 1});
        return needed;
      }
      default:
        return std::nullopt;
    }
  }

  static Box Moved(Box box, size_t axis, int64_t by) {
    box[axis].from += by;
    box[axis].to += by;
    return box;
  }

  const Graph& graph_;
  std::vector<std::optional<Box>> demands_;
};

}  // namespace

std::vector<std::optional<Box>> DemandedElements(const Graph& graph) {
  return Walk(graph).Run();
}

std::vector<std::optional<Box>> ReadElements(const Graph& graph,
                                             const std::function<bool(const Node&)>& ignored) {
  return Walk(graph).RunReads(ignored);
}

bool ReadsAnyInput(const Graph& graph) {
  const std::vector<std::optional<Box>> demands = DemandedElements(graph);
  for (const ValueId id : graph.ValuesOf(ValueKind::kInput))
    if (demands[static_cast<size_t>(id)]) return true;
  return std::any_of(graph.order().begin(), graph.order().end(), [&](NodeId id) {
    const Node& node = graph.node(id);
    return Draws(node) && std::any_of(node.results.begin(), node.results.end(), [&](ValueId result) {
             return demands[static_cast<size_t>(result)].has_value();
           });
  });
}

}  // namespace hone::graph

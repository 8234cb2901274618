#include "codegen/fused/half_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "graph/cost.h"
#include "graph/rewrites/builder.h"

namespace hone::fused {

namespace {

using graph::Argument;
using graph::ArgumentValue;
using graph::DType;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::OpClass;
using graph::Shape;
using graph::TensorType;
using graph::ValueId;
using Ints = std::vector<int64_t>;

constexpr int64_t kLeastChannels = 16;
constexpr int64_t kMostTaps = 16;  // taps of a pooling that is written as a map of them

// The permutation [N, C, spatial...] -> [N, spatial..., C].
Ints ToLast(int64_t rank) {
  Ints order = {0};
  for (int64_t i = 2; i < rank; ++i) order.push_back(i);
  order.push_back(1);
  return order;
}
Ints FromLast(int64_t rank) {
  Ints order = {0, rank - 1};
  for (int64_t i = 1; i + 1 < rank; ++i) order.push_back(i);
  return order;
}
Shape LastShape(const Shape& shape) {
  Shape out;
  for (const int64_t axis : ToLast(static_cast<int64_t>(shape.size())))
    out.push_back(shape[static_cast<size_t>(axis)]);
  return out;
}
// The index in channels-last order of an axis of the usual order.
int64_t LastAxis(int64_t axis, int64_t rank) {
  return axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1;
}

// An int list with one entry per axis. A single number applies to all axes.
std::optional<Ints> Spread(const Node& node, const char* name, size_t axes) {
  std::optional<Ints> ints = node.IntsArg(name);
  if (!ints || ints->empty()) return std::nullopt;
  if (ints->size() == 1) ints->assign(axes, ints->front());
  return ints->size() == axes ? ints : std::nullopt;
}

bool IsFloat32(const graph::Graph& graph, ValueId id) {
  return graph.type(id).dtype == DType::kFloat32;
}

// True for a float32 convolution with known numbers whose weights belong to the module.
bool Takes(const graph::Graph& graph, const Node& node, const std::vector<bool>& fixed) {
  if (node.op != Op::kConv && node.op != Op::kConvTranspose) return false;
  const std::optional<ValueId> input = node.ValueArg("input"), weight = node.ValueArg("weight");
  if (!input || !weight || !IsFloat32(graph, *input) || !IsFloat32(graph, *weight)) return false;
  const int64_t rank = graph.type(*input).rank();
  if (rank < 3 || rank > 5 || graph.type(*weight).rank() != rank || graph.type(*input).elements() == 0)
    return false;
  if (!fixed[static_cast<size_t>(*weight)] || fixed[static_cast<size_t>(node.result())]) return false;
  const auto bias = node.ValueArg("bias");
  if (bias && graph.type(*bias).rank() != 1) return false;
  const size_t axes = static_cast<size_t>(rank) - 2;
  return Spread(node, "stride", axes) && Spread(node, "padding", axes) && Spread(node, "dilation", axes) &&
         node.IntArg("groups");
}

// True if the sums have few channels, as in depthwise convolutions.
bool IsNarrow(const graph::Graph& graph, const Node& node) {
  const std::optional<ValueId> input = node.ValueArg("input");
  return graph.type(*input).shape[1] / std::max<int64_t>(1, *node.IntArg("groups")) < kLeastChannels;
}

class Pass {
 public:
  Pass(graph::Graph& graph, const GpuCosts& gpu) : graph_(graph), gpu_(gpu) {}

  HalfGraph Run() {
    const std::vector<bool> fixed = graph::FixedValues(graph_);
    const std::vector<NodeId> nodes(graph_.order().begin(), graph_.order().end());
    for (const NodeId id : nodes)
      if (Takes(graph_, graph_.node(id), fixed) && !IsNarrow(graph_, graph_.node(id))) chosen_.insert(id);
    // cuDNN computes some narrow convolutions in float32. If no other convolution follows, rounding them
    // could be visible in the answer, so they are taken only if one follows.
    FindFeeding(nodes);
    for (const NodeId id : nodes)
      if (Takes(graph_, graph_.node(id), fixed) && feeding_.count(graph_.node(id).result()) != 0)
        chosen_.insert(id);
    if (chosen_.empty()) return {};
    FindFeeding(nodes);
    like_ = *graph_.node(*chosen_.begin()).ValueArg("weight");
    for (const NodeId id : nodes) {
      if (fixed[static_cast<size_t>(graph_.node(id).result())]) continue;
      const Node node = graph_.node(id);  // a copy, because nodes are added
      graph::Builder build(graph_, id);
      build_ = &build;
      exact_now_ = feeding_.count(node.result()) == 0 && chosen_.count(id) == 0;
      if (!Convert(id, node)) continue;
      converted_.insert(id);
      for (const NodeId user : graph_.Users(node.result()))
        if (chosen_.count(user) != 0) {
          exact_now_ = false;
          Half(node.result());
          break;
        }
    }
    GiveBack(nodes);
    graph_.EraseDead();
    // Renumbers the guards that remain. Unused ones were erased.
    std::map<int64_t, int64_t> numbers;
    const std::vector<NodeId> left(graph_.order().begin(), graph_.order().end());
    for (const NodeId id : left) {
      const std::string target = graph_.node(id).target;
      if (target != kGuarded && target != kHalfScale) continue;
      const int64_t root = Root(*graph_.node(id).IntArg("group"));
      const int64_t group = numbers.try_emplace(root, static_cast<int64_t>(numbers.size())).first->second;
      graph_.SetArgument(id, "group", group);
      if (target != kGuarded) continue;
      graph_.SetArgument(id, "word", static_cast<int64_t>(out_.groups.size()));
      out_.groups.push_back(group);
    }
    out_.scales = static_cast<int>(numbers.size());
    return out_;
  }

 private:
  // Finds the values on which a convolution depends.
  void FindFeeding(const std::vector<NodeId>& nodes) {
    for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
      const Node& node = graph_.node(*id);
      bool feeds = chosen_.count(*id) != 0;
      for (const ValueId result : node.results) feeds = feeds || feeding_.count(result) != 0;
      if (feeds)
        for (const Argument& argument : node.arguments)
          graph::ForEachValue(argument.value, [&](ValueId read) { feeding_.insert(read); });
    }
  }

  // Nodes that were not converted read a converted value in the usual order.
  void GiveBack(const std::vector<NodeId>& nodes) {
    for (const NodeId id : nodes) {
      if (converted_.count(id) == 0) continue;
      const ValueId value = graph_.node(id).result();
      bool read = graph_.IsOutput(value);
      for (const NodeId user : graph_.Users(value)) read = read || converted_.count(user) == 0;
      if (!read) continue;
      graph::Builder build(graph_, id);
      const ValueId last = exact_.at(value);
      const int64_t rank = graph_.type(value).rank();
      ValueId usual =
          OneSize(last) ? build.Reshape(last, graph_.type(value).shape) : build.Permute(last, FromLast(rank));
      if (!graph_.type(usual).is_contiguous())
        usual = build.Insert(
            "aten.contiguous.default",
            {{"self", usual}, {"memory_format", graph::Symbol{"memory_format", "contiguous_format"}}},
            graph::ContiguousType(DType::kFloat32, graph_.type(value).shape));
      // A reduction along rows would read them with a large stride, so its operand is written first.
      bool reduces = false;
      for (const NodeId user : graph_.Users(value))
        reduces = reduces ||
                  (converted_.count(user) == 0 && graph::ClassOf(graph_.node(user).op) != OpClass::kView);
      if (reduces && !OneSize(last)) {
        const TensorType type = graph_.type(usual);
        usual = build.Insert(kStored, {{"self", usual}}, type);
      }
      graph_.ReplaceUses(value, usual);
    }
  }
  // True if all spatial axes, or the channels, have length 1, so that both orders are the same in memory.
  bool OneSize(ValueId last) const {
    const Shape& shape = graph_.type(last).shape;
    return shape.back() == 1 ||
           std::all_of(shape.begin() + 1, shape.end() - 1, [](int64_t n) { return n == 1; });
  }

  // The value in channels-last order and float32: as stored, or unrounded if no convolution follows.
  ValueId Last(ValueId value) {
    const std::map<ValueId, ValueId>& from = exact_now_ ? exact_ : last_;
    const auto found = from.find(value);
    if (found != from.end()) return found->second;
    return build_->Permute(value, ToLast(graph_.type(value).rank()));
  }

  // Tensors of one group are stored with the same power of two as a factor.
  int64_t NewGroup() {
    groups_.push_back(static_cast<int64_t>(groups_.size()));
    return groups_.back();
  }
  int64_t Root(int64_t group) const {
    while (groups_[static_cast<size_t>(group)] != group) group = groups_[static_cast<size_t>(group)];
    return group;
  }
  ValueId Scale(int64_t group, bool inverse = false) {
    return build_->Insert(kHalfScale, {{"like", like_}, {"group", group}, {"inverse", inverse}},
                          graph::ContiguousType(DType::kFloat32, {1}));
  }
  ValueId Guarded(ValueId last, int64_t group) {
    const TensorType type = graph::ContiguousType(DType::kFloat32, graph_.type(last).shape);
    return build_->Insert(kGuarded, {{"self", last}, {"word", int64_t{0}}, {"group", group}}, type);
  }

  // The value as fp16. Later nodes read this version.
  ValueId Half(ValueId value) {
    const auto found = half_.find(value);
    if (found != half_.end()) return found->second;
    Keep(value, Last(value));
    return half_.at(value);
  }
  // Stores `last` as the value's fp16 version.
  void Keep(ValueId value, ValueId last) {
    const int64_t group = NewGroup();
    half_[value] = build_->ToDtype(Guarded(build_->Mul(last, Scale(group)), group), DType::kFloat16);
    group_of_[value] = group;
    last_[value] = build_->Mul(build_->ToDtype(half_[value], DType::kFloat32), Scale(group, true));
  }
  // Reads an fp16 tensor that a library wrote.
  ValueId Read(ValueId half, int64_t group) {
    return build_->Mul(Guarded(build_->ToDtype(half, DType::kFloat32), group), Scale(group, true));
  }

  void Set(const Node& node, ValueId last) { last_[node.result()] = exact_[node.result()] = last; }

  bool Converted(ValueId value) const { return last_.count(value) != 0; }

  bool Convert(NodeId id, const Node& node) {
    if (chosen_.count(id) != 0) return ConvertConvolution(node);
    if (node.results.size() != 1 || !IsFloat32(graph_, node.result())) return false;
    switch (graph::ClassOf(node.op)) {
      case OpClass::kPointwise:
        return ConvertPointwise(node);
      case OpClass::kNorm:
        return node.op == Op::kBatchNorm && ConvertBatchNorm(node);
      case OpClass::kPooling:
      case OpClass::kReduction:
        return ConvertMean(node) || ConvertPool(node);
      default:
        return (node.op == Op::kCat && ConvertCat(node)) || ConvertShuffle(node);
    }
  }

  bool ConvertConvolution(const Node& node) {
    const ValueId input = *node.ValueArg("input"), weight = *node.ValueArg("weight");
    const size_t axes = static_cast<size_t>(graph_.type(input).rank()) - 2;
    const bool transposed = node.op == Op::kConvTranspose;
    const ValueId x = Half(input);
    TensorType packed = graph_.type(weight);
    packed.dtype = DType::kFloat16;
    const int64_t from = group_of_.at(input), to = NewGroup();
    const ValueId w = build_->Insert(
        kHalfWeight,
        {{"weight", weight}, {"transposed", transposed}, {"from", Scale(from, true)}, {"to", Scale(to)}},
        std::move(packed));
    const TensorType type =
        graph::ContiguousType(DType::kFloat16, LastShape(graph_.type(node.result()).shape));
    const ValueId y =
        build_->Insert(kHalfConvolution,
                       {{"input", x},
                        {"weight", w},
                        {"stride", *Spread(node, "stride", axes)},
                        {"padding", *Spread(node, "padding", axes)},
                        {"dilation", *Spread(node, "dilation", axes)},
                        {"transposed", transposed},
                        {"output_padding", Spread(node, "output_padding", axes).value_or(Ints(axes, 0))},
                        {"groups", *node.IntArg("groups")}},
                       type);
    ValueId read = Read(y, to);
    if (const auto bias = node.ValueArg("bias")) {
      read = build_->Add(read, *bias);
    } else {
      half_[node.result()] = y;
      group_of_[node.result()] = to;
    }
    Set(node, read);
    out_.convolutions += 1;
    const double bytes =
        static_cast<double>(graph_.type(x).bytes() + graph_.type(w).bytes() + graph_.type(y).bytes());
    const auto eager = gpu_.library.find("eager");
    const double share = eager == gpu_.library.end() ? 1 : eager->second.share;
    out_.us += std::max(graph::FlopsOf(graph_, node) / gpu_.split_gemm.product_flops_per_us,
                        bytes / gpu_.split_gemm.bytes_per_us) /
               share;
    return true;
  }

  // Converts elementwise nodes. Operands that are broadcast keep their axes of length 1.
  bool ConvertPointwise(const Node& node) {
    if (node.op == Op::kPrelu || node.op == Op::kTril || node.op == Op::kTriu || node.op == Op::kDropout)
      return false;
    const Shape shape = graph_.type(node.result()).shape;
    const int64_t rank = static_cast<int64_t>(shape.size());
    bool any = false, fits = rank >= 3;
    const auto look = [&](ValueId value) {
      any = any || (Converted(value) && graph_.type(value).shape == shape);
      fits = fits && graph_.type(value).rank() <= rank;
    };
    for (const Argument& argument : node.arguments) graph::ForEachValue(argument.value, look);
    if (!any || !fits) return false;
    std::vector<Argument> arguments = node.arguments;
    for (Argument& argument : arguments) {
      if (std::holds_alternative<graph::ValueList>(argument.value)) return false;
      if (auto* value = std::get_if<ValueId>(&argument.value)) {
        if (graph_.type(*value).rank() == 0) continue;
        Shape own(static_cast<size_t>(rank) - graph_.type(*value).shape.size(), 1);
        own.insert(own.end(), graph_.type(*value).shape.begin(), graph_.type(*value).shape.end());
        if (Converted(*value) && graph_.type(*value).shape == own) {
          *value = Last(*value);
        } else {
          const ValueId full = build_->Reshape(*value, own);
          const bool same = std::count(own.begin() + 1, own.end(), 1) >= rank - 2;
          *value = same ? build_->Reshape(full, LastShape(own)) : build_->Permute(full, ToLast(rank));
        }
      }
      if (argument.name == "memory_format") argument.value = graph::None{};
    }
    Set(node, build_->Insert(node.target, std::move(arguments),
                             graph::ContiguousType(DType::kFloat32, LastShape(shape))));
    return true;
  }

  // With given statistics it is a scale and a shift per channel, computed from weights.
  bool ConvertBatchNorm(const Node& node) {
    const std::optional<ValueId> x = node.ValueArg("input"), mean = node.ValueArg("running_mean"),
                                 var = node.ValueArg("running_var");
    const std::optional<double> eps = node.NumberArg("eps");
    if (!x || !Converted(*x) || !mean || !var || !eps || node.BoolArg("training").value_or(true))
      return false;
    ValueId scale = build_->Rsqrt(build_->Add(*var, *eps));
    if (const auto weight = node.ValueArg("weight")) scale = build_->Mul(scale, *weight);
    ValueId shift = build_->Neg(build_->Mul(scale, *mean));
    if (const auto bias = node.ValueArg("bias")) shift = build_->Add(shift, *bias);
    Set(node, build_->Add(build_->Mul(Last(*x), scale), shift));
    return true;
  }

  // Converts the mean over all positions.
  bool ConvertMean(const Node& node) {
    const std::optional<ValueId> x = graph::Operand(node);
    if (!x || !Converted(*x)) return false;
    const int64_t rank = graph_.type(*x).rank();
    const Shape shape = graph_.type(node.result()).shape;
    bool keeps = true;
    if (node.op == Op::kAdaptiveAvgPool) {
      if (shape == graph_.type(*x).shape) {  // every window has one element
        Set(node, Last(*x));
        return true;
      }
      if (std::any_of(shape.begin() + 2, shape.end(), [](int64_t n) { return n != 1; })) return false;
    } else if (node.op == Op::kMean) {
      const auto axes = graph::ReducedAxes(graph_, node);
      if (!axes || static_cast<int64_t>(axes->size()) != rank - 2 ||
          *std::min_element(axes->begin(), axes->end()) < 2)
        return false;
      keeps = static_cast<int64_t>(shape.size()) == rank;
    } else {
      return false;
    }
    Ints axes;
    for (int64_t i = 1; i + 1 < rank; ++i) axes.push_back(i);
    const ValueId mean = build_->Mean(Last(*x), axes, true);
    if (keeps)
      Set(node, mean);
    else
      graph_.ReplaceUses(node.result(), build_->Reshape(mean, shape));
    return keeps;
  }

  bool ConvertPool(const Node& node) {
    if (node.op != Op::kMaxPool && node.op != Op::kAvgPool) return false;
    const std::optional<ValueId> x = graph::Operand(node);
    if (!x || !Converted(*x)) return false;
    const bool maximum = node.op == Op::kMaxPool;
    const size_t axes = static_cast<size_t>(graph_.type(*x).rank()) - 2;
    const std::optional<Ints> kernel = Spread(node, "kernel_size", axes);
    std::optional<Ints> stride = Spread(node, "stride", axes), padding = Spread(node, "padding", axes);
    const Ints dilation = Spread(node, "dilation", axes).value_or(Ints(axes, 1));
    if (!kernel || !padding) return false;
    if (!stride) stride = kernel;
    const bool plain = node.BoolArg("ceil_mode") == false && *padding == Ints(axes, 0) &&
                       !node.NumberArg("divisor_override");
    if (plain && graph::ElementsOf(*kernel) <= kMostTaps && axes <= 2) {
      Set(node, Taps(*x, *kernel, *stride, dilation, maximum));
      return true;
    }
    if (feeding_.count(node.result()) == 0 || axes != 2) return false;
    const ValueId half =
        build_->Insert(kHalfPool,
                       {{"input", Half(*x)},
                        {"maximum", maximum},
                        {"kernel", *kernel},
                        {"stride", *stride},
                        {"padding", *padding},
                        {"dilation", dilation},
                        {"ceil_mode", node.BoolArg("ceil_mode").value_or(false)},
                        {"count_padding", node.BoolArg("count_include_pad").value_or(true)},
                        {"divisor", node.Arg("divisor_override")}},
                       graph::ContiguousType(DType::kFloat16, LastShape(graph_.type(node.result()).shape)));
    half_[node.result()] = half;
    group_of_[node.result()] = group_of_.at(*x);
    Set(node, Read(half, group_of_.at(*x)));
    return true;
  }

  // Writes a small window without padding as an operation on views of its input, one view per tap.
  ValueId Taps(ValueId x, const Ints& kernel, const Ints& stride, const Ints& dilation, bool maximum) {
    // Overlapping windows read each element several times, so the input is stored.
    bool overlaps = false;
    for (size_t i = 0; i < kernel.size(); ++i) overlaps = overlaps || kernel[i] > stride[i];
    const bool stored = overlaps && !exact_now_;
    const ValueId from = stored ? Half(x) : Last(x);
    std::optional<ValueId> out;
    std::map<std::tuple<ValueId, int64_t, int64_t>, ValueId> slices;  // taps share the slices of their rows
    const int64_t taps = graph::ElementsOf(kernel);
    for (int64_t tap = 0; tap < taps; ++tap) {
      ValueId part = from;
      int64_t rest = tap;
      for (size_t i = kernel.size(); i-- > 0;) {
        const int64_t axis = static_cast<int64_t>(i) + 1, at = rest % kernel[i] * dilation[i];
        rest /= kernel[i];
        const int64_t size = graph_.type(from).shape[i + 1];
        const int64_t count = (size - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
        const auto [found, is_new] = slices.try_emplace({part, axis, at}, part);
        if (!is_new) {
          part = found->second;
          continue;
        }
        TensorType type = graph_.type(part);
        type.shape[i + 1] = count;
        type.strides[i + 1] *= stride[i];
        part = found->second = build_->Insert("aten.slice.Tensor",
                                              {{"self", part},
                                               {"dim", axis},
                                               {"start", at},
                                               {"end", at + (count - 1) * stride[i] + 1},
                                               {"step", stride[i]}},
                                              std::move(type));
      }
      part = build_->ToDtype(part, DType::kFloat32);
      if (!out)
        out = part;
      else if (maximum)
        out = build_->Insert("aten.maximum.default", {{"self", *out}, {"other", part}},
                             graph::ContiguousType(DType::kFloat32, graph_.type(part).shape));
      else
        out = build_->Add(*out, part);
    }
    if (stored) out = build_->Mul(*out, Scale(group_of_.at(x), true));
    return maximum ? *out : build_->Mul(*out, 1.0 / static_cast<double>(taps));
  }

  // A permutation of channels: [N, g, c, ...] with g and c exchanged, viewed as [N, c * g, ...].
  bool ConvertShuffle(const Node& node) {
    const Shape shape = graph_.type(node.result()).shape;
    const auto behind = [&](const Node* from) {
      return from == nullptr ? std::nullopt : graph::Operand(*from);
    };
    const auto named = [](const Node* from, std::initializer_list<Op> ops) {
      return from != nullptr && std::find(ops.begin(), ops.end(), from->op) != ops.end();
    };
    if (shape.size() != 4 || !named(&node, {Op::kView, Op::kReshape})) return false;
    std::optional<ValueId> at = behind(&node);
    const Node* exchange = at ? graph_.Definition(*at) : nullptr;
    if (named(exchange, {Op::kContiguous, Op::kClone}) && (at = behind(exchange)))
      exchange = graph_.Definition(*at);
    if (!named(exchange, {Op::kTranspose, Op::kPermute})) return false;
    at = behind(exchange);
    const Node* divide = at ? graph_.Definition(*at) : nullptr;
    if (!named(divide, {Op::kView, Op::kReshape})) return false;
    const Shape five = graph_.type(*at).shape, turned = graph_.type(exchange->result()).shape;
    const std::optional<ValueId> x = behind(divide);
    if (!x || !Converted(*x) || graph_.type(*x).shape != shape || five.size() != 5) return false;
    const bool transposes = exchange->op == Op::kTranspose &&
                            graph::NormalizeAxis(exchange->IntArg("dim0").value_or(9), 5) == 1 &&
                            graph::NormalizeAxis(exchange->IntArg("dim1").value_or(9), 5) == 2;
    if (!transposes && exchange->IntsArg("dims") != Ints{0, 2, 1, 3, 4}) return false;
    if (five[0] != shape[0] || five[3] != shape[2] || five[4] != shape[3]) return false;
    const ValueId apart = build_->Reshape(Last(*x), {five[0], five[3], five[4], five[1], five[2]});
    const ValueId moved = build_->Permute(apart, {0, 1, 2, 4, 3});
    Set(node, build_->Reshape(moved, LastShape(shape)));
    if (exact_now_) return true;
    // Stored with separate axes, which a kernel can use directly.
    Keep(node.result(), moved);
    half_[node.result()] = build_->Reshape(half_[node.result()], LastShape(shape));
    last_[node.result()] = build_->Reshape(last_[node.result()], LastShape(shape));
    return true;
  }

  bool ConvertCat(const Node& node) {
    const auto* parts = std::get_if<graph::ValueList>(&node.Arg("tensors"));
    const int64_t rank = graph_.type(node.result()).rank();
    const std::optional<int64_t> axis = graph::NormalizeAxis(node.IntArg("dim").value_or(0), rank);
    if (parts == nullptr || !axis || rank < 3) return false;
    bool any = false, halves = true;
    for (const std::optional<ValueId>& part : *parts) {
      if (!part || graph_.type(*part).rank() != rank || !IsFloat32(graph_, *part)) return false;
      any = any || Converted(*part);
      halves = halves && half_.count(*part) != 0;
    }
    if (!any) return false;
    // Stored as fp16 if that loses nothing, or if a convolution would round it anyway.
    const bool half = halves || feeding_.count(node.result()) != 0;
    graph::ValueList list;
    for (const std::optional<ValueId>& part : *parts) list.emplace_back(half ? Half(*part) : Last(*part));
    const ValueId made =
        build_->Insert("aten.cat.default", {{"tensors", std::move(list)}, {"dim", LastAxis(*axis, rank)}},
                       graph::ContiguousType(half ? DType::kFloat16 : DType::kFloat32,
                                             LastShape(graph_.type(node.result()).shape)));
    if (half) {
      const int64_t group = Root(group_of_.at(*parts->front()));
      for (const std::optional<ValueId>& part : *parts)
        groups_[static_cast<size_t>(Root(group_of_.at(*part)))] = group;
      half_[node.result()] = made;
      group_of_[node.result()] = group;
    }
    Set(node, half ? Read(made, group_of_.at(node.result())) : made);
    return true;
  }

  graph::Graph& graph_;
  const GpuCosts& gpu_;
  graph::Builder* build_ = nullptr;
  HalfGraph out_;
  std::set<NodeId> chosen_, converted_;
  std::set<ValueId> feeding_;
  // Key: the value in the usual order. Value: its channels-last version in float32 (stored, unrounded) and in
  // fp16.
  std::map<ValueId, ValueId> last_, exact_, half_;
  std::map<ValueId, int64_t> group_of_;  // group of each value in half_
  std::vector<int64_t> groups_;          // each group's parent, or itself
  ValueId like_{-1};                     // a weight, which determines the device
  bool exact_now_ = false;
};

}  // namespace

HalfGraph StoreHalf(graph::Graph& graph, const GpuCosts& gpu) {
  return Pass(graph, gpu).Run();
}

}  // namespace hone::fused

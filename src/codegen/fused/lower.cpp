#include "codegen/fused/lower.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "base/text.h"
#include "codegen/fused/half_graph.h"

namespace hone::fused {

namespace {

// Turns "aten.relu.default" into "relu".
std::string BaseName(const std::string& target) {
  const std::vector<std::string> parts = Split(target, '.');
  return parts.size() < 2 || parts[0] != "aten" ? "" : parts[1];
}

// Maps of one tensor. The argument is first cast to the result's type.
const std::map<std::string, const char*>& UnaryOps() {
  static const std::map<std::string, const char*> kOps = {
      {"relu", "Relu($0)"},
      {"relu6", "AtMost(AtLeast($0, ($C)0), ($C)6)"},
      {"sigmoid", "Sigmoid($0)"},
      {"tanh", "Tanh($0)"},
      {"silu", "Silu($0)"},
      {"mish", "Mish($0)"},
      {"exp", "Exp($0)"},
      {"exp2", "Exp2($0)"},
      {"expm1", "Expm1($0)"},
      {"log", "Log($0)"},
      {"log2", "Log2($0)"},
      {"log10", "Log10($0)"},
      {"log1p", "Log1p($0)"},
      {"log_sigmoid", "LogSigmoid($0)"},
      {"sqrt", "Sqrt($0)"},
      {"rsqrt", "($C)1 / Sqrt($0)"},
      {"erf", "Erf($0)"},
      {"erfc", "Erfc($0)"},
      {"sin", "Sin($0)"},
      {"cos", "Cos($0)"},
      {"tan", "Tan($0)"},
      {"atan", "Atan($0)"},
      {"asin", "Asin($0)"},
      {"acos", "Acos($0)"},
      {"arcsin", "Asin($0)"},
      {"arccos", "Acos($0)"},
      {"arctan", "Atan($0)"},
      {"asinh", "Asinh($0)"},
      {"acosh", "Acosh($0)"},
      {"atanh", "Atanh($0)"},
      {"arcsinh", "Asinh($0)"},
      {"arccosh", "Acosh($0)"},
      {"arctanh", "Atanh($0)"},
      {"frac", "$0 - Trunc($0)"},
      {"special_expit", "Sigmoid($0)"},
      {"absolute", "Abs($0)"},
      {"negative", "-$0"},
      {"sinh", "Sinh($0)"},
      {"cosh", "Cosh($0)"},
      {"abs", "Abs($0)"},
      {"neg", "-$0"},
      {"sign", "Sign($0)"},
      {"sgn", "Sign($0)"},
      {"floor", "Floor($0)"},
      {"ceil", "Ceil($0)"},
      {"trunc", "Trunc($0)"},
      {"reciprocal", "($C)1 / $0"},
      {"square", "$0 * $0"},
      {"hardsigmoid", "AtMost(AtLeast($0 + ($C)3, ($C)0), ($C)6) / ($C)6"},
      {"hardswish", "$0 * AtMost(AtLeast($0 + ($C)3, ($C)0), ($C)6) / ($C)6"},
      {"logical_not", "!$0"},
  };
  return kOps;
}

// Maps of two operands, both cast to the result's type.
const std::map<std::string, const char*>& BinaryOps() {
  static const std::map<std::string, const char*> kOps = {
      {"mul", "$0 * $1"},
      {"div", "$0 / $1"},
      {"maximum", "Max($0, $1)"},
      {"minimum", "Min($0, $1)"},
      {"fmod", "Fmod($0, $1)"},
      {"remainder", "Remainder($0, $1)"},
      {"atan2", "Atan2($0, $1)"},
      {"xlogy", "Xlogy($0, $1)"},
      {"multiply", "$0 * $1"},
      {"floor_divide", "FloorDivide($0, $1)"},
      {"divide", "$0 / $1"},
      {"true_divide", "$0 / $1"},
      {"logaddexp", "LogAddExp($0, $1)"},
      {"fmax", "Select($0 != $0, $1, Select($1 != $1, $0, Max($0, $1)))"},
      {"fmin", "Select($0 != $0, $1, Select($1 != $1, $0, Min($0, $1)))"},
  };
  return kOps;
}

// Comparisons of two operands of one type, with a bool as result.
const std::map<std::string, const char*>& Comparisons() {
  static const std::map<std::string, const char*> kOps = {
      {"eq", "$0 == $1"}, {"ne", "$0 != $1"}, {"lt", "$0 < $1"},
      {"le", "$0 <= $1"}, {"gt", "$0 > $1"},  {"ge", "$0 >= $1"},
  };
  return kOps;
}

bool Supported(DType dtype) {
  return !graph::IsComplex(dtype);
}

// Combined with a number, a tensor keeps its type within its category; see torch.result_type.
DType CommonType(const Item& a, const Item& b) {
  const auto rank = [](DType dtype) {
    switch (dtype) {
      case DType::kBool:
        return 0;
      case DType::kUInt8:
        return 1;
      case DType::kInt8:
        return 2;
      case DType::kInt16:
        return 3;
      case DType::kInt32:
        return 4;
      case DType::kInt64:
        return 5;
      case DType::kFloat16:
        return 6;
      case DType::kBFloat16:
        return 7;
      case DType::kFloat32:
        return 8;
      default:
        return 9;
    }
  };
  const auto category = [](DType dtype) {
    return dtype == DType::kBool ? 0 : graph::IsFloating(dtype) ? 2 : 1;
  };
  const bool a_number = a.kind == ItemKind::kNumber, b_number = b.kind == ItemKind::kNumber;
  if (a_number != b_number) {
    const Item& tensor = a_number ? b : a;
    const Item& number = a_number ? a : b;
    if (category(number.dtype) <= category(tensor.dtype)) return tensor.dtype;
    return category(number.dtype) == 2 ? DType::kFloat32 : DType::kInt64;
  }
  if ((a.dtype == DType::kFloat16 && b.dtype == DType::kBFloat16) ||
      (b.dtype == DType::kFloat16 && a.dtype == DType::kBFloat16))
    return DType::kFloat32;
  if ((a.dtype == DType::kUInt8 && b.dtype == DType::kInt8) ||
      (b.dtype == DType::kUInt8 && a.dtype == DType::kInt8))
    return DType::kInt16;
  return rank(a.dtype) >= rank(b.dtype) ? a.dtype : b.dtype;
}

}  // namespace

Lowered Lower(const graph::Graph& graph, const std::set<graph::NodeId>& as_calls) {
  return Lowering(graph, as_calls).Run();
}

Lowered Lowering::Run() {
  const std::vector<bool> fixed = graph::FixedValues(graph_);
  for (const graph::NodeId id : graph_.order()) {
    const graph::Node& node = graph_.node(id);
    bool fits = !node.results.empty() && as_calls_.count(id) == 0;
    for (const ValueId result : node.results) {
      const graph::TensorType& type = graph_.type(result);
      fits = fits && Supported(type.dtype) && type.elements() > 0;
    }
    for (const graph::Argument& argument : node.arguments)
      graph::ForEachValue(argument.value, [&](ValueId value) {
        fits = fits && Supported(graph_.type(value).dtype) && graph_.type(value).elements() > 0;
      });
    // ATen computes values that depend on weights alone, once.
    fits = fits && !fixed[static_cast<size_t>(node.result())];
    const std::vector<ItemId> items = fits ? LowerNode(node) : std::vector<ItemId>{};
    out_.made_for.resize(out_.program.items().size(), id);
    if (items.empty()) {
      out_.calls.push_back(id);
      continue;
    }
    for (size_t i = 0; i < items.size(); ++i)
      if (items[i] >= 0) out_.item_of[node.results[i]] = items[i];
  }
  return std::move(out_);
}

ItemId Lowering::ItemOf(ValueId value) {
  const auto found = out_.item_of.find(value);
  if (found != out_.item_of.end()) return found->second;
  const graph::Value& known = graph_.value(value);
  ItemId item = -1;
  if (known.kind == graph::ValueKind::kConstant && known.has_data && known.data.size() == 1 &&
      known.type.rank() == 0)
    item = out_.program.Number(known.data[0], known.type.dtype);
  else
    item = out_.program.Tensor(value, known.type);
  out_.item_of[value] = item;
  return item;
}

std::optional<ItemId> Lowering::Operand(const graph::Node& node, std::string_view name) {
  const graph::ArgumentValue& argument = node.Arg(name);
  if (const auto* value = std::get_if<ValueId>(&argument)) return ItemOf(*value);
  if (const auto* number = std::get_if<int64_t>(&argument))
    return out_.program.Number(static_cast<double>(*number), DType::kInt64);
  if (const auto* number = std::get_if<double>(&argument))
    return out_.program.Number(*number, DType::kFloat32);
  if (const auto* truth = std::get_if<bool>(&argument))
    return out_.program.Number(*truth ? 1 : 0, DType::kBool);
  return std::nullopt;
}

std::optional<ItemId> Lowering::OperandAs(const graph::Node& node, std::string_view name, DType dtype) {
  const std::optional<ItemId> item = Operand(node, name);
  if (!item) return std::nullopt;
  // Half precision is computed in float, so the operand need not be rounded first.
  const Item& it = out_.program.at(*item);
  if (graph::IsFloating(it.dtype) && graph::IsFloating(dtype) && dtype != DType::kFloat64 &&
      it.dtype != DType::kFloat64)
    return it.kind == ItemKind::kNumber ? out_.program.Number(it.number, dtype) : *item;
  return out_.program.Cast(*item, dtype);
}

std::vector<ItemId> Lowering::LowerNode(const graph::Node& node) {
  if (node.target == kGuarded) return LowerGuarded(node);
  const std::string name = BaseName(node.target);
  if (name.empty()) return {};
  for (const auto lower :
       {&Lowering::LowerMap, &Lowering::LowerFill, &Lowering::LowerView, &Lowering::LowerReduction,
        &Lowering::LowerNorm, &Lowering::LowerLoss, &Lowering::LowerPool, &Lowering::LowerTaps,
        &Lowering::LowerSimilarity, &Lowering::LowerScan, &Lowering::LowerPermute, &Lowering::LowerSlice,
        &Lowering::LowerIndex, &Lowering::LowerCat, &Lowering::LowerPad, &Lowering::LowerPlace}) {
    const Items items = (this->*lower)(node, name);
    if (!items.empty()) return items;
  }
  return {};
}

// Returns the value unchanged. About 2000 elements of the tensor are sampled to check its magnitude.
std::vector<ItemId> Lowering::LowerGuarded(const graph::Node& node) {
  const std::optional<ItemId> x = OperandAs(node, "self", DType::kFloat32);
  if (!x) return {};
  constexpr int64_t kAsked = 2048;
  const int64_t every = std::max<int64_t>(1, graph_.type(node.result()).elements() / kAsked);
  int64_t threads = 1;
  while (threads < 32 && 2 * threads <= every) threads *= 2;
  return {out_.program.Map("Guarded<" + std::to_string(*node.IntArg("word")) + ", " +
                               std::to_string(threads) + ", " +
                               std::to_string(std::max<int64_t>(1, every / threads)) + ">($0)",
                           {*x}, DType::kFloat32)};
}

// Constant tensors with another tensor's shape.
std::vector<ItemId> Lowering::LowerFill(const graph::Node& node, const std::string& name) {
  const bool zeros = name == "zeros_like" || name == "new_zeros",
             ones = name == "ones_like" || name == "new_ones";
  const std::optional<double> given = node.NumberArg("fill_value");
  const bool full = (name == "full_like" || name == "new_full") && given;
  if ((!zeros && !ones && !full) || graph_.IsOutput(node.result())) return {};
  return {out_.program.Filled(full ? *given : ones ? 1 : 0, graph_.type(node.result()).shape, TypeOf(node))};
}

std::vector<ItemId> Lowering::LowerMap(const graph::Node& node, const std::string& name) {
  Program& p = out_.program;
  const DType dtype = TypeOf(node);
  const bool floating = graph::IsFloating(dtype);
  const auto arg = [&](std::string_view which) { return OperandAs(node, which, dtype); };
  const auto number = [&](double value) { return p.Number(value, dtype); };
  const auto one = [&](ItemId item) { return Items{item}; };
  std::optional<ItemId> x = arg("self");

  if (const auto unary = UnaryOps().find(name); unary != UnaryOps().end()) {
    if (!x) return {};
    if (!floating && (name == "floor" || name == "ceil" || name == "trunc")) return one(*x);
    if (!floating && dtype == DType::kBool && name != "logical_not") return {};
    return one(p.Map(unary->second, {*x}, dtype));
  }
  if (name == "round" && floating && EndsWith(node.target, ".default"))
    return one(p.Map("Rint($0)", {*x}, dtype));
  if (name == "add" || name == "sub" || name == "rsub" || name == "subtract") {
    std::optional<ItemId> y = arg("other");
    const double alpha = node.NumberArg("alpha").value_or(1);
    if (!x || !y) return {};
    if (dtype == DType::kBool)
      return name == "add" && alpha == 1 ? one(p.Map("$0 || $1", {*x, *y}, dtype)) : Items{};
    if (name == "rsub") std::swap(x, y);
    if (alpha != 1) {
      std::optional<ItemId>& scaled = name == "rsub" ? x : y;
      scaled = p.Map("$0 * $1", {*scaled, number(alpha)}, dtype);
      if (name == "rsub") return {};
    }
    return one(p.Map(name == "add" ? "$0 + $1" : "$0 - $1", {*x, *y}, dtype));
  }
  if (const auto binary = BinaryOps().find(name); binary != BinaryOps().end()) {
    const std::optional<ItemId> y = arg("other");
    const bool divides = name == "div" || name == "divide" || name == "true_divide";
    if (!x || !y) return {};
    if (dtype == DType::kBool)
      return name == "mul" || name == "multiply" ? one(p.Map("$0 && $1", {*x, *y}, dtype)) : Items{};
    if (divides && !floating) return {};
    if (const auto* mode = std::get_if<std::string>(&node.Arg("rounding_mode")); divides && mode != nullptr)
      return one(p.Map(*mode == "floor" ? "FloorDivide($0, $1)" : "Trunc($0 / $1)", {*x, *y}, dtype));
    if (!floating && name != "mul" && name != "multiply" && name != "maximum" && name != "minimum") return {};
    return one(p.Map(binary->second, {*x, *y}, dtype));
  }
  if ((name == "max" || name == "min") && node.ValueArg("other")) {  // elementwise, of two tensors
    const std::optional<ItemId> y = arg("other");
    return !x || !y ? Items{} : one(p.Map(name == "max" ? "Max($0, $1)" : "Min($0, $1)", {*x, *y}, dtype));
  }
  if (const auto comparison = Comparisons().find(name); comparison != Comparisons().end()) {
    const std::optional<ItemId> a = Operand(node, "self"), b = Operand(node, "other");
    if (!a || !b) return {};
    const DType common = CommonType(p.at(*a), p.at(*b));
    return one(p.Map(comparison->second, {p.Cast(*a, common), p.Cast(*b, common)}, DType::kBool));
  }
  static const std::map<std::string, const char*> kTruths = {
      {"logical_and", "$0 && $1"}, {"bitwise_and", "$0 && $1"}, {"__and__", "$0 && $1"},
      {"logical_or", "$0 || $1"},  {"bitwise_or", "$0 || $1"},  {"__or__", "$0 || $1"},
      {"logical_xor", "$0 != $1"}, {"bitwise_xor", "$0 != $1"}, {"__xor__", "$0 != $1"},
  };
  if (const auto truth = kTruths.find(name); truth != kTruths.end()) {
    const std::optional<ItemId> a = arg("self"), b = arg("other");
    return !a || !b || dtype != DType::kBool ? Items{} : one(p.Map(truth->second, {*a, *b}, dtype));
  }
  if (name == "bitwise_not" && dtype == DType::kBool) return one(p.Map("!$0", {*x}, dtype));
  if (name == "isinf" || name == "isfinite") {
    const std::optional<ItemId> a = Operand(node, "self");
    if (!a || !graph::IsFloating(p.at(*a).dtype)) return {};
    // x - x is 0 unless x is an infinity or NaN, and only a NaN differs from itself.
    return one(p.Map(name == "isinf" ? "$0 == $0 && $0 - $0 != $0 - $0" : "$0 - $0 == $0 - $0", {*a}, dtype));
  }
  if (name == "isnan") {
    const std::optional<ItemId> a = Operand(node, "self");
    return a ? one(p.Map("$0 != $0", {*a}, dtype)) : Items{};
  }
  if (name == "where" && node.ValueArg("condition")) {
    const std::optional<ItemId> c = OperandAs(node, "condition", DType::kBool), a = arg("self"),
                                b = arg("other");
    return !c || !a || !b ? Items{} : one(p.Map("Select($0, $1, $2)", {*c, *a, *b}, dtype));
  }
  if (name == "masked_fill") {
    const std::optional<ItemId> c = OperandAs(node, "mask", DType::kBool), v = arg("value");
    return !c || !x || !v ? Items{} : one(p.Map("Select($0, $1, $2)", {*c, *v, *x}, dtype));
  }
  if (name == "clamp" || name == "clip" || name == "clamp_min" || name == "clamp_max" || name == "hardtanh") {
    const std::optional<ItemId> low = arg(name == "hardtanh" ? "min_val" : "min"),
                                high = arg(name == "hardtanh" ? "max_val" : "max");
    if (!x || dtype == DType::kBool) return {};
    ItemId y = *x;
    if (low && name != "clamp_max") y = p.Map("AtLeast($0, $1)", {y, *low}, dtype);
    if (high && name != "clamp_min") y = p.Map("AtMost($0, $1)", {y, *high}, dtype);
    return y == *x ? Items{} : one(y);
  }
  if (name == "pow") {
    const std::optional<double> power = node.NumberArg("exponent");
    if (!x || !floating) return {};
    if (!power) {
      const std::optional<ItemId> y = arg("exponent");
      return y ? one(p.Map("Pow($0, $1)", {*x, *y}, dtype)) : Items{};
    }
    if (*power == 1) return one(*x);
    if (*power == 2) return one(p.Map("$0 * $0", {*x}, dtype));
    if (*power == 3) return one(p.Map("$0 * $0 * $0", {*x}, dtype));
    if (2 * *power == 1) return one(p.Map("Sqrt($0)", {*x}, dtype));
    if (2 * *power == -1) return one(p.Map("($C)1 / Sqrt($0)", {*x}, dtype));
    if (*power == -1) return one(p.Map("($C)1 / $0", {*x}, dtype));
    return one(p.Map("Pow($0, $1)", {*x, number(*power)}, dtype));
  }
  const bool casts = name == "to" || name == "_to_copy" || name == "type_as";
  if (!floating || !x) {
    if (casts && node.ValueArg("self")) return one(p.Cast(*Operand(node, "self"), dtype));
    return {};
  }
  if (casts) return one(p.Cast(*Operand(node, "self"), dtype));
  if (name == "gelu") {
    const auto* how = std::get_if<std::string>(&node.Arg("approximate"));
    return one(p.Map(how != nullptr && *how == "tanh" ? "GeluTanh($0)" : "Gelu($0)", {*x}, dtype));
  }
  if (name == "nan_to_num") {
    const double most = dtype == DType::kFloat64    ? std::numeric_limits<double>::max()
                        : dtype == DType::kFloat16  ? 65504
                        : dtype == DType::kBFloat16 ? 3.3895313892515355e38
                                                    : static_cast<double>(std::numeric_limits<float>::max());
    return one(
        p.Map("Select($0 != $0, $1, Select($0 > $4, $2, Select($0 < -$4, $3, $0)))",
              {*x, number(node.NumberArg("nan").value_or(0)), number(node.NumberArg("posinf").value_or(most)),
               number(node.NumberArg("neginf").value_or(-most)), number(most)},
              dtype));
  }
  if ((name == "logit" || name == "special_logit") && !node.NumberArg("eps"))
    return one(p.Map("Log($0 / (($C)1 - $0))", {*x}, dtype));
  if (name == "rrelu" && !node.BoolArg("training").value_or(false))
    return one(p.Map(
        "Select($0 > ($C)0, $0, $0 * $1)",
        {*x,
         number((node.NumberArg("lower").value_or(1.0 / 8) + node.NumberArg("upper").value_or(1.0 / 3)) / 2)},
        dtype));
  if (name == "leaky_relu")
    return one(p.Map("Select($0 > ($C)0, $0, $0 * $1)",
                     {*x, number(node.NumberArg("negative_slope").value_or(0.01))}, dtype));
  if (name == "elu" || name == "celu" || name == "selu") {
    double alpha = node.NumberArg("alpha").value_or(1), scale = node.NumberArg("scale").value_or(1),
           inner = node.NumberArg("input_scale").value_or(1);
    if (name == "selu") alpha = 1.6732632423543772848170429916717, scale = 1.0507009873554804934193349852946;
    if (name == "celu") inner = 1 / alpha;
    return one(
        p.Map("Elu($0, $1, $2, $3)", {*x, number(alpha * scale), number(scale), number(inner)}, dtype));
  }
  if (name == "softplus")
    return one(p.Map(
        "Softplus($0, $1, $2)",
        {*x, number(node.NumberArg("beta").value_or(1)), number(node.NumberArg("threshold").value_or(20))},
        dtype));
  if (name == "threshold")
    return one(p.Map("Select($0 <= $1, $2, $0)",
                     {*x, number(*node.NumberArg("threshold")), number(*node.NumberArg("value"))}, dtype));
  if (name == "hardshrink")
    return one(p.Map("Select($0 >= -$1 && $0 <= $1, ($C)0, $0)",
                     {*x, number(node.NumberArg("lambd").value_or(1.0 / 2))}, dtype));
  if (name == "softshrink")
    return one(p.Map("Select($0 > $1, $0 - $1, Select($0 < -$1, $0 + $1, $0 * ($C)0))",
                     {*x, number(node.NumberArg("lambd").value_or(1.0 / 2))}, dtype));
  if (name == "addcmul" || name == "addcdiv") {
    const std::optional<ItemId> a = arg("tensor1"), b = arg("tensor2");
    if (!a || !b) return {};
    return one(p.Map(name == "addcmul" ? "$0 + $3 * $1 * $2" : "$0 + $3 * ($1 / $2)",
                     {*x, *a, *b, number(node.NumberArg("value").value_or(1))}, dtype));
  }
  if (name == "lerp") {
    const std::optional<ItemId> end = arg("end"), weight = arg("weight");
    if (!end || !weight) return {};
    return one(p.Map("Select(Abs($2) < ($C)1 / ($C)2, $0 + $2 * ($1 - $0), $1 - ($1 - $0) * (($C)1 - $2))",
                     {*x, *end, *weight}, dtype));
  }
  if (name == "prelu") {
    const std::optional<ValueId> weight = node.ValueArg("weight");
    if (!weight || graph_.type(*weight).dtype != dtype) return {};
    const int64_t rank = static_cast<int64_t>(ShapeOf(*x).size());
    const ItemId w = graph_.type(*weight).elements() == 1 || rank < 2 ? Channels(*weight, rank - 1, rank)
                                                                      : Channels(*weight, 1, rank);
    return one(p.Map("Select($0 > ($C)0, $0, $0 * $1)", {*x, w}, dtype));
  }
  return {};
}

std::vector<ItemId> Lowering::LowerView(const graph::Node& node, const std::string& name) {
  Program& p = out_.program;
  const std::optional<ValueId> self =
      node.ValueArg("self").has_value() ? node.ValueArg("self") : node.ValueArg("input");
  if (!self) return {};
  const bool drops = name == "dropout" || name == "feature_dropout" || name == "native_dropout";
  if (drops && node.BoolArg("train").value_or(true)) return {};
  static const char* kSame[] = {"clone",           "detach",  "alias",          "contiguous",
                                "lift_fresh_copy", "dropout", "feature_dropout"};
  static const char* kReshapes[] = {"view",    "reshape", "_unsafe_view", "unsqueeze",
                                    "squeeze", "flatten", "unflatten"};
  const bool same = std::find(std::begin(kSame), std::end(kSame), name) != std::end(kSame);
  const bool reshapes = std::find(std::begin(kReshapes), std::end(kReshapes), name) != std::end(kReshapes);
  if (name == "expand" || name == "broadcast_to" || name == "expand_as") {
    const ItemId item = ItemOf(*self);
    if (!p.at(item).computes()) return {};  // a view of a tensor in memory costs nothing
    return {p.Broadcast(item, graph_.type(node.result()).shape)};
  }
  if (!same && !reshapes) return {};
  const graph::TensorType& type = graph_.type(node.result());
  if (type.dtype != graph_.type(*self).dtype || type.elements() != graph_.type(*self).elements()) return {};
  const ItemId item = ItemOf(*self);
  const bool tensor = p.at(item).kind == ItemKind::kTensor;
  // A view of a tensor in memory costs nothing. A clone that is not written to is the tensor itself, unless
  // it is an output.
  if (tensor && (reshapes || graph_.IsOutput(node.result()) || p.at(item).strides != type.strides)) return {};
  // A copy of a view into contiguous order is written.
  if ((name == "contiguous" || name == "clone") && p.at(WithoutReshapes(p, item)).is_view() &&
      type.strides == graph::ContiguousStrides(type.shape))
    return {Copied(item, type.shape)};
  return {p.Reshape(item, type.shape)};
}

}  // namespace hone::fused

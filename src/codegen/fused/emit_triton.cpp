#include "codegen/fused/emit_triton.h"

#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/text.h"
#include "codegen/fused/triton_functions.h"

namespace hone::fused {

namespace {

constexpr int64_t kPointwiseBlock = 1024;
constexpr int64_t kPoolBlock = 256;

bool IsLiteral(const Formula& formula) {
  return formula.kind == Formula::Kind::kNumber ||
         (formula.kind == Formula::Kind::kUnary && formula.text == "-" && IsLiteral(formula.parts[0]));
}

double ValueOf(const Formula& literal) {
  if (literal.kind != Formula::Kind::kNumber) return -ValueOf(literal.parts[0]);
  if (literal.text == "HONE_NAN") return std::numeric_limits<double>::quiet_NaN();
  if (literal.text == "HONE_INF") return std::numeric_limits<double>::infinity();
  return std::stod(literal.text);
}

}  // namespace

int64_t TritonWarps(int64_t elements) {
  return std::clamp<int64_t>(PowerAtLeast(elements / 512), 1, 16);
}

std::string TritonEmitter::Type(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return "tl.float64";
    case DType::kInt64:
      return "tl.int64";
    case DType::kInt32:
      return "tl.int32";
    case DType::kInt16:
      return "tl.int16";
    case DType::kInt8:
      return "tl.int8";
    case DType::kUInt8:
      return "tl.uint8";
    case DType::kBool:
      return "tl.int1";
    default:
      return "tl.float32";
  }
}

std::string TritonEmitter::Number(double number, DType dtype) {
  std::string text;
  if (dtype == DType::kBool) {
    text = number != 0 ? "1" : "0";
  } else if (!graph::IsFloating(dtype)) {
    text = std::to_string(static_cast<int64_t>(number));
  } else {
    if (dtype != DType::kFloat64) number = static_cast<double>(static_cast<float>(number));
    if (std::isnan(number))
      text = "float(\"nan\")";
    else if (std::isinf(number))
      text = number < 0 ? "float(\"-inf\")" : "float(\"inf\")";
    else
      text = fmt::format("{:.17g}", number);
  }
  return fmt::format("tl.full((), {}, {})", text, Type(dtype));
}

std::string TritonEmitter::Named(int i, bool elements) const {
  const Instruction& it = at(i);
  if (it.kind == ItemKind::kNumber) return Number(item(i).number, item(i).dtype);
  return fmt::format("t{}{}", i, elements && it.per_row ? "[:, None]" : "");
}

Result<std::string> TritonEmitter::Print(const Formula& formula, int i, bool grouped) const {
  std::vector<std::string> parts;
  const bool inside = formula.kind == Formula::Kind::kBinary && formula.text != "/";
  if (formula.kind == Formula::Kind::kCast && IsLiteral(formula.parts[0]))
    return Number(ValueOf(formula.parts[0]), item(i).dtype);
  for (const Formula& part : formula.parts) {
    HONE_ASSIGN_OR_RETURN(std::string text, Print(part, i, inside || formula.kind == Formula::Kind::kCast));
    parts.push_back(std::move(text));
  }
  const auto group = [&](const std::string& text) { return grouped ? "(" + text + ")" : text; };
  switch (formula.kind) {
    case Formula::Kind::kArgument:
      if (formula.argument >= at(i).args.size())
        return Error{ErrorKind::kInternal, "an expression asks for an argument that is not there"};
      return Named(at(i).args[formula.argument], !at(i).per_row);
    case Formula::Kind::kNumber:
      return formula.text;
    case Formula::Kind::kCast:
      return fmt::format("{}.to({})", parts[0], Type(item(i).dtype));
    case Formula::Kind::kUnary:
      return fmt::format("{}({})", formula.text == "!" ? "_not" : "_neg", parts[0]);
    case Formula::Kind::kBinary:
      if (formula.text == "/") return fmt::format("_div({}, {})", parts[0], parts[1]);
      return group(fmt::format("{} {} {}", parts[0],
                               formula.text == "&&"   ? "&"
                               : formula.text == "||" ? "|"
                                                      : formula.text,
                               parts[1]));
    case Formula::Kind::kCall:
      break;
  }
  const std::string name = formula.text == "Select" ? "tl.where" : TritonFunctionName(formula.text);
  if (formula.text != "Select" && !HasTritonFunction(name))
    return Error{ErrorKind::kInvalid, formula.text + " is not written in Triton"};
  return fmt::format("{}({})", name, Join(parts, ", "));
}

std::string TritonEmitter::FieldText(int i) const {
  const int reduction = at(i).args[0];
  const TritonReduction& how = TritonReductionOf(item(reduction).op);
  std::vector<std::string> states;
  for (size_t k = 0; k < how.words.size(); ++k) states.push_back(fmt::format("r{}_{}", reduction, k));
  const std::string& field = item(i).op;  // for example "mean()"
  return fmt::format("_{}_{}({}, {})", how.kind, field.substr(0, field.find('(')), Join(states, ", "),
                     Type(item(i).dtype));
}

Result<std::string> TritonEmitter::Line(int i) {
  std::string value;
  if (at(i).kind == ItemKind::kField) {
    value = FieldText(i);
  } else if (gathers(i)) {
    value = GatherText(i);
  } else {
    HONE_ASSIGN_OR_RETURN(const Formula formula, ParseFormula(item(i).op));
    HONE_ASSIGN_OR_RETURN(value, Print(formula, i, false));
  }
  return fmt::format("t{} = {}", i, value);
}

std::string TritonEmitter::At(const std::vector<Step1>& steps, const std::string& index) {
  std::vector<std::string> terms;
  int64_t inner = 1;
  for (size_t i = steps.size(); i-- > 0;) {
    const Step1& step = steps[i];
    bool outermost = true;
    for (size_t j = 0; j < i; ++j) outermost = outermost && steps[j].size == 1;
    if (step.size > 1 && step.stride != 0) {
      std::string at = index;
      if (inner > 1) at = fmt::format("{} // {}", at, inner);
      if (!outermost) at = fmt::format("{} % {}", at, step.size);
      terms.push_back(step.stride == 1 ? at : fmt::format("{} * {}", at, step.stride));
    }
    inner *= step.size;
  }
  std::reverse(terms.begin(), terms.end());
  return Join(terms, " + ");
}

std::string TritonEmitter::Widened(int i) const {
  const DType dtype = item(i).dtype;
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ? ".to(tl.float32)" : "";
}

Json TritonEmitter::LoadAt(int i, const std::string& at, const std::string& mask) {
  const int64_t start = this->at(i).start;
  const std::string from = start == 0   ? at
                           : at.empty() ? std::to_string(start)
                                        : fmt::format("{} + {}", at, start);
  std::string value;
  if (is_place(i))
    value = at.empty() ? Number(static_cast<double>(start), item(i).dtype)
                       : fmt::format("({}).to({})", from, Type(item(i).dtype));
  else if (at.empty())
    value = fmt::format("tl.load({}{}){}", PointerOf(i), from.empty() ? "" : " + " + from, Widened(i));
  else
    value = fmt::format("tl.load({} + ({}), mask={}, other=0){}", PointerOf(i), from, mask, Widened(i));
  return {{"name", fmt::format("t{}", i)}, {"value", value}};
}

std::string TritonEmitter::TileAt(int i) const {
  const std::string kept = At(Part(load(i), false), "row"), along = At(Part(load(i), true), "r");
  if (kept.empty()) return along.empty() ? "" : "(" + along + ")[None, :]";
  if (along.empty()) return "(" + kept + ")[:, None]";
  return "(" + kept + ")[:, None] + (" + along + ")[None, :]";
}

Json TritonEmitter::TileLoad(int i) {
  const bool kept = !At(Part(load(i), false), "row").empty(), along = !At(Part(load(i), true), "r").empty();
  return LoadAt(i, TileAt(i), kept && along ? "mask" : kept ? "live[:, None]" : "inside[None, :]");
}

// The address has the shape of the tile, whatever the shapes of its parts are.
std::string TritonEmitter::GatherText(int i) {
  const Instruction& it = at(i);
  const bool row = it.per_row, tiles = !row && tile_.index.empty();
  const std::string shape = row     ? fmt::format("({},)", rows_each_)
                            : tiles ? fmt::format("({}, {})", rows_each_, block_)
                                    : tile_.shape;
  std::string mask = row ? "live" : tile_.mask;
  std::string place = fmt::format("tl.full({}, {}, tl.int64)", shape, it.start);
  const std::string at = tiles ? TileAt(i) : At(Part(load(i), false), row ? "row" : tile_.index);
  if (!at.empty()) place += " + " + at;
  for (size_t k = 0; k < it.axis_strides.size(); ++k)
    place += fmt::format(" + {}.to(tl.int64) * {}", Named(it.args[k], !row), it.axis_strides[k]);
  if (it.args.size() > it.axis_strides.size()) mask += " & " + Named(it.args.back(), !row);
  return fmt::format("tl.load({} + ({}), mask={}, other=0){}", PointerOf(i), place, mask, Widened(i));
}

// An output has an element for every index, so an offset that is always 0 means that the index is always 0.
Json TritonEmitter::Store(size_t output, const std::string& index) {
  const std::string at = At(Part(stores_[output], false), index);
  return {{"pointer", Pointer(kernel_.outputs[output].item, KernelOperand::Role::kOutput)},
          {"at", at.empty() ? index : at},
          {"value", Named(kernel_.outputs[output].instruction, true)}};
}

Json TritonEmitter::RowStore(size_t output) {
  Json store = Store(output, "row");
  store["value"] = Named(kernel_.outputs[output].instruction, false);
  return store;
}

Json TritonEmitter::TileStore(size_t output) {
  Json store = Store(output, "row");
  const std::string along = At(Part(stores_[output], true), "r");
  store["at"] =
      fmt::format("({})[:, None] + ({})[None, :]", GetString(store, "at"), along.empty() ? "r" : along);
  return store;
}

Status TritonEmitter::AddElements(const Printer::Closure& closure, std::set<int>* made, Json* inputs,
                                  Json* lines) {
  for (const int i : closure.loads) {
    if (at(i).kind == ItemKind::kScan || !made->insert(i).second) continue;
    if (at(i).kind == ItemKind::kWindow)
      return Error{ErrorKind::kInternal, "a window inside a reduction has no emitter"};
    inputs->push_back(TileLoad(i));
  }
  for (const int i : closure.statements) {
    if (!made->insert(i).second) continue;
    HONE_ASSIGN_OR_RETURN(std::string line, Line(i));
    lines->push_back(std::move(line));
  }
  return Ok();
}

Result<std::vector<Json>> TritonEmitter::RowLines(size_t stages) {
  Json operands = Json::array();
  std::vector<Json> lines(stages + 1, Json::array());
  for (size_t n = 0; n < kernel_.instructions.size(); ++n) {
    const int i = static_cast<int>(n);
    const Instruction& it = at(i);
    if (!it.per_row || it.kind == ItemKind::kNumber || it.kind == ItemKind::kReduce) continue;
    if (it.kind == ItemKind::kTensor || is_place(i)) {
      operands.push_back(RowLoad(i));
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const std::string line, Line(i));
    lines[static_cast<size_t>(it.ready)].push_back(line);
  }
  values_["row_operands"] = operands;
  values_["row_lines"] = lines[0];
  return std::vector<Json>(lines.begin() + 1, lines.end());
}

std::string TritonEmitter::Index() const {
  int64_t most = graph::ElementsOf(sizes_) + (int64_t{1} << 20);  // the last tile extends beyond the end
  const auto reach = [&](const Strides& strides, int64_t end) {
    for (size_t d = 0; d < sizes_.size(); ++d) end += sizes_[d] * std::abs(strides[d]);
    most = std::max(most, end);
  };
  for (size_t i = 0; i < loads_.size(); ++i)
    if (!loads_[i].empty()) reach(loads_[i], kernel_.instructions[i].start);
  for (const Strides& strides : stores_) reach(strides, 0);
  return most < kMostIndex ? "tl.int32" : "tl.int64";
}

Status TritonEmitter::RenderTriton(const std::string& name, const std::vector<TritonLaunch>& launches) {
  values_["entry"] = kKernelName;
  for (const TritonLaunch& given : launches) {
    Launch launch;
    launch.entry = kKernelName + given.suffix;
    launch.blocks = given.programs;
    launch.threads = 32 * TritonWarps(rows_each_ * block_);
    out_.launches.push_back(launch);
  }
  return Render(name, {});
}

Status TritonEmitter::Pointwise() {
  out_.layout = "pointwise";
  const int64_t total = graph::ElementsOf(sizes_);
  block_ = std::min(kPointwiseBlock, PowerAtLeast(total));
  tile_ = {"i", "live", fmt::format("({},)", block_)};
  std::vector<int> roots;
  for (const Output& output : kernel_.outputs) roots.push_back(output.instruction);
  const Printer::Closure closure = printer_.ElementClosure(roots);
  Json inputs = Json::array(), outputs = Json::array(), lines = Json::array();
  for (const int i : closure.loads) inputs.push_back(Load(i));
  for (const int i : closure.statements) {
    HONE_ASSIGN_OR_RETURN(std::string line, Line(i));
    lines.push_back(std::move(line));
  }
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) outputs.push_back(Store(i, "i"));
  values_.update({{"total", total},
                  {"block", block_},
                  {"index", Index()},
                  {"inputs", inputs},
                  {"outputs", outputs},
                  {"lines", lines}});
  return RenderTriton("fused_triton_pointwise.py", {{"", Up(total, block_)}});
}

Status TritonEmitter::Pool() {
  out_.layout = "pool";
  HONE_ASSIGN_OR_RETURN(const PoolWindow pooled, FindWindow());
  const int pool = pooled.instruction;
  const Item& it = *pooled.it;
  const Window& window = it.window;
  const Item& seen = *pooled.seen;
  const Strides& strides = pooled.strides;
  const int64_t total = it.elements();
  block_ = std::min(kPoolBlock, PowerAtLeast(total));
  tile_ = {"i", "live", fmt::format("({},)", block_)};
  Json raw = Json::array(), before = Json::array();
  std::string value = "x", index = Index();
  if (kernel_.before) {
    TritonEmitter inner(program_, *kernel_.before, device_);
    inner.Collapse();
    const int root = kernel_.before->outputs[0].instruction;
    const Printer::Closure maps = inner.printer_.ElementClosure({root});
    inner.outer_ = this;
    inner.tile_ = {"e", "inside", tile_.shape};
    for (const int i : maps.loads) raw.push_back(inner.Load(i));
    for (const int i : maps.statements) {
      HONE_ASSIGN_OR_RETURN(std::string line, inner.Line(i));
      before.push_back(std::move(line));
    }
    value = inner.Named(root, true);
    if (inner.Index() == "tl.int64") index = "tl.int64";
  } else {
    std::vector<Step1> steps;
    int64_t reach = 0;
    for (size_t i = 0; i < seen.shape.size(); ++i) {
      steps.push_back({seen.shape[i], strides[i]});
      reach += seen.shape[i] * std::abs(strides[i]);
    }
    if (reach >= kMostIndex) index = "tl.int64";
    Json input =
        LoadAt(pool, strides == graph::ContiguousStrides(seen.shape) ? "e" : At(steps, "e"), "inside");
    input["name"] = "x";
    raw.push_back(input);
  }
  std::vector<int> roots;
  for (const Output& output : kernel_.outputs) roots.push_back(output.instruction);
  const Printer::Closure closure = printer_.ElementClosure(roots);
  Json inputs = Json::array(), outputs = Json::array(), lines = Json::array();
  for (const int i : closure.loads)
    if (i != pool) inputs.push_back(Load(i));
  for (const int i : closure.statements) {
    HONE_ASSIGN_OR_RETURN(std::string line, Line(i));
    lines.push_back(std::move(line));
  }
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) outputs.push_back(Store(i, "i"));
  int64_t divisor = window.divisor;
  if (divisor == 0 && window.count_padding) {
    divisor = 1;
    for (const int64_t size : window.kernel) divisor *= size;
  }
  values_.update({{"total", total},
                  {"block", block_},
                  {"index", index},
                  {"type", Type(it.dtype)},
                  {"kernel", pooled.Named(window.kernel, 1)},
                  {"stride", pooled.Named(window.stride, 1)},
                  {"padding", pooled.Named(window.padding, 0)},
                  {"dilation", pooled.Named(window.dilation, 1)},
                  {"in", pooled.Named(pooled.Tail(seen.shape), 1)},
                  {"size", pooled.Named(pooled.Tail(it.shape), 1)},
                  {"maximum", window.maximum},
                  {"identity", window.maximum ? "float(\"-inf\")" : "0"},
                  {"counts", !window.maximum && divisor == 0},
                  {"divisor", divisor},
                  {"pooled", fmt::format("t{}", pool)},
                  {"raw", raw},
                  {"before", before},
                  {"value", value},
                  {"inputs", inputs},
                  {"outputs", outputs},
                  {"lines", lines}});
  return RenderTriton("fused_triton_pool.py", {{"", Up(total, block_)}});
}

}  // namespace hone::fused

#include "base/json.h"
#include "codegen/fused/emit_cpu.h"

namespace hone::fused {

namespace {

constexpr int64_t kPieceElements = 8192;  // least number of output elements per thread

}  // namespace

Status CpuEmitter::Pool() {
  out_.layout = "pool";
  HONE_ASSIGN_OR_RETURN(const PoolWindow pooled, FindWindow());
  const int pool = pooled.instruction;
  const Item& it = *pooled.it;
  const Window& window = it.window;
  const Item& seen = *pooled.seen;
  const Strides& strides = pooled.strides;
  const Json kernel = pooled.Named(window.kernel, 1), size = pooled.Named(pooled.Tail(it.shape), 1);
  const int64_t wide = GetInt(size, "w"), in_wide = seen.shape.back();
  // A row of the output follows its last axis. The domain has no such axis if its length is 1.
  const auto step = [&](const Strides& s) { return wide == 1 ? 0 : s.back(); };
  Json raw = Json::array(), before = Json::array();
  std::string value = "x";
  if (kernel_.before) {
    CpuEmitter inner(program_, *kernel_.before, device_);
    inner.Collapse();
    const int root = kernel_.before->outputs[0].instruction;
    const Printer::Closure maps = inner.printer_.ElementClosure({root});
    // Rows of the input must be whole rows of the collapsed domain.
    if (in_wide > 1 && inner.sizes_.back() % in_wide != 0)
      return Error{ErrorKind::kInternal, "maps before a pooling have other rows"};
    for (const int i : inner.Reads(maps)) {
      const std::string pointer = inner.is_place(i) ? "count()" : InputPointer(inner.at(i).source);
      const std::string place = inner.FromStart(i, Offset(inner.Part(inner.load(i), false), "e"));
      const int64_t step = in_wide == 1 ? 0 : inner.load(i).back();
      if (inner.gathers(i)) {
        inner.printer_.GiveAddress(i, fmt::format("a.{} + ({})", pointer, Moved(place, step)), step);
        continue;
      }
      raw.push_back(inner.Operand(i));
      raw.back().update({{"pointer", pointer}, {"step", step}, {"at", place}});
    }
    for (const int i : maps.statements) before.push_back(inner.printer_.Statement(i));
    value = inner.printer_.Name(root);
  } else {
    std::vector<Step1> steps;
    for (size_t i = 0; i < seen.shape.size(); ++i) steps.push_back({seen.shape[i], strides[i]});
    raw.push_back(
        {{"name", "x"},
         {"ctype", ComputedType(seen.dtype)},
         {"type", StoredType(seen.dtype)},
         {"pointer", InputPointer(at(pool).source)},
         {"step", strides.back()},
         {"at", strides == graph::ContiguousStrides(seen.shape) ? std::string("e") : Offset(steps, "e")}});
  }
  std::vector<int> roots;
  for (const Output& output : kernel_.outputs) roots.push_back(output.instruction);
  const Printer::Closure closure = printer_.ElementClosure(roots);
  Json inputs = Json::array(), outputs = Json::array(), lines = Json::array(), places = Json::array();
  for (const int i : Reads(closure)) {
    if (i == pool) continue;
    places.push_back(
        {{"name", fmt::format("t{}", i)}, {"at", FromStart(i, Offset(Part(load(i), false), "i"))}});
    if (gathers(i)) {
      const std::string place = Moved(fmt::format("w.t{}", i), step(load(i)));
      printer_.GiveAddress(i, fmt::format("a.{} + ({})", InputPointer(at(i).source), place), step(load(i)));
      continue;
    }
    Json input = Operand(i);
    input["step"] = step(load(i));
    inputs.push_back(input);
  }
  for (const int i : closure.statements) lines.push_back(printer_.Statement(i));
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    Json output = StoredOutput(i);
    output["step"] = step(stores_[i]);
    outputs.push_back(output);
    places.push_back({{"name", fmt::format("y{}", i)}, {"at", Offset(Part(stores_[i], false), "i")}});
  }
  int64_t divisor = window.divisor;
  if (divisor == 0 && window.count_padding)
    divisor = GetInt(kernel, "d") * GetInt(kernel, "h") * GetInt(kernel, "w");
  values_.update({{"ctype", ComputedType(it.dtype)},
                  {"kernel", kernel},
                  {"stride", pooled.Named(window.stride, 1)},
                  {"padding", pooled.Named(window.padding, 0)},
                  {"dilation", pooled.Named(window.dilation, 1)},
                  {"in", pooled.Named(pooled.Tail(seen.shape), 1)},
                  {"size", size},
                  {"rows", it.elements() / wide},
                  {"maximum", window.maximum},
                  {"identity", window.maximum ? "(C)-HONE_INF" : "(C)0"},
                  {"divisor", divisor},
                  {"pooled", fmt::format("t{}", pool)},
                  {"raw", raw},
                  {"before", before},
                  {"value", value},
                  {"inputs", inputs},
                  {"outputs", outputs},
                  {"places", places},
                  {"lines", lines},
                  {"piece", std::max<int64_t>(1, kPieceElements / wide)}});
  return RenderCpu("fused_cpu_pool.cpp");
}

}  // namespace hone::fused

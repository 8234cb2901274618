#include "base/json.h"
#include "codegen/fused/emit_cuda.h"

namespace hone::fused {

namespace {

constexpr int64_t kColumnBytes = 32768;  // shared memory for results of the reduction down the windows
constexpr int64_t kMostRows = 24;        // input rows that a thread loads at once
constexpr int64_t kMostRegisters = 80;   // for vectors of rows and their results
constexpr int64_t kTilesOfABlock = 4;    // tiles of one row per block, if tiles are copied ahead

}  // namespace

Status CudaEmitter::Pool() {
  out_.layout = "pool";
  NameGathers();
  HONE_ASSIGN_OR_RETURN(const PoolWindow pooled, FindWindow());
  const int pool = pooled.instruction;
  const Item& it = *pooled.it;
  const Window& window = it.window;
  const Item& seen = *pooled.seen;
  const Strides& strides = pooled.strides;
  const size_t spatial = pooled.spatial;
  const size_t lead = pooled.lead;
  const Json kernel = pooled.Named(window.kernel, 1), stride = pooled.Named(window.stride, 1),
             dilation = pooled.Named(window.dilation, 1), size = pooled.Named(pooled.Tail(it.shape), 1);
  const auto of = [](const Json& json, const char* key) { return GetInt(json, key); };
  const auto span = [&](const char* key, int64_t tile) {
    return (tile - 1) * of(stride, key) + (of(kernel, key) - 1) * of(dilation, key) + 1;
  };
  // The tile is as wide as shared memory and the row allow, and as high as the limit on rows per thread
  // allows. A tile with 1 axis has no neighbouring rows whose loads could overlap, so it is longer.
  const bool copies = spatial == 1 && !kernel_.before && seen.dtype == it.dtype &&
                      strides == graph::ContiguousStrides(seen.shape);
  // Overlapping windows are read several times from the L1 cache, so fewer and wider loads are better. A row
  // must consist of whole vectors.
  const int64_t pack = 16 / graph::BytesOf(seen.dtype), in_w = pooled.Tail(seen.shape).back();
  bool overlaps = false;
  for (const char* axis : {"d", "h", "w"})
    overlaps = overlaps || of(stride, axis) < (of(kernel, axis) - 1) * of(dilation, axis) + 1;
  const bool vectors = spatial > 1 && !kernel_.before && overlaps && pack <= 4 && in_w % pack == 0 &&
                       strides == graph::ContiguousStrides(seen.shape);
  const int64_t vecw = vectors ? pack : 1;
  int64_t tile_h = 1, tile_w = std::min<int64_t>(of(size, "w"), copies ? 2048 : 1024);
  while (tile_w > 32 && span("w", tile_w) > (copies ? 4608 : 2304)) tile_w = Up(tile_w, 2);
  while (tile_h * 2 <= of(size, "h") && span("h", tile_h * 2) <= kMostRows && tile_h < 8 &&
         tile_h * 2 * span("w", tile_w) * 4 <= kColumnBytes &&
         (!vectors || (span("h", tile_h * 2) + tile_h * 2) * vecw <= kMostRegisters))
    tile_h *= 2;
  if (tile_h * span("w", tile_w) * 4 > 49152)
    return Error{ErrorKind::kInternal, "a window is too wide for a block"};
  const int64_t wide = Up(span("w", tile_w) + vecw - 1, vecw);
  const int64_t threads = std::clamp<int64_t>(Up(Up(wide, Up(wide, 288)), 32) * 32, 64, 288);
  std::vector<int> roots;
  for (const Output& output : kernel_.outputs) roots.push_back(output.instruction);
  const Printer::Closure closure = printer_.ElementClosure(roots);
  Json inputs = Json::array(), outputs = Json::array(), lines = Json::array();
  lines.push_back(fmt::format("const {} t{} = pooled;", ComputedType(it.dtype), pool));
  // The loads for an element of the input: the tensor itself, or the operands of the maps before the pooling.
  Json raw = Json::array(), before = Json::array();
  std::string value = "x";
  if (kernel_.before) {
    CudaEmitter inner(program_, *kernel_.before, device_);
    inner.Collapse();
    const int root = kernel_.before->outputs[0].instruction;
    const Printer::Closure maps = inner.printer_.ElementClosure({root});
    inner.NameGathers();
    for (const int i : inner.Reads(maps)) {
      raw.push_back(inner.Operand(i));
      if (!inner.is_place(i)) {
        const std::string pointer = InputPointer(inner.at(i).source);
        raw.back()["pointer"] = inner.gathers(i) ? fmt::format("addresses(a.{})", pointer) : pointer;
      }
      raw.back()["at"] = inner.FromStart(i, Offset(inner.Part(inner.load(i), false), "e"));
    }
    for (const int i : maps.statements) before.push_back(inner.printer_.Statement(i));
    value = inner.printer_.Name(root);
  } else {
    std::vector<Step1> steps;
    for (size_t i = 0; i < seen.shape.size(); ++i) steps.push_back({seen.shape[i], strides[i]});
    raw.push_back({{"name", "x"},
                   {"ctype", ComputedType(seen.dtype)},
                   {"type", StoredType(seen.dtype)},
                   {"pointer", InputPointer(at(pool).source)},
                   {"at", seen.shape.size() == 0 || strides == graph::ContiguousStrides(seen.shape)
                              ? std::string("(long long)e")
                              : Offset(steps, "e")}});
  }
  for (const int i : Reads(closure)) {
    if (i == pool) continue;
    inputs.push_back(Operand(i));
    inputs.back()["at"] = FromStart(i, Offset(Part(load(i), false), "i"));
  }
  for (const int i : closure.statements) lines.push_back(printer_.Statement(i));
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    const Output& output = kernel_.outputs[i];
    const Item& made = program_.at(output.item);
    outputs.push_back({{"name", fmt::format("y{}", i)},
                       {"ctype", ComputedType(made.dtype)},
                       {"type", StoredType(made.dtype)},
                       {"pointer", Pointer(output.item, KernelOperand::Role::kOutput)},
                       {"at", Offset(Part(stores_[i], false), "i")}});
    lines.push_back(fmt::format("y{} = {};", i, printer_.Name(output.instruction)));
  }
  if (copies || vectors) NeedAlignment(GetString(raw.front(), "pointer"), 16);
  int64_t planes = of(size, "d");
  for (size_t i = 0; i < lead; ++i) {
    planes *= seen.shape[i];
  }
  int64_t divisor = window.divisor;
  if (divisor == 0 && window.count_padding) divisor = of(kernel, "d") * of(kernel, "h") * of(kernel, "w");
  values_.update({{"threads", threads},
                  {"tile_h", tile_h},
                  {"tile_w", tile_w},
                  {"vecw", vecw},
                  {"vectors", vectors},
                  {"tiles", copies ? kTilesOfABlock : 1},
                  {"index", IndexType(std::max(it.elements(), seen.elements()))},
                  {"ctype", ComputedType(it.dtype)},
                  {"kernel", kernel},
                  {"stride", stride},
                  {"padding", pooled.Named(window.padding, 0)},
                  {"dilation", dilation},
                  {"in", pooled.Named(pooled.Tail(seen.shape), 1)},
                  {"size", size},
                  {"maximum", window.maximum},
                  {"identity", window.maximum ? "(C)-HONE_INF" : "(C)0"},
                  {"divisor", divisor},
                  {"copies", copies},
                  {"source", raw.front()},
                  {"total", seen.elements()},
                  {"raw", raw},
                  {"before", before},
                  {"value", value},
                  {"inputs", inputs},
                  {"outputs", outputs},
                  {"lines", lines},
                  {"entry", kKernelName}});
  Launch launch;
  launch.entry = kKernelName;
  launch.threads = threads;
  launch.blocks = planes * Up(of(size, "h"), tile_h) * Up(of(size, "w"), tile_w);
  if (copies) launch.blocks = planes * Up(Up(of(size, "w"), tile_w), kTilesOfABlock);
  out_.launches = {launch};
  return Render("fused_pool.cu", {});
}

}  // namespace hone::fused

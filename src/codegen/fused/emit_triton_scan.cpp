#include "base/json.h"
#include "codegen/fused/emit_triton.h"

namespace hone::fused {

namespace {

constexpr int64_t kScanElements = 1024;  // elements that a program processes at a time
constexpr int64_t kScanColumns = 32;

}  // namespace

Status TritonEmitter::Scan() {
  out_.layout = "scan";
  Count();
  int scan = -1;
  for (size_t i = 0; i < kernel_.instructions.size(); ++i)
    if (kernel_.instructions[i].kind == ItemKind::kScan) scan = static_cast<int>(i);
  const Item& it = item(scan);
  const bool sums = it.op == "ReduceSum";
  const DType computed = item(at(scan).args[0]).dtype;
  const int64_t length = PowerAtLeast(length_), rows = PowerAtLeast(rows_);
  if (reduced_.back()) {
    block_ = std::min(length, kScanElements);
    rows_each_ = std::min(rows, kScanElements / block_);
  } else {
    rows_each_ = std::min({rows, PowerAtLeast(sizes_.back()), kScanColumns});
    block_ = std::min(length, kScanElements / rows_each_);
  }
  tile_.mask = "mask";
  HONE_ASSIGN_OR_RETURN(const std::vector<Json> none, RowLines(0));
  (void)none;
  std::vector<int> roots;
  Json outputs = Json::array(), parts = Json::array();
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    roots.push_back(kernel_.outputs[i].instruction);
    outputs.push_back(TileStore(i));
  }
  std::set<int> made;
  for (const bool before : {true, false}) {
    Json inputs = Json::array(), lines = Json::array();
    // An exclusive scan reads one position before the one it writes.
    const bool late = before && it.exclusive;
    HONE_RETURN_IF_ERROR(
        AddElements(printer_.ElementClosure(before ? std::vector<int>{at(scan).args[0]} : roots), &made,
                    &inputs, &lines));
    parts.push_back({{"inputs", inputs}, {"lines", lines}, {"late", late ? 1 : 0}, {"scans", before}});
    if (it.exclusive) made.clear();
  }
  values_.update({{"rows", rows_},
                  {"rows_each", rows_each_},
                  {"length", length_},
                  {"block", block_},
                  {"index", Index()},
                  {"reversed", it.reversed},
                  {"parts", parts},
                  {"outputs", outputs},
                  {"scan",
                   {{"name", fmt::format("t{}", scan)},
                    {"value", Named(at(scan).args[0], true)},
                    {"type", Type(it.dtype)},
                    {"wide", graph::IsFloating(computed) ? "tl.float64" : "tl.int64"},
                    {"identity", sums ? 0 : 1},
                    {"sums", sums}}}});
  return RenderTriton("fused_triton_scan.py", {{"", Up(rows_, rows_each_)}});
}

}  // namespace hone::fused

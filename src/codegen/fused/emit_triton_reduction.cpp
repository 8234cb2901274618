#include <map>

#include "base/json.h"
#include "base/text.h"
#include "codegen/fused/emit_triton.h"

namespace hone::fused {

namespace {

constexpr int64_t kTileElements = 2048;   // elements that a program processes at a time
constexpr int64_t kWholeElements = 8192;  // length of a row that stays in registers
constexpr int64_t kMostTileColumns = 64;  // neighbours that a program reads of each row
constexpr int64_t kMostTritonParts = 512;

// The type in which a reduction computes. Triton reduces integers of at least 32 bits.
DType Reducing(DType dtype) {
  if (dtype == DType::kFloat64 || dtype == DType::kInt64) return dtype;
  return graph::IsFloating(dtype) ? DType::kFloat32 : DType::kInt32;
}

// A bound that no element exceeds.
std::string EdgeOf(const std::string& op, DType dtype) {
  const bool most = op == "ReduceMax" || op == "ReduceArgMax";
  if (!most && op != "ReduceMin" && op != "ReduceArgMin") return "0";
  if (graph::IsFloating(dtype)) return most ? "float(\"-inf\")" : "float(\"inf\")";
  if (dtype == DType::kInt64) return most ? "-9223372036854775808" : "9223372036854775807";
  return most ? "-2147483648" : "2147483647";
}

}  // namespace

const TritonReduction& TritonReductionOf(const std::string& op) {
  static const std::map<std::string, TritonReduction> kReductions = {
      {"ReduceSum", {"sum", 1, {"W"}}},
      {"ReduceProd", {"prod", 1, {"W"}}},
      {"ReduceMax", {"max", 1, {"C"}}},
      {"ReduceMin", {"min", 1, {"C"}}},
      {"ReduceArgMax", {"argmax", 2, {"C", "tl.int64"}}},
      {"ReduceArgMin", {"argmin", 2, {"C", "tl.int64"}}},
      {"ReduceAny", {"any", 1, {"tl.int32"}}},
      {"ReduceAll", {"all", 1, {"tl.int32"}}},
      {"ReduceMoments", {"moments", 4, {"tl.float64", "tl.float64", "tl.float64"}}},
      {"ReduceExps", {"exps", 2, {"C", "tl.float64"}}},
  };
  static const TritonReduction kNone = {"", 0, {}};
  const auto found = kReductions.find(op);
  return found == kReductions.end() ? kNone : found->second;
}

Json TritonEmitter::ReductionValues(int i, int* word) const {
  const TritonReduction& how = TritonReductionOf(item(i).op);
  const int arg = at(i).args[0];
  const DType dtype = Reducing(item(arg).dtype);
  const std::string c = Type(dtype), w = graph::IsFloating(dtype) ? "tl.float64" : "tl.int64";
  std::vector<std::string> lanes, states, parts;
  Json components = Json::array();
  for (int k = 0; k < how.lanes; ++k) lanes.push_back(fmt::format("a{}_{}", i, k));
  for (size_t k = 0; k < how.words.size(); ++k) {
    const std::string type = how.words[k];
    states.push_back(fmt::format("r{}_{}", i, k));
    parts.push_back(fmt::format("q{}_{}", i, k));
    components.push_back({{"number", (*word)++},
                          {"type", type == "C"   ? c
                                   : type == "W" ? w
                                                 : type},
                          {"state", states.back()},
                          {"part", parts.back()}});
  }
  return {{"kind", how.kind},
          {"lanes", Join(lanes, ", ")},
          {"states", Join(states, ", ")},
          {"parts", Join(parts, ", ")},
          {"components", components},
          {"types", fmt::format("{}, {}, {}", c, w, EdgeOf(item(i).op, dtype))},
          {"value", Named(arg, true)}};
}

void TritonEmitter::ChooseTile(bool whole) {
  const int64_t length = PowerAtLeast(length_), rows = PowerAtLeast(rows_);
  if (reduced_.back()) {
    block_ = std::min(length, whole ? kWholeElements : kTileElements);
    rows_each_ = std::min(rows, std::max<int64_t>(1, kTileElements / 2 / block_));
    return;
  }
  rows_each_ = std::min({rows, PowerAtLeast(sizes_.back()), kMostTileColumns});
  block_ = std::min(length, std::max<int64_t>(1, kTileElements / rows_each_));
}

Status TritonEmitter::Reduction() {
  out_.layout = reduced_.back() ? "row" : "column";
  Count();
  const std::vector<std::vector<int>> stages = Stages();
  const auto [element_outputs, row_outputs] = OutputsByKind();
  for (const std::vector<int>& stage : stages)
    for (const int i : stage)
      if (*TritonReductionOf(item(i).op).kind == '\0')
        return Error{ErrorKind::kInternal, item(i).op + " is not written in Triton"};
  ChooseTile(true);
  const bool loops = block_ < length_;
  if (loops) ChooseTile(false);
  tile_.mask = "mask";
  const int64_t tiles = Up(rows_, rows_each_), steps = Up(length_, block_);
  int64_t parts = 1;
  if (tiles < 2 * device_.processors && steps >= 8)
    parts = std::clamp<int64_t>(Up(4 * device_.processors, tiles), 1, std::min(steps / 4, kMostTritonParts));
  const int64_t chunk = Up(steps, parts) * block_;
  parts = Up(length_, chunk);
  const bool split = parts > 1;

  int words = 0;
  std::set<int> made;  // of a row in registers, by an earlier stage
  Json stage_values = Json::array();
  for (const std::vector<int>& stage : stages) {
    Json reductions = Json::array(), inputs = Json::array(), lines = Json::array();
    std::vector<int> roots;
    for (const int i : stage) {
      reductions.push_back(ReductionValues(i, &words));
      roots.push_back(at(i).args[0]);
    }
    if (loops) made.clear();
    HONE_RETURN_IF_ERROR(AddElements(printer_.ElementClosure(roots), &made, &inputs, &lines));
    stage_values.push_back({{"reductions", reductions}, {"inputs", inputs}, {"lines", lines}});
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<Json> conclusions, RowLines(stages.size()));
  for (size_t k = 0; k < stages.size(); ++k) stage_values[k]["conclusions"] = conclusions[k];
  Json last_inputs = Json::array(), last_lines = Json::array(), outputs = Json::array(),
       row_values = Json::array();
  std::vector<int> roots;
  for (const int i : element_outputs) roots.push_back(kernel_.outputs[static_cast<size_t>(i)].instruction);
  if (loops) made.clear();
  HONE_RETURN_IF_ERROR(AddElements(printer_.ElementClosure(roots), &made, &last_inputs, &last_lines));
  for (const int i : element_outputs) outputs.push_back(TileStore(static_cast<size_t>(i)));
  for (const int i : row_outputs) row_values.push_back(RowStore(static_cast<size_t>(i)));

  Json phases = Json::array();
  std::vector<TritonLaunch> launches;
  for (size_t k = split ? 0 : stages.size(); k <= stages.size(); ++k) {
    Json joined = Json::array(), computed = split ? Json::array() : stage_values;
    for (size_t j = 0; split && j < k; ++j) joined.push_back(stage_values[j]);
    if (split && k < stages.size()) computed.push_back(stage_values[k]);
    // The last stage has nothing to divide if it writes only rows.
    const bool divided = split && (k < stages.size() || !element_outputs.empty());
    launches.push_back({split ? fmt::format("_{}", k) : "", divided ? tiles * parts : tiles});
    phases.push_back({{"suffix", launches.back().suffix},
                      {"divided", divided},
                      {"joined", joined},
                      {"computed", computed},
                      {"writes", k == stages.size()}});
  }
  if (split) Scratch("scratch", words * rows_ * parts * 8);
  values_.update({{"rows", rows_},
                  {"rows_each", rows_each_},
                  {"length", length_},
                  {"block", block_},
                  {"index", Index()},
                  {"loops", loops},
                  {"deeper", loops ? "    " : ""},
                  {"split", split},
                  {"parts", parts},
                  {"parts_each", PowerAtLeast(parts)},
                  {"chunk", chunk},
                  {"phases", phases},
                  {"last", {{"inputs", last_inputs}, {"lines", last_lines}}},
                  {"outputs", outputs},
                  {"row_outputs", row_values}});
  return RenderTriton("fused_triton_row.py", launches);
}

}  // namespace hone::fused

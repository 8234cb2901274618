#include "base/json.h"
#include "codegen/fused/emit_cpu.h"

namespace hone::fused {

namespace {

constexpr int64_t kPartBytes = 262144;  // bytes per part of a divided row
constexpr int64_t kMostParts = 256;
constexpr int64_t kMostColumns = 256;    // columns per tile
constexpr int64_t kTileBytes = 131072;   // bytes per tile if columns are read more than once
constexpr int64_t kLaneStateBytes = 64;  // the largest reduction state of part_fused_cpu.cpp, per lane
constexpr int64_t kMostLanes = 16;
constexpr int64_t kKeptElements = 16384;  // elements of a row of exponentials
constexpr size_t kManyStatements = 6;     // with more statements, fewer vectors are computed together

}  // namespace

void CpuEmitter::AddStage(Json* stages, size_t number, const std::vector<int>& reductions,
                          const Printer::Closure& closure) {
  Json inputs = Json::array(), lines = Json::array(), listed = Json::array();
  for (const int i : closure.loads) inputs.push_back(Operand(i));
  for (const int i : closure.statements) lines.push_back(printer_.Statement(i));
  for (const int i : reductions) {
    const int arg = at(i).args[0];
    listed.push_back(
        {{"name", fmt::format("r{}", i)}, {"ctype", ComputedType(item(arg).dtype)}, {"type", item(i).op}});
    lines.push_back(fmt::format("e_r{} = {};", i, printer_.Name(arg)));
  }
  stages->push_back({{"number", number},
                     {"inputs", inputs},
                     {"lines", lines},
                     {"reductions", listed},
                     {"conclusions", Json::array()}});
}

Json CpuEmitter::LastStage(const std::vector<int>& outputs) {
  std::vector<int> roots;
  for (const int i : outputs) roots.push_back(kernel_.outputs[static_cast<size_t>(i)].instruction);
  const Printer::Closure closure = printer_.ElementClosure(roots);
  Json inputs = Json::array(), lines = Json::array();
  for (const int i : closure.loads)
    if (at(i).kind == ItemKind::kTensor || is_place(i)) inputs.push_back(Operand(i));
  for (const int i : closure.statements) lines.push_back(printer_.Statement(i));
  return {{"inputs", inputs}, {"lines", lines}};
}

std::vector<Json> CpuEmitter::RowValues(size_t stages, const std::string& row) {
  Json scalars = Json::array(), operands = Json::array();
  std::vector<Json> lines(stages + 1, Json::array());
  for (size_t n = 0; n < kernel_.instructions.size(); ++n) {
    const int i = static_cast<int>(n);
    const Instruction& it = at(i);
    if (!it.per_row || it.kind == ItemKind::kNumber || it.kind == ItemKind::kReduce) continue;
    scalars.push_back({{"ctype", printer_.Type(i)}, {"name", fmt::format("t{}", i)}});
    if (it.kind == ItemKind::kTensor || is_place(i)) {
      operands.push_back(RowOperand(i, row));
      continue;
    }
    lines[static_cast<size_t>(it.ready)].push_back(printer_.Statement(i));
  }
  values_["scalars"] = scalars;
  values_["row_operands"] = operands;
  values_["row_lines"] = lines[0];
  return {lines.begin() + 1, lines.end()};
}

int CpuEmitter::KeepExponentials(const std::vector<std::vector<int>>& stages) {
  if (column_ || length_ != sizes_.back() || length_ > kKeptElements) return -1;
  for (size_t i = 0; i < kernel_.instructions.size(); ++i) {
    const int map = static_cast<int>(i);
    if (at(map).kind != ItemKind::kMap || item(map).op != "Exp($0) * $1") continue;
    const int below = at(map).args[0];
    if (at(below).kind != ItemKind::kMap || item(below).op != "$0 - $1") continue;
    const int most = at(below).args[1];
    if (at(most).kind != ItemKind::kField || item(most).op != "most()") continue;
    const int reduction = at(most).args[0];
    if (item(reduction).op != "ReduceExps" || at(reduction).args[0] != at(below).args[0] ||
        item(at(below).args[0]).dtype == DType::kFloat64)
      continue;
    const size_t stage = static_cast<size_t>(at(reduction).ready) - 1;
    if (stages[stage].size() != 1 || !at(at(map).args[1]).per_row) continue;
    printer_.Give(map, "kept * " + printer_.Name(at(map).args[1]));
    return reduction;
  }
  return -1;
}

Status CpuEmitter::Reduction() {
  column_ = !reduced_.back();
  out_.layout = column_ ? "column" : "row";
  if (column_) printer_.RowsAreVectors();
  Count();
  if (length_ >= kMostIndex) return Error{ErrorKind::kInternal, "a reduction is too long"};
  const std::string row = column_ ? "o" : "row", along = column_ ? "r" : "q";
  NameGathers(row);
  const std::vector<std::vector<int>> stages = Stages();
  const auto kinds = OutputsByKind();
  const std::vector<int>&element_outputs = kinds.first, &row_outputs = kinds.second;
  const int kept = KeepExponentials(stages);
  std::set<int> used;
  Json stage_values = Json::array();
  size_t statements = 0;
  for (size_t k = 0; k < stages.size(); ++k) {
    std::vector<int> roots;
    for (const int reduction : stages[k]) roots.push_back(at(reduction).args[0]);
    const Printer::Closure closure = printer_.ElementClosure(roots);
    for (const int i : Reads(closure)) used.insert(i);
    statements = std::max(statements, closure.statements.size());
    AddStage(&stage_values, k, stages[k], closure);
    stage_values[k]["keeps"] = stages[k][0] == kept;
    stage_values[k]["reads_kept"] = kept >= 0 && static_cast<int>(k) >= at(kept).ready;
  }
  const std::vector<Json> conclusions = RowValues(stages.size(), row);
  for (size_t k = 0; k < stages.size(); ++k) stage_values[k]["conclusions"] = conclusions[k];
  values_["last"] = LastStage(element_outputs);
  Json outputs = Json::array(), row_values = Json::array(), places = Json::array();
  for (const int i : element_outputs) {
    const Output& output = kernel_.outputs[static_cast<size_t>(i)];
    for (const int read : Reads(printer_.ElementClosure({output.instruction}))) used.insert(read);
    outputs.push_back(StoredOutput(static_cast<size_t>(i)));
    places.push_back(PlaceOf(fmt::format("y{}", i), stores_[static_cast<size_t>(i)], row, along));
  }
  for (const int i : used) {
    if (at(i).kind == ItemKind::kWindow)
      return Error{ErrorKind::kInternal, "a window inside a reduction has no emitter"};
    places.push_back(PlaceOfRead(i, row, along));
  }
  for (const int i : row_outputs) {
    const Output& output = kernel_.outputs[static_cast<size_t>(i)];
    const Strides& strides = stores_[static_cast<size_t>(i)];
    Json value = StoredOutput(static_cast<size_t>(i));
    value["at"] = Offset(column_ ? Outer(strides, false) : Part(strides, false), row);
    value["value"] = printer_.RowName(output.instruction);
    row_values.push_back(value);
  }
  const int64_t element_bytes = static_cast<int64_t>(BytesOfElement(used));
  const int64_t row_bytes = std::max<int64_t>(1, length_ * element_bytes);
  const bool once = stages.size() == 1 && element_outputs.empty();
  const int64_t outer = column_ ? rows_ / sizes_.back() : rows_;
  // Columns per tile: as many as the cache holds, or many if each is read once.
  const int64_t columns =
      column_ ? std::clamp<int64_t>(once ? kMostColumns : kTileBytes / row_bytes, 16, kMostColumns) : 1;
  const int64_t units = column_ ? outer * Up(sizes_.back(), columns) : rows_;
  const int64_t unit_bytes = column_ ? row_bytes * std::min(columns, sizes_.back()) : row_bytes;
  int64_t parts = 1;
  if (units < 2 * device_.processors && unit_bytes >= 2 * kPartBytes && kept < 0)
    parts = std::clamp<int64_t>(unit_bytes / kPartBytes, 1, kMostParts);
  const int64_t chunk = Up(Up(length_, parts), 64) * 64;
  parts = Up(length_, chunk);
  const bool split = parts > 1;
  Json phases = Json::array();
  if (split) {
    for (size_t k = 0; k < stages.size(); ++k) {
      const int64_t states = column_ ? outer * Up(sizes_.back(), kMostLanes) * kMostLanes : rows_;
      Scratch(fmt::format("scratch{}", k),
              states * parts * static_cast<int64_t>(stages[k].size()) * kLaneStateBytes);
    }
    for (size_t k = 0; k <= stages.size(); ++k) {
      Json before = Json::array();
      for (size_t j = 0; j < k; ++j) before.push_back(stage_values[j]);
      const bool writes = k == stages.size();
      phases.push_back({{"number", k},
                        {"before", before},
                        {"writes", writes},
                        {"parts", writes && element_outputs.empty() ? 1 : parts},
                        {"piece", 1}});
    }
  } else {
    phases.push_back({{"number", stages.size()},
                      {"before", stage_values},
                      {"writes", true},
                      {"parts", 1},
                      {"piece", std::max<int64_t>(1, kPieceBytes / unit_bytes)}});
  }
  values_.update({{"length", length_},
                  {"inner", sizes_.back()},
                  {"rows", rows_},
                  {"outer", outer},
                  {"tile", columns},
                  {"parts", parts},
                  {"chunk", chunk},
                  {"batch", statements > kManyStatements ? 4 : 8},
                  {"piece", std::max<int64_t>(1, kPieceBytes / row_bytes)},
                  {"split", split},
                  {"keeps", kept >= 0},
                  {"phases", phases},
                  {"places", places},
                  {"stages", stage_values},
                  {"outputs", outputs},
                  {"row_outputs", row_values},
                  {"writes_elements", !element_outputs.empty()}});
  return RenderCpu(column_ ? "fused_cpu_column.cpp" : "fused_cpu_row.cpp");
}

}  // namespace hone::fused

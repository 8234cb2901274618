#include "base/json.h"
#include "codegen/fused/emit_cuda.h"

namespace hone::fused {

Status CudaEmitter::Reduction() {
  const size_t inner = sizes_.size() - 1;
  const bool column = !reduced_[inner];
  out_.layout = column ? "column" : "row";
  NameGathers();
  Count();
  // Reductions by stage, and what the written elements need.
  const std::vector<std::vector<int>> stages = Stages();
  const auto kinds = OutputsByKind();
  const std::vector<int>&element_outputs = kinds.first, &row_outputs = kinds.second;
  std::set<int> used;
  std::vector<Printer::Closure> closures;
  for (const std::vector<int>& stage : stages) {
    std::vector<int> roots;
    for (const int reduction : stage) roots.push_back(at(reduction).args[0]);
    closures.push_back(printer_.ElementClosure(roots));
  }
  std::vector<int> roots;
  for (const int i : element_outputs) roots.push_back(kernel_.outputs[static_cast<size_t>(i)].instruction);
  closures.push_back(printer_.ElementClosure(roots));
  int64_t held_bytes = 0;
  size_t states = 0;
  for (const Printer::Closure& closure : closures)
    for (const int i : Reads(closure)) used.insert(i);
  for (const int i : used) {
    if (at(i).kind == ItemKind::kWindow)
      return Error{ErrorKind::kInternal, "a window inside a reduction has no emitter"};
    if (Streams(i)) held_bytes += graph::BytesOf(item(i).dtype);
  }
  for (const std::vector<int>& stage : stages) states = std::max(states, stage.size());
  layout_.vec = VectorAlong(inner, false);
  const bool streams_once = stages.size() == 1 && element_outputs.empty();
  if (column)
    ChooseColumn(streams_once, held_bytes, states);
  else
    ChooseRow(streams_once, held_bytes, states);
  const Layout& l = layout_;
  // Rows are divided into parts. A block of the writing launch takes the same part of several rows, so that
  // values common to all rows (a layer norm's weight and bias) are loaded once for them.
  const auto same_for_rows = [&](int i) {
    for (size_t d = 0; d < sizes_.size(); ++d)
      if (!reduced_[d] && sizes_[d] > 1 && load(i)[d] != 0) return false;
    return true;
  };
  const std::vector<int>& written_from = closures.back().loads;
  const bool several = !column && l.split && rows_ > 1 && !element_outputs.empty() &&
                       std::any_of(written_from.begin(), written_from.end(), same_for_rows);
  const int64_t rows_together = several ? std::min<int64_t>(4, rows_) : 1;
  const auto keeps = [&](int i) {
    return Streams(i) || (several && same_for_rows(i) && at(i).kind == ItemKind::kTensor);
  };

  const auto operand = [&](int i, const std::string& from) {
    const Strides& strides = loads_[static_cast<size_t>(i)];
    Json read = Operand(i);
    const bool row = InRow(i, inner, l.vec);
    if (row)
      NeedAlignment(GetString(read, "pointer"), std::min<int64_t>(16, l.vec * graph::BytesOf(item(i).dtype)));
    read.update({{"row", row},
                 {"window", ""},
                 {"first_piece", 0},
                 {"step", strides[inner]},
                 {"at", Offset(Part(strides, true), "r")},
                 {"from", from}});
    return read;
  };
  const auto held_name = [&](int i, const std::string& index) {
    return keeps(i) ? fmt::format("held[{}].t{}", index, i)
                    : fmt::format("f_{}{}", gathers(i) ? "b" : "t", i);
  };
  Json held = Json::array(), places = Json::array();
  int64_t pieces = 0;
  for (const int i : used) {
    places.push_back({{"name", fmt::format("{}{}", gathers(i) ? "b" : "t", i)},
                      {"at", FromStart(i, Offset(Part(load(i), false), "row"))}});
    if (!keeps(i)) continue;
    held.push_back(operand(i, ""));
    held.back()["same"] = several && same_for_rows(i);
    held.back()["first_piece"] = pieces;
    pieces += l.vec * graph::BytesOf(item(i).dtype) / 16;
  }
  Json scalars = Json::array(), row_operands = Json::array(), row_lines = Json::array();
  std::vector<Json> conclusions(stages.size(), Json::array());
  for (size_t n = 0; n < kernel_.instructions.size(); ++n) {
    const int i = static_cast<int>(n);
    const Instruction& it = at(i);
    if (!it.per_row || it.kind == ItemKind::kNumber || it.kind == ItemKind::kReduce) continue;
    scalars.push_back({{"ctype", ComputedType(item(i).dtype)}, {"name", fmt::format("t{}", i)}});
    if (it.kind == ItemKind::kTensor || is_place(i)) {
      row_operands.push_back(Operand(i));
      row_operands.back()["at"] = FromStart(i, Offset(Part(load(i), false), "row"));
      continue;
    }
    const std::string line = printer_.Statement(i);
    (it.ready == 0 ? row_lines : conclusions[static_cast<size_t>(it.ready) - 1]).push_back(line);
  }
  const std::string in_take = column ? "u" : "u0 + g";
  const auto lines_of = [&](const Printer::Closure& closure) {
    Json lines = Json::array();
    for (const int i : closure.statements) lines.push_back(printer_.Statement(i));
    return lines;
  };
  Json stage_values = Json::array();
  for (size_t k = 0; k < stages.size(); ++k) {
    Json inputs = Json::array(), fresh = Json::array(), reductions = Json::array(),
         lines = lines_of(closures[k]);
    for (const int i : Reads(closures[k])) {
      inputs.push_back(operand(i, held_name(i, in_take)));
      if (!keeps(i)) fresh.push_back(inputs.back());
    }
    for (const int i : stages[k]) {
      const std::string type = printer_.Type(at(i).args[0]);
      reductions.push_back({{"name", fmt::format("r{}", i)},
                            {"ctype", type},
                            {"type", fmt::format("{}<{}>", item(i).op, type)}});
      lines.push_back(fmt::format("e_r{} = {};", i, printer_.Name(at(i).args[0])));
    }
    stage_values.push_back({{"number", k},
                            {"inputs", inputs},
                            {"fresh", fresh},
                            {"reductions", reductions},
                            {"lines", lines},
                            {"conclusions", conclusions[k]},
                            {"first", k == 0},
                            {"combine", false},
                            {"scratch", false}});
  }
  Json last = {{"inputs", Json::array()}, {"fresh", Json::array()}, {"lines", lines_of(closures.back())}};
  for (const int i : Reads(closures.back())) {
    last["inputs"].push_back(operand(i, held_name(i, "u")));
    if (!keeps(i)) last["fresh"].push_back(last["inputs"].back());
  }
  Json outputs = Json::array(), row_values = Json::array();
  for (const int i : element_outputs) {
    const Output& output = kernel_.outputs[static_cast<size_t>(i)];
    const Item& it = program_.at(output.item);
    const Strides& strides = stores_[static_cast<size_t>(i)];
    const std::string name = fmt::format("y{}", i);
    outputs.push_back({{"name", name},
                       {"ctype", ComputedType(it.dtype)},
                       {"type", StoredType(it.dtype)},
                       {"pointer", Pointer(output.item, KernelOperand::Role::kOutput)},
                       {"row", SideBySide(strides, inner, l.vec)},
                       {"step", strides[inner]},
                       {"at", Offset(Part(strides, true), "r")}});
    places.push_back({{"name", name}, {"at", Offset(Part(strides, false), "row")}});
    last["lines"].push_back(fmt::format("{} = {};", name, printer_.Name(output.instruction)));
  }
  for (const int i : row_outputs) {
    const Output& output = kernel_.outputs[static_cast<size_t>(i)];
    const Item& it = program_.at(output.item);
    row_values.push_back({{"pointer", Pointer(output.item, KernelOperand::Role::kOutput)},
                          {"at", Offset(Part(stores_[static_cast<size_t>(i)], false), "row")},
                          {"ctype", ComputedType(it.dtype)},
                          {"type", StoredType(it.dtype)},
                          {"value", printer_.Name(output.instruction)}});
  }
  // One launch, or one for each stage and one for the output.
  Json entries = Json::array();
  const int64_t row_blocks = column ? rows_ / l.inner * l.tiles : Up(rows_, l.threads / l.lanes);
  struct EntryShape {
    int64_t parts, per, chunk, rows = 1;
  };
  const auto add_entry = [&](const std::string& name, const EntryShape& shape, Json entry_stages,
                             bool writes) {
    entries.push_back({{"name", name},
                       {"parts", shape.parts},
                       {"per", shape.per},
                       {"chunk", CountLiteral(shape.chunk)},
                       {"rows", shape.rows},
                       {"several", shape.rows > 1},
                       {"stages", std::move(entry_stages)},
                       {"writes", writes}});
    Launch launch;
    launch.entry = name;
    launch.blocks = Up(row_blocks, shape.rows) * shape.parts;
    launch.threads = l.threads;
    launch.cluster = l.cluster ? l.parts : 1;
    launch.resident = l.cache == "shared";
    if (launch.resident) launch.shared_bytes = l.per * pieces * 16 * l.threads;
    out_.launches.push_back(launch);
  };
  // The launch of a stage loads only that stage's operands.
  const auto entry_shape = [&](size_t k) {
    EntryShape shape{l.parts, l.per, l.chunk};
    if (column) return shape;
    const bool writes = k == stages.size();
    if (writes && element_outputs.empty()) shape.parts = 1;
    if (writes && several) {
      shape.rows = rows_together;
      shape.chunk = Up(length_ / l.vec, l.parts * rows_together) * l.vec;
      shape.parts = Up(length_, shape.chunk);
    }
    int64_t bytes = 0;
    for (const int i : closures[k].loads)
      if (keeps(i)) bytes += graph::BytesOf(item(i).dtype) * (same_for_rows(i) ? 1 : shape.rows);
    shape.per = std::clamp<int64_t>(64 / std::max<int64_t>(1, l.vec * bytes), 1, 8);
    return shape;
  };
  if (l.split) {
    for (size_t k = 0; k < stages.size(); ++k) {
      Scratch(fmt::format("scratch{}", k),
              rows_ * l.parts * static_cast<int64_t>(stages[k].size()) * kStateBytes);
    }
    for (size_t k = 0; k <= stages.size(); ++k) {
      Json own = Json::array();
      for (size_t j = 0; j <= k && j < stages.size(); ++j) {
        Json stage = stage_values[j];
        stage["combine"] = j < k;
        stage["scratch"] = j == k;
        own.push_back(stage);
      }
      const bool writes = k == stages.size();
      add_entry(fmt::format("{}_{}", kKernelName, k), entry_shape(k), own, writes);
    }
  } else {
    add_entry(kKernelName, {column ? 1 : l.parts, l.per, l.chunk}, stage_values, true);
  }
  values_.update({{"threads", l.threads},
                  {"lanes", l.lanes},
                  {"vec", l.vec},
                  {"per", l.per},
                  {"parts", l.parts},
                  {"group", l.group},
                  {"chunk", CountLiteral(l.chunk)},
                  {"cache", l.cache},
                  {"cluster", l.cluster},
                  {"inner", CountLiteral(l.inner)},
                  {"tiles", CountLiteral(l.tiles)},
                  {"min_blocks", l.blocks           ? l.blocks
                                 : l.threads >= 512 ? 1
                                                    : 0},
                  {"whole_block", l.lanes > 32},
                  {"held_pieces", pieces},
                  {"index", IndexType(length_)},
                  {"row_index", IndexType(rows_)},
                  {"length", CountLiteral(length_)},
                  {"rows", CountLiteral(rows_)},
                  {"held", held},
                  {"places", places},
                  {"scalars", scalars},
                  {"row_operands", row_operands},
                  {"row_lines", row_lines},
                  {"stages", stage_values},
                  {"last", last},
                  {"outputs", outputs},
                  {"row_outputs", row_values},
                  {"writes_elements", !element_outputs.empty()},
                  {"entry", kKernelName},
                  {"entries", entries}});
  if (column) return Render("fused_column.cu", {{"stages_text", "part_fused_stages.cu"}});
  return Render(l.cache == "shared" ? "fused_row_resident.cu" : "fused_row.cu",
                {{"stages_text", "part_fused_stages.cu"}, {"row_text", "part_fused_row.cu"}});
}

}  // namespace hone::fused

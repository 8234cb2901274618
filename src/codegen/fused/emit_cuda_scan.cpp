#include "base/json.h"
#include "codegen/fused/emit_cuda.h"

namespace hone::fused {

Status CudaEmitter::Scan() {
  const size_t inner = sizes_.size() - 1;
  const bool column = !reduced_[inner];
  out_.layout = "scan";
  NameGathers();
  Count();
  int scan = -1;
  for (size_t i = 0; i < kernel_.instructions.size(); ++i)
    if (kernel_.instructions[i].kind == ItemKind::kScan) scan = static_cast<int>(i);
  const Item& it = item(scan);
  const bool sums = it.op == "ReduceSum";
  const int64_t vec = VectorAlong(inner, false);
  const Printer::Closure before = printer_.ElementClosure({at(scan).args[0]});
  std::vector<int> roots;
  for (const Output& output : kernel_.outputs) roots.push_back(output.instruction);
  const Printer::Closure after = printer_.ElementClosure(roots);
  std::set<int> used;
  for (const Printer::Closure* closure : {&before, &after})
    for (const int i : Reads(*closure)) used.insert(i);
  used.erase(scan);
  Json held = Json::array(), places = Json::array();
  int64_t held_bytes = 0;
  const auto operand = [&](int i, const std::string& from) {
    const Strides& strides = loads_[static_cast<size_t>(i)];
    Json read = Operand(i);
    const bool row = InRow(i, inner, vec);
    if (row)
      NeedAlignment(GetString(read, "pointer"), std::min<int64_t>(16, vec * graph::BytesOf(item(i).dtype)));
    read.update(
        {{"row", row}, {"step", strides[inner]}, {"at", Offset(Part(strides, true), "r")}, {"from", from}});
    return read;
  };
  for (const int i : used) {
    if (at(i).kind == ItemKind::kWindow || at(i).kind == ItemKind::kScan)
      return Error{ErrorKind::kInternal, "a scan reads what is no tensor"};
    places.push_back({{"name", fmt::format("{}{}", gathers(i) ? "b" : "t", i)},
                      {"at", FromStart(i, Offset(Part(load(i), false), "row"))}});
    if (!Streams(i)) continue;
    held.push_back(operand(i, ""));
    held_bytes += graph::BytesOf(item(i).dtype);
  }
  const auto part_of = [&](const Printer::Closure& closure) {
    Json inputs = Json::array(), fresh = Json::array(), lines = Json::array();
    for (const int i : Reads(closure)) {
      if (i == scan) {
        const char* type = ComputedType(it.dtype);
        inputs.push_back(
            {{"name", fmt::format("t{}", i)}, {"ctype", type}, {"type", type}, {"from", "scanned"}});
        continue;
      }
      const bool streams = Streams(i);
      inputs.push_back(operand(i, streams ? fmt::format("held[u].t{}.v[j]", i)
                                          : fmt::format("f_{}{}.v[0]", gathers(i) ? "b" : "t", i)));
      if (!streams) fresh.push_back(inputs.back());
    }
    for (const int i : closure.statements) lines.push_back(printer_.Statement(i));
    return Json{{"inputs", inputs}, {"fresh", fresh}, {"lines", lines}};
  };
  Json stage = part_of(before), last = part_of(after), outputs = Json::array();
  values_["pre"] = stage;
  const std::string type = printer_.Type(at(scan).args[0]);
  stage.update(
      {{"number", 0},
       {"reductions",
        Json::array({Json{{"name", "scan"}, {"ctype", type}, {"type", fmt::format("{}<{}>", it.op, type)}}})},
       {"conclusions", Json::array()}});
  stage["lines"].push_back("e_scan = " + printer_.Name(at(scan).args[0]) + ";");
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    const Output& output = kernel_.outputs[i];
    const Item& made = program_.at(output.item);
    const std::string name = fmt::format("y{}", i);
    outputs.push_back({{"name", name},
                       {"ctype", ComputedType(made.dtype)},
                       {"type", StoredType(made.dtype)},
                       {"pointer", Pointer(output.item, KernelOperand::Role::kOutput)},
                       {"row", SideBySide(stores_[i], inner, vec)},
                       {"step", stores_[i][inner]},
                       {"at", Offset(Part(stores_[i], true), "r")}});
    places.push_back({{"name", name}, {"at", Offset(Part(stores_[i], false), "row")}});
    last["lines"].push_back(fmt::format("{} = {};", name, printer_.Name(output.instruction)));
  }
  Json scalars = Json::array(), row_operands = Json::array(), row_lines = Json::array();
  for (size_t n = 0; n < kernel_.instructions.size(); ++n) {
    const int i = static_cast<int>(n);
    if (!at(i).per_row || at(i).kind == ItemKind::kNumber) continue;
    scalars.push_back({{"ctype", ComputedType(item(i).dtype)}, {"name", fmt::format("t{}", i)}});
    if (at(i).kind == ItemKind::kTensor || is_place(i)) {
      row_operands.push_back(Operand(i));
      row_operands.back()["at"] = FromStart(i, Offset(Part(load(i), false), "row"));
    } else {
      row_lines.push_back(printer_.Statement(i));
    }
  }
  held_bytes = std::max<int64_t>(1, held_bytes);
  const int64_t threads = column ? 128 : std::clamp<int64_t>(PowerAtLeast(Up(length_ / vec, 4)), 32, 256);
  const int64_t per = column ? std::clamp<int64_t>(64 / (vec * held_bytes), 2, 8)
                             : std::clamp<int64_t>(Up(length_ / vec, threads), 1,
                                                   std::clamp<int64_t>(64 / (vec * held_bytes), 1, 4));
  // A few long rows are divided and read twice, because one processor has a small share of the memory's rate.
  const int64_t tile = threads * vec * per;
  int64_t parts = 1;
  if (!column && rows_ < device_.processors && length_ * held_bytes > 65536)
    parts = std::clamp<int64_t>(Up(2 * device_.processors, rows_), 1, Up(length_, 2 * tile));
  const int64_t chunk = Up(Up(length_, parts), tile) * tile;
  parts = Up(length_, chunk);
  const bool split = parts > 1;
  if (split) Scratch("scratch0", rows_ * parts * kStateBytes);
  const std::string identity = sums ? "0" : "1";
  values_.update({{"threads", threads},
                  {"vec", vec},
                  {"per", per},
                  {"parts", parts},
                  {"chunk", CountLiteral(chunk)},
                  {"split", split},
                  {"floats", sums && type == "float"},
                  {"reversed", it.reversed ? 1 : 0},
                  {"exclusive", it.exclusive ? 1 : 0},
                  {"index", IndexType(length_)},
                  {"row_index", IndexType(rows_)},
                  {"length", CountLiteral(length_)},
                  {"rows", CountLiteral(rows_)},
                  {"inner", CountLiteral(column ? sizes_.back() : 1)},
                  {"held", held},
                  {"places", places},
                  {"scalars", scalars},
                  {"row_operands", row_operands},
                  {"row_lines", row_lines},
                  {"stages", Json::array({stage})},
                  {"last", last},
                  {"outputs", outputs},
                  {"row_outputs", Json::array()},
                  {"writes_elements", true},
                  {"entry", kKernelName},
                  {"scan",
                   {{"element", type},
                    {"ctype", !column && !sums && type == "float" ? "double" : type},
                    {"sign", sums ? "+" : "*"},
                    {"identity", identity}}}});
  Launch launch;
  launch.entry = kKernelName;
  launch.threads = threads;
  launch.blocks = column ? Up(rows_ / vec, threads) : rows_ * parts;
  if (split) {
    Launch first = launch;
    first.entry += "_sums";
    out_.launches.push_back(first);
  }
  out_.launches.push_back(launch);
  return Render(column ? "fused_scan_column.cu" : "fused_scan_row.cu",
                {{"stages_text", "part_fused_stages.cu"}});
}

}  // namespace hone::fused

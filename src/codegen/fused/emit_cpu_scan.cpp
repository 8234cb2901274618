#include "base/json.h"
#include "codegen/fused/emit_cpu.h"

namespace hone::fused {

Status CpuEmitter::Scan() {
  column_ = !reduced_.back();
  out_.layout = "scan";
  if (column_) printer_.RowsAreVectors();
  Count();
  const std::string row = "row", along = "r";
  NameGathers(row);
  int scan = -1;
  for (size_t i = 0; i < kernel_.instructions.size(); ++i)
    if (kernel_.instructions[i].kind == ItemKind::kScan) scan = static_cast<int>(i);
  const Item& it = item(scan);
  const std::string type = ComputedType(item(at(scan).args[0]).dtype), result = ComputedType(it.dtype);
  const bool sums = it.op == "ReduceSum";
  std::vector<int> written;
  std::set<int> used;
  Json outputs = Json::array(), places = Json::array(), stages = Json::array();
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    written.push_back(static_cast<int>(i));
    const Printer::Closure closure = printer_.ElementClosure({kernel_.outputs[i].instruction});
    for (const int read : Reads(closure)) used.insert(read);
    outputs.push_back(StoredOutput(i));
    places.push_back(PlaceOf(fmt::format("y{}", i), stores_[i], row, along));
  }
  const Printer::Closure before = printer_.ElementClosure({at(scan).args[0]});
  for (const int read : Reads(before)) used.insert(read);
  used.erase(scan);
  for (const int i : used) {
    if (at(i).kind == ItemKind::kWindow || at(i).kind == ItemKind::kScan)
      return Error{ErrorKind::kInternal, "a scan reads what is no tensor"};
    places.push_back(PlaceOfRead(i, row, along));
  }
  AddStage(&stages, 0, {}, before);
  values_["keeps"] = stages[0]["reads_kept"] = false;
  stages[0]["reductions"] = Json::array({Json{{"name", "scan"}, {"ctype", type}, {"type", it.op}}});
  stages[0]["lines"].push_back(fmt::format("e_scan = {};", printer_.Name(at(scan).args[0])));
  RowValues(0, row);
  values_["last"] = LastStage(written);
  const int64_t row_bytes = length_ * static_cast<int64_t>(BytesOfElement(used));
  values_.update(
      {{"column", column_},
       {"length", length_},
       {"inner", sizes_.back()},
       {"rows", rows_},
       {"piece", std::max<int64_t>(1, kPieceBytes / row_bytes)},
       {"reversed", it.reversed},
       {"exclusive", it.exclusive},
       {"places", places},
       {"stages", stages},
       {"outputs", outputs},
       {"writes_elements", false},
       {"scan",
        {{"name", fmt::format("t{}", scan)},
         {"ctype", type},
         {"otype", result},
         {"sums", sums},
         {"fast", sums && type == "float" && result == "float" && !it.reversed && !it.exclusive}}}});
  return RenderCpu("fused_cpu_scan.cpp");
}

}  // namespace hone::fused

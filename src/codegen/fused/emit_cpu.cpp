#include "codegen/fused/emit_cpu.h"

#include <numeric>

#include "base/template.h"
#include "codegen/candidate_text.h"

namespace hone::fused {

namespace {

constexpr int64_t kPieceStep =
    64;  // elements: a piece begins at a multiple of this, where a vector may begin

}  // namespace

std::vector<Step1> CpuEmitter::Outer(const Strides& strides, bool reduced) const {
  std::vector<Step1> steps;
  for (size_t d = 0; d + 1 < sizes_.size(); ++d)
    if (reduced_[d] == reduced) steps.push_back({sizes_[d], strides[d]});
  return steps;
}

Json CpuEmitter::Operand(int i) {
  return {{"name", fmt::format("t{}", i)},
          {"ctype", ComputedType(item(i).dtype)},
          {"type", is_place(i) ? "long long" : StoredType(item(i).dtype)},
          {"pointer", is_place(i) ? "count()" : InputPointer(at(i).source)},
          {"step", load(i).back()}};
}

void CpuEmitter::NameGathers(const std::string& row) {
  for (size_t n = 0; n < kernel_.instructions.size(); ++n) {
    const int i = static_cast<int>(n);
    if (!gathers(i)) continue;
    const int64_t step = load(i).back();
    std::string place = Moved(fmt::format("w.t{}", i), step);
    if (at(i).per_row) {
      place = FromStart(i, Offset(column_ ? Outer(load(i), false) : Part(load(i), false), row));
      if (column_) place = Moved(place, step);
    }
    printer_.GiveAddress(i, fmt::format("a.{} + ({})", InputPointer(at(i).source), place), step);
  }
}

Json CpuEmitter::RowOperand(int i, const std::string& row) {
  Json operand = Operand(i);
  operand["at"] = FromStart(i, Offset(column_ ? Outer(load(i), false) : Part(load(i), false), row));
  return operand;
}

Json CpuEmitter::StoredOutput(size_t number) {
  const Output& output = kernel_.outputs[number];
  const Item& it = program_.at(output.item);
  const Strides& strides = stores_[number];
  int64_t common = 0;
  for (size_t d = 0; d + 1 < strides.size(); ++d) common = std::gcd(common, strides[d]);
  return {{"name", fmt::format("y{}", number)},
          {"ctype", ComputedType(it.dtype)},
          {"type", StoredType(it.dtype)},
          {"pointer", Pointer(output.item, KernelOperand::Role::kOutput)},
          {"step", strides.back()},
          {"stream", fmt::format("{} % kLanes == 0 && kOutputBytes > cache_bytes", common)},
          {"value", printer_.Name(output.instruction)}};
}

Json CpuEmitter::PlaceOf(const std::string& name, const Strides& strides, const std::string& row,
                         const std::string& q) const {
  return {{"name", name},
          {"at", Offset(column_ ? Outer(strides, false) : Part(strides, false), row)},
          {"outer", Offset(column_ ? Part(strides, true) : Outer(strides, true), q)}};
}

Json CpuEmitter::PlaceOfRead(int i, const std::string& row, const std::string& q) const {
  Json place = PlaceOf(fmt::format("t{}", i), load(i), row, q);
  place["at"] = FromStart(i, GetString(place, "at"));
  return place;
}

double CpuEmitter::BytesOfElement(const std::set<int>& loads) const {
  double bytes = 0;
  for (const int i : loads)
    if (at(i).kind == ItemKind::kTensor &&
        2 * program_.at(at(i).item).elements() >= graph::ElementsOf(kernel_.domain))
      bytes += static_cast<double>(graph::BytesOf(item(i).dtype));
  for (const Output& output : kernel_.outputs)
    if (2 * program_.at(output.item).elements() >= graph::ElementsOf(kernel_.domain))
      bytes += static_cast<double>(graph::BytesOf(program_.at(output.item).dtype));
  return std::max(1.0, bytes);
}

int64_t CpuEmitter::OutputBytes() const {
  int64_t bytes = 0;
  for (const Output& output : kernel_.outputs)
    bytes += program_.at(output.item).elements() * graph::BytesOf(program_.at(output.item).dtype);
  return bytes;
}

Status CpuEmitter::RenderCpu(const std::string& name) {
  values_["output_bytes"] = OutputBytes();
  values_["entry"] = kKernelName;
  Launch launch;
  launch.entry = kKernelName;
  out_.launches = {launch};
  std::map<std::string, std::string> parts = {{"kernel_text", "part_fused_cpu_kernel.cpp"}};
  if (values_.contains("stages")) parts["stages_text"] = "part_fused_cpu_stages.cpp";
  return Render(name, parts);
}

Status CpuEmitter::Pointwise() {
  out_.layout = "pointwise";
  const int64_t total = graph::ElementsOf(sizes_);
  std::vector<int> roots;
  for (const Output& output : kernel_.outputs) roots.push_back(output.instruction);
  const Printer::Closure closure = printer_.ElementClosure(roots);
  Json inputs = Json::array(), outputs = Json::array(), lines = Json::array(), places = Json::array();
  NameGathers("");
  for (const int i : Reads(closure)) {
    if (!gathers(i)) inputs.push_back(Operand(i));
    places.push_back(
        {{"name", fmt::format("t{}", i)}, {"at", FromStart(i, Offset(Outer(load(i), false), "o"))}});
  }
  for (const int i : closure.statements) lines.push_back(printer_.Statement(i));
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    outputs.push_back(StoredOutput(i));
    places.push_back({{"name", fmt::format("y{}", i)}, {"at", Offset(Outer(stores_[i], false), "o")}});
  }
  const double bytes = BytesOfElement({closure.loads.begin(), closure.loads.end()});
  const int64_t piece =
      static_cast<int64_t>(static_cast<double>(kPieceBytes) / bytes) / kPieceStep * kPieceStep;
  values_.update({{"total", total},
                  {"inner", sizes_.back()},
                  {"piece", std::max(piece, kPieceStep)},
                  {"inputs", inputs},
                  {"outputs", outputs},
                  {"places", places},
                  {"lines", lines}});
  return RenderCpu("fused_cpu_pointwise.cpp");
}

}  // namespace hone::fused

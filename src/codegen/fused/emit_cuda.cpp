#include "codegen/fused/emit_cuda.h"

#include "base/json.h"
#include "base/template.h"
#include "codegen/candidate_text.h"

namespace hone::fused {

int64_t CudaEmitter::VectorAlong(size_t d, bool any_length) const {
  int64_t smallest = 8;
  for (size_t i = 0; i < kernel_.instructions.size(); ++i)
    if (Streams(static_cast<int>(i)))
      smallest = std::min(smallest, graph::BytesOf(item(static_cast<int>(i)).dtype));
  for (size_t i = 0; i < stores_.size(); ++i)
    if (stores_[i][d] != 0)
      smallest = std::min(smallest, graph::BytesOf(program_.at(kernel_.outputs[i].item).dtype));
  int64_t vec = std::min<int64_t>(8, 16 / smallest);
  const auto limit = [&](const Strides& strides, int64_t start = 0) {
    if (strides[d] != 1) return;
    while (start % vec != 0) vec /= 2;
    for (size_t other = 0; other < sizes_.size(); ++other)
      if (other != d)
        while (strides[other] % vec != 0) vec /= 2;
  };
  while (!any_length && sizes_[d] % vec != 0) vec /= 2;
  for (size_t i = 0; i < loads_.size(); ++i)
    if (!loads_[i].empty() && Streams(static_cast<int>(i))) limit(loads_[i], kernel_.instructions[i].start);
  for (const Strides& strides : stores_) limit(strides);
  return std::max<int64_t>(1, vec);
}

Json CudaEmitter::Operand(int i) {
  const char* type = StoredType(item(i).dtype);
  if (is_place(i))
    return {{"name", fmt::format("t{}", i)},
            {"ctype", ComputedType(item(i).dtype)},
            {"type", "long long"},
            {"pointer", "count()"}};
  const std::string pointer = InputPointer(at(i).source);
  if (gathers(i))
    return {{"name", fmt::format("b{}", i)},
            {"ctype", fmt::format("Address<{}>", type)},
            {"type", fmt::format("Address<{}>", type)},
            {"pointer", fmt::format("addresses(a.{})", pointer)}};
  return {{"name", fmt::format("t{}", i)},
          {"ctype", ComputedType(item(i).dtype)},
          {"type", type},
          {"pointer", pointer}};
}

void CudaEmitter::NameGathers() {
  for (size_t n = 0; n < kernel_.instructions.size(); ++n) {
    const int i = static_cast<int>(n);
    if (!gathers(i)) continue;
    if (at(i).per_row)
      printer_.GiveAddress(i, fmt::format("a.{} + ({})", InputPointer(at(i).source),
                                          FromStart(i, Offset(Part(load(i), false), "row"))));
    else
      printer_.GiveAddress(i, fmt::format("b{}", i));
  }
}

Json CudaEmitter::MapOutput(size_t i, bool has_inputs, Json* lines) {
  const Output& output = kernel_.outputs[i];
  const DType dtype = program_.at(output.item).dtype;
  lines->push_back(fmt::format("y{} = {};", i, printer_.Name(output.instruction)));
  return {{"name", fmt::format("y{}", i)},
          {"ctype", ComputedType(dtype)},
          {"type", StoredType(dtype)},
          {"pointer", Pointer(output.item, KernelOperand::Role::kOutput)},
          {"comma", has_inputs || i > 0}};
}

Status CudaEmitter::Pointwise() {
  out_.layout = "pointwise";
  NameGathers();
  const int64_t total = graph::ElementsOf(sizes_);
  const size_t inner = sizes_.size() - 1;
  const bool flat = sizes_.size() == 1;
  const int64_t vec = VectorAlong(inner, flat);
  const bool ragged = total % vec != 0;
  std::vector<int> roots;
  for (const Output& output : kernel_.outputs) roots.push_back(output.instruction);
  const Printer::Closure closure = printer_.ElementClosure(roots);
  if (const std::optional<size_t> far = FarAxis(Reads(closure)))
    return Tiled(*far, Reads(closure), closure.statements);
  Json inputs = Json::array(), outputs = Json::array(), lines = Json::array();
  int64_t streamed = 0;
  for (const int i : Reads(closure)) {
    const Item& it = item(i);
    const bool row = InRow(i, inner, vec);
    Json input = Operand(i);
    if (row)
      NeedAlignment(GetString(input, "pointer"), std::min<int64_t>(16, vec * graph::BytesOf(it.dtype)));
    if (load(i)[inner] != 0 && !is_place(i)) streamed += graph::BytesOf(it.dtype);
    input.update({{"row", row},
                  {"step", load(i)[inner]},
                  {"at", FromStart(i, Offset(Part(load(i), false), "i"))},
                  {"whole", at(i).start == 0 && load(i) == graph::ContiguousStrides(sizes_)},
                  {"window", ""}});
    inputs.push_back(input);
  }
  for (const int i : closure.statements) lines.push_back(printer_.Statement(i));
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    Json output = MapOutput(i, !inputs.empty(), &lines);
    output.update({{"row", SideBySide(stores_[i], inner, vec)},
                   {"step", stores_[i][inner]},
                   {"at", Offset(Part(stores_[i], false), "i")}});
    outputs.push_back(output);
  }
  // Each thread processes one vector at a time: the block scheduler uses the memory better than unrolling
  // does.
  const int64_t unroll = std::clamp<int64_t>(16 / std::max<int64_t>(1, streamed * vec), 1, 4);
  const int64_t threads = 256;
  values_.update({{"threads", threads},
                  {"unroll", unroll},
                  {"vec", vec},
                  {"index", IndexType(total)},
                  {"total", CountLiteral(total)},
                  {"inputs", inputs},
                  {"outputs", outputs},
                  {"lines", lines},
                  {"ragged", ragged},
                  {"entry", kKernelName}});
  Launch launch;
  launch.entry = kKernelName;
  launch.threads = threads;
  launch.blocks = Up(total, threads * unroll * vec);
  out_.launches = {launch};
  HONE_RETURN_IF_ERROR(Render("fused_pointwise.cu", {{"compute_text", "part_fused_compute.cu"}}));
  for (const int i : Reads(closure))
    if (gathers(i) || is_place(i)) return Ok();
  if (kernel_.outputs.size() != 1 || program_.at(kernel_.outputs[0].item).dtype != DType::kFloat32 ||
      stores_[0] != graph::ContiguousStrides(sizes_))
    return Ok();
  HONE_ASSIGN_OR_RETURN(const std::string_view chain, TemplateText("conv_chain.cu"));
  HONE_ASSIGN_OR_RETURN(out_.chain, RenderTemplate(chain, values_).WithContext("conv_chain.cu"));
  return Ok();
}

}  // namespace hone::fused

#include "codegen/fused/emit.h"

#include "base/template.h"
#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/fused/emit_cpu.h"
#include "codegen/fused/emit_cuda.h"
#include "codegen/fused/emit_triton.h"

namespace hone::fused {

Result<KernelText> Emitter::Run() {
  Collapse();
  values_["about"] = About();
  bool pools = false;
  for (const Instruction& it : kernel_.instructions) pools = pools || it.kind == ItemKind::kWindow;
  Status made = Ok();
  if (pools)
    made = Pool();
  else if (kernel_.scans)
    made = Scan();
  else if (std::find(reduced_.begin(), reduced_.end(), true) == reduced_.end())
    made = Pointwise();
  else
    made = Reduction();
  if (!made.ok()) return std::move(made).error();
  for (const Launch& launch : out_.launches)
    if (launch.blocks >= kMostIndex) return Error{ErrorKind::kInternal, "a launch has too many blocks"};
  out_.about = GetString(values_, "about");
  for (const KernelOperand& operand : out_.operands)
    if (operand.role != KernelOperand::Role::kScratch) out_.bytes += Bytes(operand);
  return std::move(out_);
}

// A gather reads at most as many elements as there are points.
double Emitter::Bytes(const KernelOperand& operand) const {
  const Item& it = program_.at(operand.item);
  bool whole = operand.role != KernelOperand::Role::kInput;
  for (const Instruction& read : kernel_.instructions) {
    if (read.kind == ItemKind::kGather || read.source < 0) continue;
    const Item& source = program_.at(read.source);
    whole = whole || read.source == operand.item ||
            (source.kind == ItemKind::kTensor && it.kind == ItemKind::kTensor && source.value == it.value);
  }
  const int64_t elements = whole ? it.elements() : std::min(it.elements(), graph::ElementsOf(kernel_.domain));
  return static_cast<double>(elements * graph::BytesOf(it.dtype));
}

std::string Emitter::About() const {
  std::vector<std::string> words;
  for (const Instruction& it : kernel_.instructions) {
    const Item& item = program_.at(it.item);
    if (it.kind == ItemKind::kReduce) words.push_back(item.op);
    if (it.kind == ItemKind::kWindow)
      words.push_back(item.window.maximum ? "max pooling" : "average pooling");
  }
  size_t maps = 0;
  for (const Instruction& it : kernel_.instructions) maps += it.kind == ItemKind::kMap ? 1 : 0;
  words.push_back(fmt::format("{} maps", maps));
  std::string domain;
  for (size_t d = 0; d < kernel_.domain.size(); ++d)
    domain += fmt::format("{}{}{}", d == 0 ? "" : " x ", kernel_.domain[d], kernel_.reduced[d] ? "'" : "");
  return Join(words, ", ") + " over " + domain;
}

Json PoolWindow::Named(const std::vector<int64_t>& values, int64_t missing) const {
  Json out = Json::object();
  const char* names[] = {"d", "h", "w"};
  for (size_t i = 0; i < 3; ++i) out[names[i]] = i + spatial < 3 ? missing : values[i + spatial - 3];
  return out;
}

std::vector<int64_t> PoolWindow::Tail(const std::vector<int64_t>& values) const {
  return {values.begin() + static_cast<std::ptrdiff_t>(lead), values.end()};
}

Result<PoolWindow> Emitter::FindWindow() const {
  PoolWindow found;
  for (size_t i = 0; i < kernel_.instructions.size(); ++i)
    if (kernel_.instructions[i].kind == ItemKind::kWindow) {
      if (found.instruction >= 0)
        return Error{ErrorKind::kInternal, "a kernel with two windows has no emitter"};
      found.instruction = static_cast<int>(i);
    }
  found.it = &item(found.instruction);
  found.seen = &program_.at(found.it->args[0]);
  const bool in_memory = program_.at(at(found.instruction).source).kind == ItemKind::kTensor;
  found.strides = in_memory ? found.seen->strides : graph::ContiguousStrides(found.seen->shape);
  found.spatial = found.it->window.kernel.size();
  found.lead = found.seen->shape.size() - found.spatial;
  return found;
}

void Emitter::Collapse() {
  std::vector<Strides*> all;
  loads_.resize(kernel_.instructions.size());
  for (size_t i = 0; i < kernel_.instructions.size(); ++i) {
    loads_[i] = kernel_.instructions[i].strides;
    if (!loads_[i].empty()) all.push_back(&loads_[i]);
  }
  for (const Output& output : kernel_.outputs) stores_.push_back(output.strides);
  for (Strides& strides : stores_) all.push_back(&strides);
  sizes_ = kernel_.domain;
  reduced_ = kernel_.reduced;
  bool windows = false;
  for (const Instruction& it : kernel_.instructions) windows = windows || it.kind == ItemKind::kWindow;
  for (size_t d = sizes_.size(); d-- > 0;) {
    if (sizes_[d] == 1 && sizes_.size() > 1) {
      Drop(d, all);
      continue;
    }
    if (d + 1 >= sizes_.size() || reduced_[d] != reduced_[d + 1] || windows) continue;
    bool merges = true;
    for (const Strides* strides : all) merges = merges && (*strides)[d] == (*strides)[d + 1] * sizes_[d + 1];
    if (!merges) continue;
    sizes_[d + 1] *= sizes_[d];
    Drop(d, all);
  }
}

void Emitter::Drop(size_t d, const std::vector<Strides*>& all) {
  const auto at = static_cast<std::ptrdiff_t>(d);
  sizes_.erase(sizes_.begin() + at);
  reduced_.erase(reduced_.begin() + at);
  for (Strides* strides : all) strides->erase(strides->begin() + at);
}

std::vector<std::vector<int>> Emitter::Stages() const {
  std::vector<std::vector<int>> stages;
  for (size_t i = 0; i < kernel_.instructions.size(); ++i)
    if (kernel_.instructions[i].kind == ItemKind::kReduce) {
      const size_t stage = static_cast<size_t>(kernel_.instructions[i].ready) - 1;
      if (stages.size() <= stage) stages.resize(stage + 1);
      stages[stage].push_back(static_cast<int>(i));
    }
  return stages;
}

std::pair<std::vector<int>, std::vector<int>> Emitter::OutputsByKind() const {
  std::pair<std::vector<int>, std::vector<int>> out;
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    bool by_element = false;
    for (size_t d = 0; d < sizes_.size(); ++d)
      by_element = by_element || (reduced_[d] && sizes_[d] > 1 && stores_[i][d] != 0);
    (by_element ? out.first : out.second).push_back(static_cast<int>(i));
  }
  return out;
}

Status Emitter::Render(const std::string& name, const std::map<std::string, std::string>& parts) {
  Json pointers = Json::array();
  for (size_t i = 0; i < out_.operands.size(); ++i) {
    const KernelOperand& operand = out_.operands[i];
    const std::string type =
        operand.role == KernelOperand::Role::kScratch ? "void" : StoredType(program_.at(operand.item).dtype);
    pointers.push_back({{"type", operand.role == KernelOperand::Role::kInput ? "const " + type : type},
                        {"name", operand.role == KernelOperand::Role::kScratch ? scratch_names_[i]
                                                                               : fmt::format("p{}", i)}});
  }
  values_["pointers"] = pointers;
  for (const auto& [value, part] : parts) {
    HONE_ASSIGN_OR_RETURN(const std::string_view text, TemplateText(part));
    HONE_ASSIGN_OR_RETURN(values_[value], RenderTemplate(text, values_).WithContext(part));
  }
  HONE_ASSIGN_OR_RETURN(const std::string_view text, TemplateText(name));
  HONE_ASSIGN_OR_RETURN(out_.source, RenderTemplate(text, values_).WithContext(name));
  return Ok();
}

Result<KernelText> EmitKernel(Language language, const Program& program, const Kernel& kernel,
                              const EmitterDevice& device) {
  if (language == Language::kCpp) return CpuEmitter(program, kernel, device).Run();
  if (language == Language::kTriton) return TritonEmitter(program, kernel, device).Run();
  return CudaEmitter(program, kernel, device).Run();
}

}  // namespace hone::fused

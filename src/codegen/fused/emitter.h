// The common part of all emitters: operands, offsets, the collapsed domain. Each language has a derived class
// (emit_cuda.h, emit_cpu.h) with one function per layout.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "codegen/fused/emit.h"
#include "codegen/fused/print.h"

namespace hone::fused {

inline constexpr int64_t kMostIndex = int64_t{1} << 31;

inline int64_t Up(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}
inline int64_t PowerAtLeast(int64_t value) {
  int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

// The window of a pooling kernel and its input. Windows have up to three axes: d, h and w.
struct PoolWindow {
  int instruction = -1;
  const Item* it = nullptr;      // the pooling
  const Item* seen = nullptr;    // the input of the window
  Strides strides;               // strides of `seen`
  size_t spatial = 0, lead = 0;  // number of window axes, and of axes before them

  // Returns one number for each of d, h and w. An axis that the window lacks gets `missing`.
  Json Named(const std::vector<int64_t>& values, int64_t missing) const;
  // Returns only the window's axes.
  std::vector<int64_t> Tail(const std::vector<int64_t>& values) const;
};

class Emitter {
 public:
  Emitter(Language language, const Program& program, const Kernel& kernel, const EmitterDevice& device)
      : program_(program), kernel_(kernel), device_(device), printer_(language, program, kernel) {}
  virtual ~Emitter() = default;

  Result<KernelText> Run();

 protected:
  virtual Status Pointwise() = 0;
  virtual Status Reduction() = 0;
  virtual Status Scan() = 0;
  virtual Status Pool() = 0;

  const Instruction& at(int i) const { return kernel_.instructions[static_cast<size_t>(i)]; }
  const Item& item(int i) const { return program_.at(at(i).item); }
  const Strides& load(int i) const { return loads_[static_cast<size_t>(i)]; }
  double Bytes(const KernelOperand& operand) const;
  bool gathers(int i) const { return at(i).kind == ItemKind::kGather; }
  bool is_place(int i) const { return at(i).kind == ItemKind::kPlace; }
  // Adds the start of the instruction's operand to an offset.
  std::string FromStart(int i, const std::string& offset) const {
    if (at(i).start == 0) return offset;
    return offset == "0" ? std::to_string(at(i).start) : fmt::format("{} + {}", offset, at(i).start);
  }
  // The operands that a closure reads: its loads, and the gathers among its statements.
  std::vector<int> Reads(const Printer::Closure& closure) const {
    std::vector<int> reads = closure.loads;
    for (const int i : closure.statements)
      if (gathers(i)) reads.push_back(i);
    return reads;
  }

  Result<PoolWindow> FindWindow() const;

  // Merges neighbouring axes that every operand traverses with one stride.
  void Collapse();
  void Drop(size_t d, const std::vector<Strides*>& all);
  // Sets length_ (product of reduced sizes) and rows_ (product of the other sizes) of the collapsed domain.
  void Count() {
    for (size_t d = 0; d < sizes_.size(); ++d) (reduced_[d] ? length_ : rows_) *= sizes_[d];
  }

  std::string Pointer(ItemId item, KernelOperand::Role role) {
    const auto [found, is_new] = pointers_.try_emplace({item, static_cast<int>(role)}, out_.operands.size());
    if (is_new) {
      KernelOperand operand;
      operand.role = role;
      operand.item = item;
      operand.align = graph::BytesOf(program_.at(item).dtype);
      out_.operands.push_back(operand);
    }
    return fmt::format("p{}", found->second);
  }
  // Inputs that are the same tensor under different views share one operand.
  std::string InputPointer(ItemId source) {
    const Item& it = program_.at(source);
    if (it.kind == ItemKind::kTensor) {
      const auto [found, is_new] = tensors_.try_emplace(it.value, source);
      (void)is_new;
      source = found->second;
    }
    return Pointer(source, KernelOperand::Role::kInput);
  }
  // Adds scratch memory under the name that the template uses.
  void Scratch(const std::string& name, int64_t bytes) {
    scratch_names_[out_.operands.size()] = name;
    KernelOperand operand;
    operand.role = KernelOperand::Role::kScratch;
    operand.bytes = bytes;
    out_.operands.push_back(operand);
  }

  std::vector<Step1> Part(const Strides& strides, bool reduced) const {
    std::vector<Step1> steps;
    for (size_t d = 0; d < sizes_.size(); ++d)
      if (reduced_[d] == reduced) steps.push_back({sizes_[d], strides[d]});
    return steps;
  }
  static std::string CountLiteral(int64_t count) {
    return fmt::format("{}{}", count, count < kMostIndex ? "u" : "ull");
  }

  // Groups reductions by stage.
  std::vector<std::vector<int>> Stages() const;
  // Returns outputs that are written element by element, and those that are written once per row.
  std::pair<std::vector<int>, std::vector<int>> OutputsByKind() const;

  std::string About() const;
  // Templates in `parts` are rendered first. Each becomes the value PART_text.
  Status Render(const std::string& name, const std::map<std::string, std::string>& parts);

  const Program& program_;
  const Kernel& kernel_;
  const EmitterDevice& device_;
  Printer printer_;
  KernelText out_;
  Json values_ = Json::object();
  Shape sizes_;
  std::vector<bool> reduced_;
  std::vector<Strides> loads_, stores_;
  std::map<std::pair<ItemId, int>, size_t> pointers_;
  std::map<ValueId, ItemId> tensors_;
  std::map<size_t, std::string> scratch_names_;
  int64_t length_ = 1, rows_ = 1;
};

}  // namespace hone::fused

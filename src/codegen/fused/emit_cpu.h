// Kernels as C++ for a CPU, with the vectors of templates/part_fused_cpu.cpp. How wide a vector is, is known
// only where the file is compiled (kLanes); nothing here depends on it. One file per layout: emit_cpu.cpp
// (pointwise), emit_cpu_reduction.cpp, emit_cpu_scan.cpp, emit_cpu_pool.cpp.
#pragma once

#include "base/json_fwd.h"
#include "codegen/fused/emitter.h"

namespace hone::fused {

inline constexpr int64_t kPieceBytes = 65536;  // what is worth handing to a thread

class CpuEmitter : public Emitter {
 public:
  CpuEmitter(const Program& program, const Kernel& kernel, const EmitterDevice& device)
      : Emitter(Language::kCpp, program, kernel, device) {}

 private:
  Status Pointwise() override;
  Status Reduction() override;
  Status Scan() override;
  Status Pool() override;

  // The steps of the kept or the reduced axes without the innermost axis of all, along which vectors lie.
  std::vector<Step1> Outer(const Strides& strides, bool reduced) const;
  // A load of neighbours along the innermost axis.
  Json Operand(int i);
  // The place in an operand of reads that move along the innermost axis.
  static std::string Moved(const std::string& place, int64_t step) {
    return step == 0 ? place : fmt::format("{} + i * {}", place, step);
  }
  // Where gathers find their elements: `row` names the row, "" where no value is one of a row.
  void NameGathers(const std::string& row);
  // A value that is the same along a row.
  Json RowOperand(int i, const std::string& row);
  // An output element by element; `named` is where it is written.
  Json StoredOutput(size_t number);
  // Where an operand lies for row `row` (an expression), and how far from there for reduced index `q`.
  Json PlaceOf(const std::string& name, const Strides& strides, const std::string& row,
               const std::string& q) const;
  Json PlaceOfRead(int i, const std::string& row, const std::string& q) const;
  void AddStage(Json* stages, size_t number, const std::vector<int>& reductions,
                const Printer::Closure& closure);
  // Loads, lines and values for the elements that are written.
  Json LastStage(const std::vector<int>& outputs);
  // A softmax whose rows are short: its exponentials wait in a buffer until their sum is known, because
  // computing them twice takes longer. The reduction's number, or -1.
  int KeepExponentials(const std::vector<std::vector<int>>& stages);
  // Row operands, lines of a row before and after stages; `row` names the row.
  std::vector<Json> RowValues(size_t stages, const std::string& row);
  double BytesOfElement(const std::set<int>& loads) const;
  int64_t OutputBytes() const;
  Status RenderCpu(const std::string& name);

  bool column_ = false;
};

}  // namespace hone::fused

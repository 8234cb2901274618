// Kernels as C++ for a CPU, with the vectors of templates/part_fused_cpu.cpp. The width of a vector (kLanes)
// is known only when the file is compiled, so this code does not depend on it. There is one file per layout:
// emit_cpu.cpp (pointwise), emit_cpu_reduction.cpp, emit_cpu_scan.cpp, emit_cpu_pool.cpp.
#pragma once

#include "base/json_fwd.h"
#include "codegen/fused/emitter.h"

namespace hone::fused {

inline constexpr int64_t kPieceBytes = 65536;  // least work per thread

class CpuEmitter : public Emitter {
 public:
  CpuEmitter(const Program& program, const Kernel& kernel, const EmitterDevice& device)
      : Emitter(Language::kCpp, program, kernel, device) {}

 private:
  Status Pointwise() override;
  Status Reduction() override;
  Status Scan() override;
  Status Pool() override;

  // The steps of the kept or reduced axes, without the innermost axis, which vectors follow.
  std::vector<Step1> Outer(const Strides& strides, bool reduced) const;
  // A load of neighbours along the innermost axis.
  Json Operand(int i);
  // The offset of reads that move along the innermost axis.
  static std::string Moved(const std::string& place, int64_t step) {
    return step == 0 ? place : fmt::format("{} + i * {}", place, step);
  }
  // Names the addresses of gathers. `row` names the row, or is "" if no value belongs to a row.
  void NameGathers(const std::string& row);
  // A value that is constant along a row.
  Json RowOperand(int i, const std::string& row);
  // An output that is written element by element. `named` names its place.
  Json StoredOutput(size_t number);
  // The offset of an operand for row `row` (an expression), and from there for reduced index `q`.
  Json PlaceOf(const std::string& name, const Strides& strides, const std::string& row,
               const std::string& q) const;
  Json PlaceOfRead(int i, const std::string& row, const std::string& q) const;
  void AddStage(Json* stages, size_t number, const std::vector<int>& reductions,
                const Printer::Closure& closure);
  // Loads, lines and values for the elements that are written.
  Json LastStage(const std::vector<int>& outputs);
  // For a softmax with short rows: keeps its exponentials in a buffer until their sum is known, because
  // computing them twice takes longer. Returns the reduction's number, or -1.
  int KeepExponentials(const std::vector<std::vector<int>>& stages);
  // Row operands, and the lines of a row before and after stages. `row` names the row.
  std::vector<Json> RowValues(size_t stages, const std::string& row);
  double BytesOfElement(const std::set<int>& loads) const;
  int64_t OutputBytes() const;
  Status RenderCpu(const std::string& name);

  bool column_ = false;
};

}  // namespace hone::fused

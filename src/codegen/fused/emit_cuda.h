// Kernels as CUDA C++. There is one file per layout: emit_cuda.cpp (pointwise), emit_cuda_tiled.cpp,
// emit_cuda_reduction.cpp with emit_cuda_layout.cpp, emit_cuda_scan.cpp, emit_cuda_pool.cpp.
#pragma once

#include <optional>

#include "base/json_fwd.h"
#include "codegen/fused/emitter.h"

namespace hone::fused {

inline constexpr int64_t kRegisterBytes = 128;  // bytes of a row that one thread keeps
inline constexpr int64_t kStateBytes =
    32;  // the largest reduction state of part_fused.cu; used to size scratch memory

class CudaEmitter : public Emitter {
 public:
  CudaEmitter(const Program& program, const Kernel& kernel, const EmitterDevice& device)
      : Emitter(Language::kCuda, program, kernel, device) {}

 private:
  Status Pointwise() override;
  Status Reduction() override;
  Status Scan() override;
  Status Pool() override;

  void NeedAlignment(const std::string& pointer, int64_t bytes) {
    KernelOperand& operand = out_.operands[static_cast<size_t>(std::stoi(pointer.substr(1)))];
    operand.align = std::max(operand.align, bytes);
  }
  // How many neighbours along axis `d` one access may take: a power of two that divides the axis's length
  // and, for operands with stride 1 there, every other stride.
  int64_t VectorAlong(size_t d, bool any_length) const;
  // True for a load that differs between rows and along them. These loads dominate the memory traffic.
  bool Streams(int i) const {
    if (at(i).kind != ItemKind::kTensor || at(i).per_row) return false;
    const int64_t elements = program_.at(at(i).item).elements();
    return 2 * elements >= graph::ElementsOf(kernel_.domain) || elements >= kMostIndex / 1024;
  }
  bool SideBySide(const Strides& strides, size_t d, int64_t vec) const {
    if (strides[d] != 1) return false;
    for (size_t other = 0; other < sizes_.size(); ++other)
      if (other != d && strides[other] % vec != 0) return false;
    return true;
  }
  static std::string IndexType(int64_t count) {
    return count < kMostIndex ? "unsigned int" : "unsigned long long";
  }

  // The operand's part of a load: its name, types and pointer. For a gather it is the address that the index
  // is added to, for a place the number itself.
  Json Operand(int i);
  // The result's part of a store in a map, and the map's line that computes it.
  Json MapOutput(size_t i, bool has_inputs, Json* lines);
  // True if elements have stride 1 along axis `d` and start at a multiple of the vector length.
  bool InRow(int i, size_t d, int64_t vec) const {
    return at(i).kind == ItemKind::kTensor && at(i).start % vec == 0 && SideBySide(load(i), d, vec);
  }
  // Names what all elements of a row gather, and what each element gathers.
  void NameGathers();

  // emit_cuda_tiled.cpp
  std::optional<size_t> FarAxis(const std::vector<int>& reads) const;
  Status Tiled(size_t p, const std::vector<int>& reads, const std::vector<int>& statements);

  // emit_cuda_layout.cpp
  bool ChooseResident(int64_t held_bytes);
  void ChooseRow(bool streams_once, int64_t held_bytes, size_t stages);
  void ChooseColumn(bool streams_once, int64_t held_bytes, size_t states);

  struct Layout {
    bool column = false;
    int64_t threads = 256, lanes = 256, vec = 1, per = 1, parts = 1, group = 1, chunk = 0;
    std::string cache = "none";  // or "registers", "shared"
    bool cluster = false, split = false;
    int64_t inner = 1, tiles = 1;
    int64_t blocks = 0;  // blocks that share a processor, if the layout depends on it
  };
  Layout layout_;
};

}  // namespace hone::fused

// Kernels as Triton. A program has a tile: elements (pointwise, pooling), or rows of the kept axes by
// elements of the reduced ones; reductions along any axis and scans share that. Triton lays a tile over
// threads by how its pointers move, so nothing here asks which axis is the innermost, except for the tile's
// shape. One file per layout: emit_triton.cpp (what they share, pointwise, pooling),
// emit_triton_reduction.cpp, emit_triton_scan.cpp.
#pragma once

#include "base/json_fwd.h"
#include "codegen/fused/emitter.h"
#include "codegen/fused/formula.h"

namespace hone::fused {

// One of a kernel's functions, by what its name ends with.
struct TritonLaunch {
  std::string suffix;
  int64_t programs = 0;
};

class TritonEmitter : public Emitter {
 public:
  TritonEmitter(const Program& program, const Kernel& kernel, const EmitterDevice& device)
      : Emitter(Language::kTriton, program, kernel, device) {}

 private:
  Status Pointwise() override;
  Status Reduction() override;
  Status Scan() override;
  Status Pool() override;

  // What elements of a type are computed with: "tl.float32".
  static std::string Type(DType dtype);
  // A number as a value of the type.
  static std::string Number(double number, DType dtype);
  // What an instruction's value is called, where elements of rows are computed or where rows are.
  std::string Named(int i, bool elements) const;
  // "t7 = _relu(t6)".
  Result<std::string> Line(int i);
  Result<std::string> Print(const Formula& formula, int i, bool grouped) const;
  std::string FieldText(int i) const;

  // Where point `index` of a part of the domain lies, or "" if it lies at the start for all of them.
  static std::string At(const std::vector<Step1>& steps, const std::string& index);
  // A load for a tile of elements, of rows, or of rows by elements.
  Json Load(int i) { return LoadAt(i, At(Part(load(i), false), tile_.index), tile_.mask); }
  Json RowLoad(int i) { return LoadAt(i, At(Part(load(i), false), "row"), "live"); }
  Json TileLoad(int i);
  // Of a tensor, or of the places along an axis, which are in no memory.
  Json LoadAt(int i, const std::string& at, const std::string& mask);
  std::string TileAt(int i) const;
  std::string GatherText(int i);
  std::string Widened(int i) const;
  // The pointer that the kernel has for what an instruction reads.
  std::string PointerOf(int i) {
    return outer_ != nullptr ? outer_->InputPointer(at(i).source) : InputPointer(at(i).source);
  }
  Json Store(size_t output, const std::string& index);
  Json RowStore(size_t output);
  Json TileStore(size_t output);
  // Loads and lines of a closure; those in `made` are left out and what is made is added to it.
  Status AddElements(const Printer::Closure& closure, std::set<int>* made, Json* inputs, Json* lines);
  // Row operands into values_, lines of rows by the stage that they follow.
  Result<std::vector<Json>> RowLines(size_t stages);
  // tl.int64 if an offset or an index needs it.
  std::string Index() const;
  void ChooseTile(bool whole);
  Status RenderTriton(const std::string& name, const std::vector<TritonLaunch>& launches);

  // emit_triton_reduction.cpp
  Json ReductionValues(int i, int* word) const;

  int64_t rows_each_ = 1, block_ = 1;
  // Elements of a pointwise kernel or a pooling by one index; rows by elements where `index` is empty.
  struct Tile {
    std::string index, mask, shape;
  };
  Tile tile_;
  TritonEmitter* outer_ = nullptr;  // of maps before a pooling: whoever has the pointers
};

// Warps for a tile of so many elements.
int64_t TritonWarps(int64_t elements);

// How templates/part_fused_triton.py calls a reduction, and what its states are.
struct TritonReduction {
  const char* kind;                // "sum": _sum_start and so on
  int lanes;                       // values that a lane keeps
  std::vector<const char*> words;  // types of a row's values: C and W are those of the reduction
};
const TritonReduction& TritonReductionOf(const std::string& op);

}  // namespace hone::fused

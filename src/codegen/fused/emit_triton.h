// Kernels as Triton. A program has a tile: elements (pointwise, pooling), or rows of the kept axes by
// elements of the reduced ones, which serves reductions along any axis and scans. Triton assigns a tile to
// threads by the strides of its pointers, so only the tile's shape depends on which axis is innermost. There
// is one file per layout: emit_triton.cpp (common parts, pointwise, pooling), emit_triton_reduction.cpp,
// emit_triton_scan.cpp.
#pragma once

#include "base/json_fwd.h"
#include "codegen/fused/emitter.h"
#include "codegen/fused/formula.h"

namespace hone::fused {

// One function of a kernel, identified by the suffix of its name.
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

  // The type in which elements are computed: "tl.float32".
  static std::string Type(DType dtype);
  // A number as a value of the type.
  static std::string Number(double number, DType dtype);
  // The name of an instruction's value, in code for elements or for rows.
  std::string Named(int i, bool elements) const;
  // A line such as "t7 = _relu(t6)".
  Result<std::string> Line(int i);
  Result<std::string> Print(const Formula& formula, int i, bool grouped) const;
  std::string FieldText(int i) const;

  // The offset of point `index` in a part of the domain, or "" if it is 0 for all points.
  static std::string At(const std::vector<Step1>& steps, const std::string& index);
  // A load for a tile of elements, of rows, or of rows by elements.
  Json Load(int i) { return LoadAt(i, At(Part(load(i), false), tile_.index), tile_.mask); }
  Json RowLoad(int i) { return LoadAt(i, At(Part(load(i), false), "row"), "live"); }
  Json TileLoad(int i);
  // A load from a tensor, or the places along an axis, which are not in memory.
  Json LoadAt(int i, const std::string& at, const std::string& mask);
  std::string TileAt(int i) const;
  std::string GatherText(int i);
  std::string Widened(int i) const;
  // The kernel's pointer for an instruction's source.
  std::string PointerOf(int i) {
    return outer_ != nullptr ? outer_->InputPointer(at(i).source) : InputPointer(at(i).source);
  }
  Json Store(size_t output, const std::string& index);
  Json RowStore(size_t output);
  Json TileStore(size_t output);
  // Adds loads and lines of a closure. Skips instructions in `made`, and adds the others to it.
  Status AddElements(const Printer::Closure& closure, std::set<int>* made, Json* inputs, Json* lines);
  // Stores row operands in values_, and returns lines for rows by the stage they follow.
  Result<std::vector<Json>> RowLines(size_t stages);
  // Returns tl.int64 if an offset or an index needs it.
  std::string Index() const;
  void ChooseTile(bool whole);
  Status RenderTriton(const std::string& name, const std::vector<TritonLaunch>& launches);

  // emit_triton_reduction.cpp
  Json ReductionValues(int i, int* word) const;

  int64_t rows_each_ = 1, block_ = 1;
  // A pointwise kernel or a pooling has one index for its elements. `index` is empty for rows by elements.
  struct Tile {
    std::string index, mask, shape;
  };
  Tile tile_;
  TritonEmitter* outer_ = nullptr;  // for maps before a pooling: the emitter that has the pointers
};

// Number of warps for a tile of this many elements.
int64_t TritonWarps(int64_t elements);

// How templates/part_fused_triton.py calls a reduction, and the reduction's states.
struct TritonReduction {
  const char* kind;                // "sum": the functions are _sum_start and so on
  int lanes;                       // values that a lane keeps
  std::vector<const char*> words;  // types of a row's values; C and W are the reduction's
};
const TritonReduction& TritonReductionOf(const std::string& op);

}  // namespace hone::fused

// What the interpreter knows about one value inside a Triton kernel: whether it exists at compile time, its
// block shape, its element type as far as certain, and what it was computed from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/constant.h"

namespace hone {

struct Kernel;
struct PyNode;

struct KernelValue {
  enum class Kind {
    kUnknown,
    kUndefined,  // a name that Triton will not find; `note` says why
    kConstexpr,  // known to the compiler, not necessarily to us
    kScalar,     // one run-time value
    kBlock,      // a tensor; the rank is known, single dimensions may not be
    kTuple,
    kType,          // tl.float32 and friends
    kModule,        // `path` says which
    kBuiltin,       // a function of triton.language, or of the few Python builtins Triton knows
    kJit,           // another jitted function
    kHostFunction,  // a plain Python function
    kMethod,        // x.to, x.sum: `path` is the name, items[0] the object
    kBlockPointer,  // tl.make_block_ptr, tensor descriptors
  };
  static constexpr int64_t kAnyExtent = -1;

  Kind kind = Kind::kUnknown;
  Constant constant;
  std::vector<int64_t> shape;
  std::string element;     // "fp32", "int32", "int1", ... or "" when not certain
  bool run_time = false;   // certainly not foldable: comes from a program id, a load or a loop counter
  bool is_float = false;   // certainly a floating-point type, though not known which
  bool literal = false;    // a Python number: does not decide the type of what it meets
  bool from_load = false;  // straight from tl.load: the compiler pipelines it through shared memory
  bool carries_state = false;
  const PyNode* load_loop = nullptr;  // the innermost loop around that load
  uint8_t program_axes = 0;           // bit per program_id axis it depends on
  uint32_t loops = 0;                 // bit per enclosing loop whose counter it depends on
  bool divided = false;               // went through // or % after depending on a loop
  bool ranges = false;                // depends on tl.arange: different lanes, different values
  std::string_view base;              // the parameter whose memory it points into
  std::string path;
  std::string note;
  const Kernel* jit = nullptr;
  const PyNode* origin = nullptr;
  std::vector<KernelValue> items;

  bool Is(Kind k) const { return kind == k; }
  bool is_block() const { return kind == Kind::kBlock; }
  bool is_tensor() const { return kind == Kind::kBlock || kind == Kind::kScalar; }
  // 64x32, with ? for a dimension that is not known.
  std::string ExtentsText() const;
  // Takes over what the other was computed from.
  void DependOn(const KernelValue& other);

  static KernelValue Of(Kind kind);
  static KernelValue Constexpr(Constant value);
  static KernelValue Block(std::vector<int64_t> shape);
};

// NumPy broadcasting as Triton does it. False if two known dimensions do not broadcast.
bool BroadcastShapes(const std::vector<int64_t>& a, const std::vector<int64_t>& b, std::vector<int64_t>* out);

}  // namespace hone

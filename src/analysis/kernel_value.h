// The interpreter's knowledge of one value in a Triton kernel: whether it exists at compile time, its block
// shape, its element type if certain, and what it was computed from.
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
    kUndefined,  // a name that Triton does not find; `note` says why
    kConstexpr,  // known to the compiler, but not always to this analysis
    kScalar,     // one run-time value
    kBlock,      // a tensor of known rank; single dimensions may be unknown
    kTuple,
    kType,          // tl.float32 and friends
    kModule,        // `path` is its name
    kBuiltin,       // a function of triton.language, or a Python builtin that Triton supports
    kJit,           // another jitted function
    kHostFunction,  // a plain Python function
    kMethod,        // x.to, x.sum: `path` is the name, items[0] the object
    kBlockPointer,  // tl.make_block_ptr, tensor descriptors
  };
  static constexpr int64_t kAnyExtent = -1;

  Kind kind = Kind::kUnknown;
  Constant constant;
  std::vector<int64_t> shape;
  std::string element;     // "fp32", "int32", "int1", ... or "" if uncertain
  bool run_time = false;   // certainly not a compile-time value: from a program id, a load or a loop counter
  bool is_float = false;   // certainly a floating-point type, even if unknown which
  bool literal = false;    // a Python number, which does not decide the result type
  bool from_load = false;  // directly from tl.load: the compiler pipelines it through shared memory
  bool carries_state = false;
  const PyNode* load_loop = nullptr;  // innermost loop around that load
  uint8_t program_axes = 0;           // bit per program_id axis it depends on
  uint32_t loops = 0;                 // bit per enclosing loop whose counter it depends on
  bool divided = false;               // passed through // or % after depending on a loop
  bool ranges = false;                // depends on tl.arange, so lanes have different values
  std::string_view base;              // the parameter whose memory it points into
  std::string path;
  std::string note;
  const Kernel* jit = nullptr;
  const PyNode* origin = nullptr;
  std::vector<KernelValue> items;

  bool Is(Kind k) const { return kind == k; }
  bool is_block() const { return kind == Kind::kBlock; }
  bool is_tensor() const { return kind == Kind::kBlock || kind == Kind::kScalar; }
  // "64x32", with ? for an unknown dimension.
  std::string ExtentsText() const;
  // Adds the dependencies of the other value.
  void DependOn(const KernelValue& other);

  static KernelValue Of(Kind kind);
  static KernelValue Constexpr(Constant value);
  static KernelValue Block(std::vector<int64_t> shape);
};

// Broadcasts like NumPy, as Triton does. Returns false if two known dimensions are incompatible.
bool BroadcastShapes(const std::vector<int64_t>& a, const std::vector<int64_t>& b, std::vector<int64_t>* out);

}  // namespace hone

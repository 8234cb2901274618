// The result of interpreting a kernel: places that Triton's front end will reject, and facts for later stages
// (memory accesses, dots, loops). Checks turn problems into findings. The texts here only name the symbols
// involved.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/kernel_value.h"
#include "analysis/kernels.h"
#include "source/python_ast.h"

namespace hone {

enum class ProblemKind {
  kArangeNotConstexpr,
  kArangeNotPowerOfTwo,
  kTensorIndexing,
  kUnsupported,
  kUndefinedName,
  kUnknownOp,
  kHostCall,
  kShapeMismatch,
  kBadCall,  // wrong number or names of arguments for a tl function
};

struct KernelProblem {
  ProblemKind kind;
  const PyNode* node = nullptr;
  std::string subject;  // the offending symbol
  std::string detail;   // the sentence that explains
  std::string fix;
  const Launch* launch = nullptr;
  const TuneConfig* config = nullptr;
  bool runs = true;         // false: nothing that runs launches this kernel
  uint32_t refused_by = 0;  // Triton releases that reject it, as in triton_tables.h; 0 means all
  // The two values that do not fit, in the order of the sentence: left and right, before the loop and after
  // an iteration, pointers and value. Empty for a problem of another kind.
  std::vector<KernelValue> sides;
};

struct MemoryAccess {
  enum class Kind { kLoad, kStore, kAtomic };
  Kind kind = Kind::kLoad;
  const PyNode* node = nullptr;
  std::string_view base;              // the parameter that it points into, "" if unknown
  uint8_t program_axes = 0;           // program ids that the address depends on
  uint32_t loops = 0;                 // loops whose counter the address depends on
  std::vector<const PyNode*> inside;  // enclosing loops, outermost first
  bool masked = false;
  bool address_known = false;  // the address could be traced
  bool is_block = false;
  bool ranges = false;
  std::string op;  // "atomic_add", ...
};

struct DotUse {
  const PyNode* node = nullptr;
  KernelValue a;
  KernelValue b;
  std::vector<const PyNode*> inside;
  const Launch* launch = nullptr;  // the launch and config it was interpreted for
  const TuneConfig* config = nullptr;
  std::string precision;  // input_precision or allow_tf32 as written, "" for the default
};

struct KernelLoop {
  const PyNode* node = nullptr;
  std::string trip;                  // the bound as written: "seq_len"
  std::vector<std::string> carried;  // names whose value is carried between iterations
  bool is_static = false;
  uint32_t bit = 0;  // its counter's bit in MemoryAccess::loops
};

// A tl.arange of the kernel itself, as compiled for one launch and config.
using RangeUse = std::tuple<const PyNode*, const Launch*, const TuneConfig*>;

struct ReductionUse {
  const PyNode* node = nullptr;
  std::string op;
  std::vector<const PyNode*> inside;
};

struct CastUse {
  const PyNode* node = nullptr;
  std::string to;       // the type as written: "tl.float16", "x.dtype"
  bool lowers = false;  // to half precision or less
};

struct KernelTrace {
  const Kernel* kernel = nullptr;
  std::vector<KernelProblem> problems;
  std::vector<MemoryAccess> accesses;
  std::vector<DotUse> dots;
  std::map<RangeUse, int64_t> range_extents;
  std::vector<KernelLoop> loops;
  std::vector<ReductionUse> reductions;
  std::vector<const PyNode*> barriers;
  std::vector<const PyNode*> scans;
  std::vector<const PyNode*> scalar_vector_products;      // accumulations that should use tl.dot
  std::map<int, std::vector<const PyNode*>> program_ids;  // axis -> uses
  std::vector<CastUse> casts;
  std::map<std::string, int> op_counts;  // calls of triton.language, including those in helpers
  bool opaque_calls = false;             // a call could not be followed
  uint32_t tile_loops = 0;               // loops (as bits) that assign tiles to programs
  bool divides_loop_index = false;       // an address splits a loop's index with // or %
};

}  // namespace hone

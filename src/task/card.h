// The task card: what one forward costs and the least time this device needs for it. The reference worker
// supplies the facts, and the peak rates are measured on this device. The floor is computed here.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace hone {

struct Ceilings {
  double memory_bytes_per_s = 0;
  double cache_bytes_per_s = 0;
  std::map<std::string, double> flops_per_s;  // by dtype, and "tf32"
};
Ceilings CeilingsFromJson(const Json& json);
Json ToJson(const Ceilings& ceilings);
// Takes the larger value of each rate.
Ceilings Larger(const Ceilings& a, const Ceilings& b);

struct TensorShape {
  std::string dtype;
  std::vector<int64_t> shape;
};

struct Card {
  std::map<std::string, int64_t> modules;
  std::map<std::string, int64_t> operators;
  std::vector<TensorShape> inputs;
  std::vector<TensorShape> outputs;
  int64_t parameters = 0;
  int64_t weight_bytes = 0;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
  double flops = 0;          // as the module is written
  double least_flops = -1;   // after the graph's rewrites; -1: no graph was captured
  double cudnn_flops = 0;    // those of floor_flops() that cuDNN computes: convolutions, recurrent layers
  int64_t graph_bytes = -1;  // bytes that a call must move through memory (graph/cost.h); -1: no graph
  std::string counted_by = "operators";  // "graph", or "operators": counted while one call ran
  int64_t serial_chain = 0;
  int64_t launches = -1;  // per forward, counted by the profiler on a GPU; -1: not counted
  double floor_us = 0;
  double library_us = 0;    // the same at the rates of PyTorch's libraries, float32 or TF32; for predictions
  std::string floor_bound;  // "arithmetic" or "memory"
  double ceiling_flops_per_s = 0;  // the rates that the floor was computed with
  double ceiling_bytes_per_s = 0;
  // One sentence if no output depends on an input (graph/degenerate.h), with the rewrite that showed it.
  std::string degenerate;
  std::string degenerate_rule;

  int64_t least_bytes() const {
    return graph_bytes >= 0 ? graph_bytes : weight_bytes + input_bytes + output_bytes;
  }
  // The FLOPs that the floor uses.
  double floor_flops() const { return least_flops >= 0 ? least_flops : flops; }
  int64_t operator_calls() const;
};

Card CardFromJson(const Json& json);
Json ToJson(const Card& card);
// The float32 operators that may round their operands to TF32, by PyTorch's flags or by --precision.
struct Tf32Allowed {
  bool cudnn = false;   // convolutions and recurrent layers
  bool matmul = false;  // other products
};
// Sets the floor, its bound and the peak rates behind it. Counts arithmetic at the fastest rate that the
// precision limit allows. Operands scaled and stored as fp16 have the 11 bits of TF32, so what may round to
// TF32 can run at fp16's rate. Other float32 products take three fp16 products of operands in two terms, or
// one in float32. `ceiling_flops_per_s` is the mean rate of all FLOPs.
void SetFloor(Card* card, const Ceilings& ceilings, Tf32Allowed tf32);
// No honest call can be faster, whatever its algorithm: every input and output byte moves at cache speed. The
// margin of two covers that a library copy does not reach the cache's peak.
double ImpossibleBelowUs(const Card& card, const Ceilings& ceilings);

// For `hone show TASK`: one line per fact, wrapped at `width` columns; 0: not wrapped.
std::string CardText(const Card& card, int width = 0);

}  // namespace hone

#include "codegen/recurrent_cost.h"

#include <algorithm>

namespace hone {

namespace {

int64_t Up(int64_t value, int64_t to) {
  return (value + to - 1) / to * to;
}
int64_t Ceil(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

// One configuration of recurrent_grid.cu. The arithmetic is that of its macros.
struct GridShape {
  int64_t slabs, chained, units, warps, tiles_at_once, phases;

  // Microseconds per step. No value if the configuration does not fit.
  std::optional<double> StepUs(const RecurrentShape& shape, int64_t teams, const GpuCosts& gpu) const {
    const GridCosts& costs = gpu.grid;
    const int64_t padded = Up(shape.hidden, 32), ctas = Ceil(padded, units),
                  blocks = Ceil(padded / 32, warps);
    const bool gru = shape.kind == "GRU";
    const int64_t row_gates = gru && chained ? 4 : shape.gates(), tiles = Ceil(row_gates * units, 16);
    const int64_t used = gru && chained && units % 16 == 0 ? tiles * 3 / 4 : tiles, both = chained ? 2 : 1;
    const int64_t chains = tiles_at_once * tiles * shape.terms < 4 && blocks > 1 ? 2 : 1;
    const int64_t elements = tiles_at_once * 8 * units, rounds = Ceil(elements, 32 * warps);
    const int64_t other = shape.terms * tiles_at_once * 4 * (chains * tiles + blocks * both) +
                          costs.round_registers * (rounds - 1) + (phases > 1 ? costs.phase_registers : 0);
    const int64_t all_blocks = both * blocks;
    const int64_t in_registers =
        std::max<int64_t>(0, std::min(all_blocks, (costs.registers - other) / (shape.terms * 8 * used)));
    const int64_t weights = (all_blocks - in_registers) * 2 * tiles * shape.terms * warps * 512;
    const int64_t partial = warps * tiles_at_once * tiles * 512;
    const int64_t states = phases * elements * 4 * ((shape.kind == "LSTM" ? 2 : 1) + 2 * shape.gates());
    if (2 * partial + states + units * 16 + weights + 16 > gpu.shared_bytes ||
        other > costs.registers - costs.spare_registers || blocks > costs.most_blocks)
      return std::nullopt;
    const int64_t sequences =
        shape.batch >= 8 ? std::min(8 * tiles_at_once * phases, Up(shape.batch, 8)) : shape.batch;
    const double l2_kb = static_cast<double>(shape.terms * both * sequences * padded * 2) / 1024 *
                         static_cast<double>(slabs * teams * ctas) / costs.l2_ctas;
    const int64_t mma = both * 2 * blocks * used * tiles_at_once * phases * (shape.terms == 2 ? 3 : 1);
    const double each =
        static_cast<double>(Ceil(warps, 4)) * costs.mma_us + (warps <= 4 ? costs.mma_alone_us : 0);
    return costs.chain_us + static_cast<double>(phases - 1) * costs.phase_us +
           static_cast<double>(phases * (rounds - 1)) * costs.round_us + l2_kb * costs.l2_kb_us +
           static_cast<double>(mma) * each +
           static_cast<double>(phases * partial) / 1024 * costs.partial_kb_us +
           static_cast<double>(phases * weights) / 1024 * costs.shared_kb_us;
  }
};

struct BestGrid {
  double step_us = 0;
  double exchange_bytes = 0;  // size of one state of all slabs
};

std::optional<BestGrid> FindGrid(const RecurrentShape& shape, int64_t slabs, bool chained,
                                 const GpuCosts& costs) {
  std::optional<BestGrid> best;
  const int64_t padded = Up(shape.hidden, 32), batch_tiles = Ceil(shape.batch, 8);
  for (const int64_t warps : {8, 4, 2, 1}) {
    if (warps > std::max<int64_t>(1, padded / 32)) continue;
    for (const int64_t units : {4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64}) {
      const int64_t most = std::min(batch_tiles, costs.processors / (slabs * Ceil(padded, units)));
      for (int64_t teams = 1; teams <= most; ++teams) {
        const int64_t per_team = Ceil(batch_tiles, teams);
        if (Ceil(batch_tiles, per_team) != teams) continue;  // equivalent to fewer teams
        for (const int64_t at_once : {1, 2, 4}) {
          if (at_once > per_team) continue;
          const GridShape grid{slabs, chained, units, warps, at_once, Ceil(per_team, at_once)};
          const std::optional<double> step = grid.StepUs(shape, teams, costs);
          if (step && (!best || *step < best->step_us))
            best = BestGrid{*step, static_cast<double>(shape.terms * at_once * grid.phases * padded * 16 *
                                                       teams * slabs)};
        }
      }
    }
  }
  return best;
}

const ClusterCell& CellOf(const RecurrentShape& shape, const ClusterCosts& costs) {
  return shape.kind == "GRU" ? costs.gru : shape.kind == "LSTM" ? costs.lstm : costs.rnn;
}

// The kernel stores the unbounded states of a ReLU in two terms, whatever the precision.
bool TakesTwoTerms(const RecurrentShape& shape) {
  return shape.terms == 2 || shape.relu;
}

}  // namespace

RecurrentShape ShapeOf(const RecurrentModule& module) {
  RecurrentShape shape;
  shape.kind = module.kind;
  shape.inputs = module.input_size;
  shape.hidden = module.hidden_size;
  shape.layers = module.num_layers;
  shape.directions = module.bidirectional ? 2 : 1;
  shape.steps = module.steps();
  shape.batch = module.batch();
  shape.relu = module.kind == "RNN" && module.nonlinearity == "relu";
  return shape;
}

RecurrentShape ShapeOf(const TimeLoop& loop, const std::vector<TensorShape>& inputs,
                       const std::string& kind) {
  RecurrentShape shape;
  shape.kind = kind.empty() ? "RNN" : kind;
  shape.inputs = loop.input_size;
  shape.hidden = loop.hidden_size;
  shape.terms = 2;
  shape.relu = loop.activation == "relu";
  const auto axis = static_cast<size_t>(loop.time_axis);
  if (inputs.empty() || axis >= inputs[0].shape.size()) return shape;
  const std::vector<int64_t>& dims = inputs[0].shape;
  shape.steps = dims[axis];
  shape.batch = dims.size() == 3 && axis < 2 ? dims[1 - axis] : 1;
  return shape;
}

ClusterFit FitClusters(const RecurrentShape& shape, const ClusterCosts& costs) {
  const ClusterCell& cell = CellOf(shape, costs);
  const bool stacked = shape.directions == 1 && shape.layers > 1;
  const ClusterHidden& hidden = TakesTwoTerms(shape) ? (stacked ? cell.precise_stacked : cell.precise_single)
                                                     : (stacked ? cell.stacked : cell.single);
  ClusterFit fit;
  fit.largest_hidden = hidden.of_16;
  fit.clusters =
      Ceil(std::max<int64_t>(1, shape.batch), costs.sequences) * (shape.directions == 2 ? 2 : shape.layers);
  fit.resident = shape.hidden > hidden.of_8 ? costs.resident_of_16 : costs.resident_of_8;
  fit.at_once = stacked;
  return fit;
}

std::optional<double> ClusterUs(const RecurrentShape& shape, const ClusterCosts& costs) {
  const ClusterFit fit = FitClusters(shape, costs);
  if (!fit.fits(shape)) return std::nullopt;
  const ClusterCell& cell = CellOf(shape, costs);
  const double step = TakesTwoTerms(shape)    ? cell.precise_us
                      : shape.directions == 2 ? cell.both_us
                                              : cell.wavefront_us;
  const int64_t steps = shape.directions == 2 ? shape.layers * shape.steps : shape.steps + shape.layers - 1;
  return costs.call_us + static_cast<double>(steps * Ceil(fit.clusters, fit.resident)) * step;
}

std::optional<double> GridUs(const RecurrentShape& shape, const GpuCosts& gpu) {
  if (shape.relu) return std::nullopt;  // the exchange needs bounded states
  const GridCosts& costs = gpu.grid;
  std::optional<double> best;
  const int64_t width = shape.directions * shape.gates() * shape.hidden;
  const auto product_us = [&](bool first) {
    const double flops = 2.0 * static_cast<double>(shape.steps * shape.batch) * static_cast<double>(width);
    return flops * (first ? static_cast<double>(shape.inputs) / costs.tf32_flops_per_us
                          : static_cast<double>(shape.directions * shape.hidden) / costs.half_flops_per_us) +
           costs.product_us;
  };
  // Layers (with one direction) or directions that run at once.
  for (int64_t at_once = 1; at_once <= (shape.directions == 1 ? shape.layers : 2); ++at_once) {
    double us = costs.call_us;
    bool fits = true;
    for (int64_t first = 0; fits && first < shape.layers; first += shape.directions == 1 ? at_once : 1) {
      const int64_t slabs = shape.directions == 1 ? std::min(at_once, shape.layers - first) : at_once;
      const bool chained = shape.directions == 1 && slabs > 1;
      const std::optional<BestGrid> grid = FindGrid(shape, slabs, chained, gpu);
      fits = grid.has_value();
      if (!fits) break;
      const double exchange_bytes = grid->exchange_bytes * static_cast<double>(chained ? shape.steps + 1 : 2);
      fits = exchange_bytes <= costs.exchange_bytes;
      const double exchange = exchange_bytes / costs.clear_bytes_per_us;
      const double launches = slabs < shape.directions ? 2 : 1;
      const int64_t steps = shape.steps + (chained ? slabs - 1 : 0);
      us += product_us(first == 0) +
            launches * (costs.launch_us + exchange + static_cast<double>(steps) * grid->step_us);
    }
    if (fits && (!best || us < *best)) best = us;
  }
  return best;
}

std::optional<double> StepUs(const RecurrentShape& shape, const StepGraphCosts& costs) {
  if (shape.terms != 1 || shape.relu || shape.steps * shape.layers > costs.most_steps ||
      shape.hidden % costs.hidden_multiple != 0 || shape.batch > costs.most_sequences)
    return std::nullopt;
  const double weights = static_cast<double>(shape.gates() * shape.hidden) *
                         static_cast<double>(shape.hidden * shape.directions);
  const double megabytes = 2e-6 * weights, gflop = 2e-9 * weights * static_cast<double>(shape.batch);
  const double step = costs.chain_us + megabytes * costs.mb_us + gflop * costs.gflop_us;
  return static_cast<double>(shape.layers * shape.steps) * step + costs.call_us;
}

double PytorchUs(const RecurrentShape& shape, const CudnnCosts& costs) {
  // cuDNN keeps small layers in one kernel. For others it launches every step, alone or beside other layers.
  const double megabytes = static_cast<double>(shape.gates() * shape.hidden * shape.hidden) * 4e-6;
  const int64_t chains = shape.layers * shape.directions;
  double step = (chains == 1 ? costs.alone_us : costs.beside_us) + megabytes * costs.mb_us +
                static_cast<double>(shape.batch) * costs.sequence_us;
  if (megabytes > costs.l2_mb) step = costs.beyond_us + megabytes * costs.beyond_mb_us;
  if (shape.hidden <= costs.medium_hidden)
    step = shape.hidden <= costs.small_hidden ? costs.small_us : costs.medium_us;
  return static_cast<double>(chains * shape.steps) * step;
}

}  // namespace hone

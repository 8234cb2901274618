#include "codegen/recurrent_cost.h"

#include <algorithm>

namespace hone {

namespace {

constexpr int64_t kSharedBytes = 227 * 1024;
constexpr int64_t kRegisters = 224;  // of 255 a thread may have; the rest is for addresses

// Microseconds, as in recurrent_grid.py.
constexpr double kChainUs = 0.82, kPhaseUs = 0.35, kRoundUs = 0.23, kL2PerKb = 0.0154, kPerMma = 0.0070,
                 kMmaAlone = 0.0106, kPartialPerKb = 0.0106, kSharedPerKb = 0.002, kCallUs = 25,
                 kLaunchUs = 15;
constexpr double kExchangeLimit = 1 << 30;  // bytes; layers that run at once keep every step
constexpr double kHalfFlopsPerUs = 4e8, kTf32FlopsPerUs = 1e8;  // of the products over all steps

int64_t Up(int64_t value, int64_t to) {
  return (value + to - 1) / to * to;
}
int64_t Ceil(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

// One configuration of recurrent_grid.cu; the arithmetic is that of its macros.
struct GridShape {
  int64_t slabs, chained, units, warps, tiles_at_once, phases;

  // Microseconds of a step; nothing when it does not fit.
  std::optional<double> StepUs(const RecurrentShape& shape, int64_t teams) const {
    const int64_t padded = Up(shape.hidden, 32), ctas = Ceil(padded, units),
                  blocks = Ceil(padded / 32, warps);
    const bool gru = shape.kind == "GRU";
    const int64_t row_gates = gru && chained ? 4 : shape.gates(), tiles = Ceil(row_gates * units, 16);
    const int64_t used = gru && chained && units % 16 == 0 ? tiles * 3 / 4 : tiles, both = chained ? 2 : 1;
    const int64_t chains = tiles_at_once * tiles * shape.terms < 4 && blocks > 1 ? 2 : 1;
    const int64_t elements = tiles_at_once * 8 * units, rounds = Ceil(elements, 32 * warps);
    const int64_t other = shape.terms * tiles_at_once * 4 * (chains * tiles + blocks * both) +
                          10 * (rounds - 1) + (phases > 1 ? 36 : 0);
    const int64_t all_blocks = both * blocks;
    const int64_t in_registers =
        std::max<int64_t>(0, std::min(all_blocks, (kRegisters - other) / (shape.terms * 8 * used)));
    const int64_t weights = (all_blocks - in_registers) * 2 * tiles * shape.terms * warps * 512;
    const int64_t partial = warps * tiles_at_once * tiles * 512;
    const int64_t states = phases * elements * 4 * ((shape.kind == "LSTM" ? 2 : 1) + 2 * shape.gates());
    if (2 * partial + states + units * 16 + weights + 16 > kSharedBytes || other > kRegisters - 74 ||
        blocks > 8)
      return std::nullopt;
    const int64_t sequences =
        shape.batch >= 8 ? std::min(8 * tiles_at_once * phases, Up(shape.batch, 8)) : shape.batch;
    const double l2_kb = static_cast<double>(shape.terms * both * sequences * padded * 2) / 1024 *
                         static_cast<double>(slabs * teams * ctas) / 128;
    const int64_t mma = both * 2 * blocks * used * tiles_at_once * phases * (shape.terms == 2 ? 3 : 1);
    const double each = static_cast<double>(Ceil(warps, 4)) * kPerMma + (warps <= 4 ? kMmaAlone : 0);
    return kChainUs + static_cast<double>(phases - 1) * kPhaseUs +
           static_cast<double>(phases * (rounds - 1)) * kRoundUs + l2_kb * kL2PerKb +
           static_cast<double>(mma) * each + static_cast<double>(phases * partial) / 1024 * kPartialPerKb +
           static_cast<double>(phases * weights) / 1024 * kSharedPerKb;
  }
};

struct BestGrid {
  double step_us = 0;
  double exchange_bytes = 0;  // of one state of all slabs
};

std::optional<BestGrid> FindGrid(const RecurrentShape& shape, int64_t slabs, bool chained,
                                 int64_t processors) {
  std::optional<BestGrid> best;
  const int64_t padded = Up(shape.hidden, 32), batch_tiles = Ceil(shape.batch, 8);
  for (const int64_t warps : {8, 4, 2, 1}) {
    if (warps > std::max<int64_t>(1, padded / 32)) continue;
    for (const int64_t units : {4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64}) {
      const int64_t most = std::min(batch_tiles, processors / (slabs * Ceil(padded, units)));
      for (int64_t teams = 1; teams <= most; ++teams) {
        const int64_t per_team = Ceil(batch_tiles, teams);
        if (Ceil(batch_tiles, per_team) != teams) continue;  // the same as fewer teams
        for (const int64_t at_once : {1, 2, 4}) {
          if (at_once > per_team) continue;
          const GridShape grid{slabs, chained, units, warps, at_once, Ceil(per_team, at_once)};
          const std::optional<double> step = grid.StepUs(shape, teams);
          if (step && (!best || *step < best->step_us))
            best = BestGrid{*step, static_cast<double>(shape.terms * at_once * grid.phases * padded * 16 *
                                                       teams * slabs)};
        }
      }
    }
  }
  return best;
}

// The figures of recipes/cuda_cluster.cpp.
struct ClusterCost {
  double wavefront_us, both_us, precise_us;
  int64_t of_eight, stacked, single, precise;  // hidden units that fit
};
constexpr ClusterCost kGruCluster = {0.62, 0.52, 1.26, 256, 384, 384, 256};
constexpr ClusterCost kLstmCluster = {0.68, 0.56, 1.34, 256, 384, 384, 256};
constexpr ClusterCost kRnnCluster = {0.50, 0.50, 0.65, 512, 512, 1024, 512};

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
  return shape;
}

std::optional<double> ClusterUs(const RecurrentShape& shape) {
  const ClusterCost& cost = shape.kind == "GRU"    ? kGruCluster
                            : shape.kind == "LSTM" ? kLstmCluster
                                                   : kRnnCluster;
  const bool stacked = shape.directions == 1 && shape.layers > 1;
  const int64_t largest = shape.terms == 2 ? cost.precise : stacked ? cost.stacked : cost.single;
  if (shape.hidden > largest) return std::nullopt;
  const int64_t clusters = Ceil(shape.batch, 8) * (shape.directions == 2 ? 2 : shape.layers);
  const int64_t resident = shape.hidden > cost.of_eight ? 7 : 15;
  if (stacked && clusters > resident) return std::nullopt;
  const double step = shape.terms == 2        ? cost.precise_us
                      : shape.directions == 2 ? cost.both_us
                                              : cost.wavefront_us;
  const int64_t steps = shape.directions == 2 ? shape.layers * shape.steps : shape.steps + shape.layers - 1;
  return 48 + static_cast<double>(steps * Ceil(clusters, resident)) * step;
}

std::optional<double> GridUs(const RecurrentShape& shape, int64_t processors) {
  std::optional<double> best;
  const int64_t width = shape.directions * shape.gates() * shape.hidden;
  const auto product_us = [&](bool first) {
    const double flops = 2.0 * static_cast<double>(shape.steps * shape.batch) * static_cast<double>(width);
    return flops * (first ? static_cast<double>(shape.inputs) / kTf32FlopsPerUs
                          : static_cast<double>(shape.directions * shape.hidden) / kHalfFlopsPerUs) +
           4;
  };
  // Layers of one direction, or directions, at once.
  for (int64_t at_once = 1; at_once <= (shape.directions == 1 ? shape.layers : 2); ++at_once) {
    double us = kCallUs;
    bool fits = true;
    for (int64_t first = 0; fits && first < shape.layers; first += shape.directions == 1 ? at_once : 1) {
      const int64_t slabs = shape.directions == 1 ? std::min(at_once, shape.layers - first) : at_once;
      const bool chained = shape.directions == 1 && slabs > 1;
      const std::optional<BestGrid> grid = FindGrid(shape, slabs, chained, processors);
      fits = grid.has_value();
      if (!fits) break;
      const double exchange_bytes = grid->exchange_bytes * static_cast<double>(chained ? shape.steps + 1 : 2);
      fits = exchange_bytes <= kExchangeLimit;
      const double exchange = exchange_bytes / 2e6;
      const double launches = slabs < shape.directions ? 2 : 1;
      const int64_t steps = shape.steps + (chained ? slabs - 1 : 0);
      us += product_us(first == 0) +
            launches * (kLaunchUs + exchange + static_cast<double>(steps) * grid->step_us);
    }
    if (fits && (!best || us < *best)) best = us;
  }
  return best;
}

std::optional<double> StepUs(const RecurrentShape& shape) {
  if (shape.terms != 1 || shape.steps * shape.layers > 4096 || shape.hidden % 8 != 0 || shape.batch > 128)
    return std::nullopt;
  const double weights = static_cast<double>(shape.gates() * shape.hidden) *
                         static_cast<double>(shape.hidden * shape.directions);
  const double step = 5.0 + weights * 2e-6 * 0.25 + 2e-9 * weights * static_cast<double>(shape.batch) * 2.5;
  return static_cast<double>(shape.layers * shape.steps) * step + 60;
}

double PytorchUs(const RecurrentShape& shape) {
  // cuDNN keeps small layers in one kernel; for others it launches every step, alone or beside other layers'.
  const double megabytes = static_cast<double>(shape.gates() * shape.hidden * shape.hidden) * 4e-6;
  const int64_t chains = shape.layers * shape.directions;
  double step = (chains == 1 ? 4.3 : 2.6) + megabytes * 0.15 + static_cast<double>(shape.batch) * 0.012;
  if (megabytes > 40) step = 5 + megabytes * 0.26;  // they do not stay in L2
  if (shape.hidden <= 128) step = shape.hidden < 108 ? 0.61 : 1.9;
  return static_cast<double>(chains * shape.steps) * step;
}

}  // namespace hone

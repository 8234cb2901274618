// Recurrent networks on the CPU: RNN (tanh, relu), GRU and LSTM (also with a projected state) in float32, any
// depth, one or two directions.
//
// PyTorch runs such a network as a dozen small operators per step. Here one call runs all steps of all
// layers: weights are packed once into strips that a register tile streams through, the input projection of a
// few steps at a time is one matrix product, and every step is one matrix product with the state followed by
// the gates, on the same thread, in its cache. One source serves AVX-512, AVX2, NEON and plain SSE through
// the compilers' vector types. The sum behind every number is taken in the same order whatever the batch, the
// tiles or the number of threads, so answers are bitwise repeatable.
//
// Built with: c++ -std=c++17 -O3 -march=native -ffp-contract=fast -fPIC -shared -pthread. Plain C interface
// at the end.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace {

// ---- Vectors ----

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kMaxRows = 14, kWideRows = 6;  // 32 registers: 14x2 or 6x4 accumulators
#elif defined(__AVX__)
constexpr int kVectorBytes = 32, kMaxRows = 6, kWideRows = 2;  // 16 registers: 6x2 or 2x4
#elif defined(__aarch64__)
constexpr int kVectorBytes = 16, kMaxRows = 6, kWideRows = 6;  // 32 registers: 6x4
#else
constexpr int kVectorBytes = 16, kMaxRows = 6, kWideRows = 2;
#endif
constexpr int kLanes = kVectorBytes / 4;
constexpr int64_t kBlock = 128;  // k per partial sum: two strips fit the L1 cache, short sums round less

typedef float Vec __attribute__((vector_size(kVectorBytes), may_alias));
typedef float Loose __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
typedef int32_t Bits __attribute__((vector_size(kVectorBytes), may_alias));

inline Vec Splat(float x) {
  return x - Vec{};  // x - 0 is x, so nothing is left of the subtraction
}
inline Vec Load(const float* p) {
  return *reinterpret_cast<const Vec*>(p);
}
inline void Store(float* p, Vec v) {
  *reinterpret_cast<Vec*>(p) = v;
}

// The first `count` lanes only: the tensors of the caller end where the hidden size ends.
inline void StoreSome(float* p, Vec v, int64_t count) {
  if (count >= kLanes) {
    *reinterpret_cast<Loose*>(p) = v;
  } else {
    float lanes[kLanes];
    std::memcpy(lanes, &v, sizeof v);
    std::memcpy(p, lanes, static_cast<size_t>(count) * sizeof(float));
  }
}

// exp(x) = scale * (1 + tail) with scale = 2^round(x / ln 2); the polynomial is a minimax fit of expm1
// (1.8e-8 relative). Callers clamp x to +-88, where the exponent field cannot overflow. NaN stays NaN through
// `tail`.
struct Exponential {
  Vec scale, tail;
};
inline Exponential Exp(Vec x) {
  const Vec shift =
      Splat(12582912.0f);  // 3 * 2^22: adding it rounds to an integer kept in the low mantissa bits
  const Vec shifted = x * 1.44269504f + shift;
  const Vec n = shifted - shift;
  Vec r = x - n * 0.693359375f;  // ln 2 in two parts, the first exact in few bits
  r = r + n * 2.12194440e-4f;
  Vec p = r * 0.00138825050f + 0.00836658105f;
  p = p * r + 0.0416672006f;
  p = p * r + 0.166665435f;
  p = p * r + 0.49999997f;
  const Bits exponent = (reinterpret_cast<const Bits&>(shifted) + 127) << 23;
  return {reinterpret_cast<const Vec&>(exponent), r * r * p + r};
}
inline Vec Clamp(Vec x, float limit) {
  x = x > limit ? Splat(limit) : x;  // comparisons with NaN are false: NaN passes
  return x < -limit ? Splat(-limit) : x;
}
inline Vec Sigmoid(Vec x) {
  const Exponential e = Exp(Clamp(-x, 88.0f));
  return 1.0f / (1.0f + (e.scale * e.tail + e.scale));
}
// (e^2x - 1) / (e^2x + 1) with the -1 taken before rounding, so that small x keep their relative precision.
inline Vec Tanh(Vec x) {
  const Exponential e = Exp(Clamp(x + x, 20.0f));
  const Vec m = e.scale * e.tail + (e.scale - 1.0f);
  return m / (m + 2.0f);
}

// ---- Matrix product with packed strips ----

// A strip is kLanes output rows of a weight matrix stored [k][lane]. C[m][strip lanes] (+)= sum_k A[m][k] *
// strip[k].
template <int kRows, int kStrips>
void Tile(const float* a, int64_t lda, const float* w, int64_t strip, int64_t depth, float* c, int64_t ldc,
          bool add) {
  Vec acc[kRows][kStrips];
  const float* row[kRows];
#pragma GCC unroll 16
  for (int m = 0; m < kRows; ++m) {
    row[m] = a + m * lda;
#pragma GCC unroll 4
    for (int s = 0; s < kStrips; ++s) acc[m][s] = Vec{};
  }
  for (int64_t k = 0; k < depth; ++k) {
    Vec weight[kStrips];
#pragma GCC unroll 4
    for (int s = 0; s < kStrips; ++s) weight[s] = Load(w + s * strip + k * kLanes);
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
      const Vec value = Splat(row[m][k]);
#pragma GCC unroll 4
      for (int s = 0; s < kStrips; ++s) acc[m][s] += weight[s] * value;
    }
  }
#pragma GCC unroll 16  // all loops over accumulators, or they would live in memory
  for (int m = 0; m < kRows; ++m)
#pragma GCC unroll 4
    for (int s = 0; s < kStrips; ++s) {
      float* out = c + m * ldc + s * kLanes;
      Store(out, add ? Load(out) + acc[m][s] : acc[m][s]);
    }
}

using TileFunction = void (*)(const float*, int64_t, const float*, int64_t, int64_t, float*, int64_t, bool);
struct TileTable {
  TileFunction at[kMaxRows + 1][3];  // strips 1, 2, 4
  template <int kRows>
  constexpr void Fill() {
    at[kRows][0] = Tile<kRows, 1>;
    at[kRows][1] = Tile<kRows, 2>;
    if constexpr (kRows <= kWideRows)
      at[kRows][2] = Tile<kRows, 4>;
    else
      at[kRows][2] = nullptr;
    if constexpr (kRows > 1) Fill<kRows - 1>();
  }
  constexpr TileTable() : at{} { Fill<kMaxRows>(); }
};
constexpr TileTable kTiles;

// C[rows][strips * kLanes] = A[rows][depth] * W, W being `strips` strips of `depth`. Rows are cut into tiles
// of nearly equal height.
void Multiply(const float* a, int64_t lda, int64_t rows, const float* w, int64_t depth, int64_t strips,
              float* c, int64_t ldc) {
  // Few rows are one tile; of many, low and wide tiles reach more of the peak where there are registers for
  // them.
  const int64_t most = rows > kMaxRows && strips >= 4 && kWideRows > 4 ? kWideRows : kMaxRows;
  const int64_t tiles = (rows + most - 1) / most;
  const int64_t strip = depth * kLanes;
  const int widest = (rows + tiles - 1) / tiles <= kWideRows ? 2 : 1;  // log2 of the strips per tile
  for (int64_t s = 0; s < strips;) {
    int log = widest;
    while ((int64_t{1} << log) > strips - s) --log;
    for (int64_t k = 0; k < depth; k += kBlock) {
      const int64_t length = std::min(kBlock, depth - k);
      int64_t m = 0;
      for (int64_t t = 0; t < tiles; ++t) {
        const int64_t height = (rows - m + tiles - t - 1) / (tiles - t);
        kTiles.at[height][log](a + m * lda + k, lda, w + s * strip + k * kLanes, strip, length,
                               c + m * ldc + s * kLanes, ldc, k > 0);
        m += height;
      }
    }
    s += int64_t{1} << log;
  }
}

// ---- Waiting: a bounded spin, then sleep. A busy machine or missing cores cost time, never progress ----

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class Counter {  // only grows (modulo 2^32); anyone may wait for it to reach a value
 public:
  void Set(uint32_t value) {
    value_.store(value, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) Wake();
  }
  uint32_t Get() const { return value_.load(std::memory_order_acquire); }
  void WaitFor(uint32_t target) {
    const auto begin = std::chrono::steady_clock::now();
    do {
      for (int i = 0; i < 32; ++i) {
        if (Reached(target)) return;
        Pause();
      }
    } while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(50));
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    for (;;) {
      const uint32_t seen = value_.load(std::memory_order_seq_cst);
      if (static_cast<int32_t>(seen - target) >= 0) break;
      Sleep(seen);
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  bool Reached(uint32_t target) const { return static_cast<int32_t>(Get() - target) >= 0; }
#ifdef __linux__
  void Sleep(uint32_t seen) {
    syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
  }
  void Wake() {
    syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
  }
#else
  void Sleep(uint32_t) {
    usleep(50);
  }
  void Wake() {}
#endif
  alignas(128) std::atomic<uint32_t> value_{0};
  std::atomic<uint32_t> sleepers_{0};
};

class Barrier {
 public:
  void Wait(uint32_t members) {
    if (members == 1) return;
    const uint32_t round = round_.Get();
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.Set(round + 1);
    } else {
      round_.WaitFor(round + 1);
    }
  }

 private:
  Counter round_;
  alignas(128) std::atomic<uint32_t> arrived_{0};
};

// ---- Threads ----

// Kept between calls, asleep when idle. One call at a time uses them; a second one runs on its own thread.
class Pool {
 public:
  using Work = void (*)(void* context, int index);

  bool TryEnter(int threads) {
    if (!busy_.try_lock()) return false;
    try {
      while (static_cast<int>(workers_.size()) + 1 < threads) Start();
    } catch (...) {  // no more threads to be had: the caller runs alone
      busy_.unlock();
      return false;
    }
    return true;
  }
  void Run(int threads, Work work, void* context) {
    work_ = work;
    context_ = context;
    left_.store(threads - 1, std::memory_order_relaxed);
    const uint32_t finished = done_.Get() + 1;
    for (int i = 1; i < threads; ++i) {
      Counter& start = workers_[static_cast<size_t>(i - 1)];
      start.Set(start.Get() + 1);
    }
    work(context, 0);
    done_.WaitFor(finished);
  }
  void Leave() { busy_.unlock(); }

 private:
  void Start() {
    Counter& start = workers_.emplace_back();
    const int index = static_cast<int>(workers_.size());
    try {
      std::thread([this, index, &start] { Serve(index, start); }).detach();
    } catch (...) {
      workers_.pop_back();
      throw;
    }
  }
  void Serve(int index, Counter& start) {
    sigset_t all;  // signals belong to the program's own threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    for (uint32_t round = 1;; ++round) {
      start.WaitFor(round);
      work_(context_, index);
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.Set(done_.Get() + 1);
    }
  }

  std::mutex busy_;
  std::deque<Counter> workers_;  // how many times each was started; a deque never moves them
  Work work_ = nullptr;
  void* context_ = nullptr;
  Counter done_;
  std::atomic<int> left_{0};
};

std::atomic<Pool*> pool{nullptr};

Pool& ThePool() {
  Pool* now = pool.load(std::memory_order_acquire);
  if (now == nullptr) {
    Pool* fresh = new Pool;  // never destroyed: its threads may outlive every static object
    if (pool.compare_exchange_strong(now, fresh)) {
      static std::once_flag once;
      // A forked child has none of the threads and perhaps a locked mutex: it starts over.
      std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { pool.store(nullptr); }); });
      return *fresh;
    }
    delete fresh;
  }
  return *now;
}

// ---- The network ----

enum Cell : int32_t { kTanh = 0, kRelu = 1, kGru = 2, kLstm = 3 };

struct Buffer {  // aligned floats, zeroed when taken
  float* data = nullptr;
  size_t size = 0;
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data); }
  void Reserve(size_t floats) {
    if (floats <= size) return;
    std::free(data);
    data = nullptr;
    size = 0;
    void* memory = nullptr;
    if (posix_memalign(&memory, 128, (floats + kLanes) * sizeof(float)) != 0) throw std::bad_alloc();
    data = static_cast<float*>(memory);
    size = floats;
    std::memset(data, 0, floats * sizeof(float));
  }
};

// Rows of all gates, in strips ordered [unit block][gate], so that a thread with a range of unit blocks has all
// their gates.
struct Weights {
  Buffer input, state, bias,
      state_bias;     // state_bias: the GRU's candidate gate adds it before the reset gate multiplies
  Buffer projection;  // of the LSTM's h to fewer numbers; empty without one
};

struct Net {
  int32_t cell, layers, directions;
  int64_t inputs, hidden, head;  // head: rows of a Linear applied to every step of the last layer, 0 for none
  int64_t projected;             // numbers that h is projected to, 0 for no projection
  std::vector<Weights> weights;
  Buffer head_weight, head_bias;
  std::mutex arenas_lock;
  std::vector<std::unique_ptr<Buffer>> arenas;  // working memory of finished calls, for the next ones

  int64_t gates() const { return cell == kLstm ? 4 : cell == kGru ? 3 : 1; }
  int64_t blocks() const { return (hidden + kLanes - 1) / kLanes; }
  int64_t state() const { return projected > 0 ? projected : hidden; }
  int64_t width(int64_t layer) const { return layer == 0 ? inputs : state() * directions; }
};

void PackStrips(const float* w, int64_t ld, int64_t depth, int64_t units, int64_t gates, Buffer& out) {
  const int64_t blocks = (units + kLanes - 1) / kLanes;
  out.Reserve(static_cast<size_t>(blocks * gates * depth * kLanes));
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t gate = 0; gate < gates; ++gate) {
      float* strip = out.data + (block * gates + gate) * depth * kLanes;
      const int64_t count = std::min<int64_t>(kLanes, units - block * kLanes);
      for (int64_t lane = 0; lane < count; ++lane) {
        const float* row = w + (gate * units + block * kLanes + lane) * ld;
        for (int64_t k = 0; k < depth; ++k) strip[k * kLanes + lane] = row[k];
      }
    }
}

}  // namespace

// One call. Strides count floats; x, y are [steps][batch][features] in any layout whose features are
// adjacent.
struct HoneCall {
  int64_t steps, batch;
  const float* x;
  int64_t x_step, x_row;
  const float *h0, *c0;  // [layers * directions][batch][state and hidden], null for zeros
  float* y;              // the sequence (or the head's); null when not wanted
  int64_t y_step, y_row;
  int64_t last_only;  // y holds only the last step
  float *h_n, *c_n;   // null when not wanted
  int64_t threads;
  int64_t
      split[3];  // threads over the batch, over directions or layers, over hidden units; zeros: chosen here
};

namespace {

// ---- Division of work ----

// What the division of work is predicted with. Hone renders these figures from its file of the device.
constexpr double kMultiplyCycles = @@cpu.json:persistent.cycles.multiply@@;
constexpr double kInputCycles = @@cpu.json:persistent.cycles.input@@;
constexpr double kGateCycles = @@cpu.json:persistent.cycles.gate@@;
constexpr double kL2BytesPerCycle = @@cpu.json:persistent.cycles.l2_bytes_per_cycle@@;
constexpr double kL3BytesPerCycle = @@cpu.json:persistent.cycles.l3_bytes_per_cycle@@;
constexpr double kMemoryBytesPerCycle = @@cpu.json:persistent.cycles.memory_bytes_per_cycle@@;
constexpr double kL2Share = @@cpu.json:persistent.cycles.l2_share@@;
constexpr double kL3Bytes = @@cpu.json:persistent.cycles.l3_bytes@@;
constexpr double kStepCycles = @@cpu.json:persistent.cycles.step@@;
constexpr double kBarrierCycles = @@cpu.json:persistent.cycles.barrier@@;
constexpr double kBarrierThreadCycles = @@cpu.json:persistent.cycles.barrier_thread@@;
constexpr double kWaitPercent = @@cpu.json:persistent.cycles.wait_percent@@;
constexpr double kWakeCycles = @@cpu.json:persistent.cycles.wake@@;
constexpr double kLeastCycles = @@cpu.json:persistent.cycles.least@@;

// Threads are spread over parts of the batch (they never meet), over directions or pipelined layers (they
// meet once a chunk or layer), and over hidden units (they meet every step).
struct Split {
  int64_t batch = 1, lanes = 1, units = 1;
  int64_t threads() const { return batch * lanes * units; }
};

int64_t Ceil(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

int64_t ChunkSteps(int64_t rows, int64_t steps) {
  return std::max<int64_t>(1, std::min(steps, Ceil(96, rows)));
}

double OwnCacheBytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  static const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (bytes > 0) return static_cast<double>(bytes);
#endif
  return 1e6;
}

// Cycles of the busiest thread, from the tile's arithmetic and the bytes it must draw from the caches.
double PredictCycles(const Net& net, const HoneCall& call, const Split& split) {
  const int64_t rows = Ceil(call.batch, split.batch);
  const double strips = static_cast<double>(Ceil(net.blocks(), split.units) * net.gates());
  const double bytes = strips * kVectorBytes * static_cast<double>(net.hidden);
  const double bytes_per_cycle = bytes < kL2Share * OwnCacheBytes() ? kL2BytesPerCycle
                                 : bytes < kL3Bytes                 ? kL3BytesPerCycle
                                                                    : kMemoryBytesPerCycle;
  const double tile_rows = static_cast<double>(rows) * strips;
  const double inputs = static_cast<double>(net.width(0) + (net.layers - 1) * net.width(1)) / net.layers;
  const double product =
      std::max(tile_rows * static_cast<double>(net.hidden) * kMultiplyCycles, bytes / bytes_per_cycle);
  const double barrier =
      split.units > 1 ? kBarrierCycles + kBarrierThreadCycles * static_cast<double>(split.units) : 0.0;
  const double step = product + tile_rows * (inputs * kInputCycles + kGateCycles) + barrier + kStepCycles;
  int64_t steps = call.steps * net.layers * Ceil(net.directions, split.lanes);
  if (net.directions == 1)
    steps = call.steps * Ceil(net.layers, split.lanes) + (split.lanes - 1) * ChunkSteps(rows, call.steps);
  // Threads on parts of the batch never wait for each other.
  const double waiting = split.lanes > 1 ? 1 + kWaitPercent / 100 : 1.0;
  return waiting * step * static_cast<double>(steps) +
         kWakeCycles * static_cast<double>(split.threads() - 1);
}

Split Choose(const Net& net, const HoneCall& call) {
  const int64_t most_lanes = net.directions == 2 ? 2 : net.layers;
  Split best;
  if (call.split[0] > 0 && call.split[1] > 0 && call.split[2] > 0) {
    best.batch = std::min(call.split[0], call.batch);
    best.lanes = std::min(call.split[1], most_lanes);
    best.units = std::min(call.split[2], net.blocks());
    return best;
  }
  double best_cycles = PredictCycles(net, call, best);
  if (best_cycles < kLeastCycles) return best;  // over before another thread is awake
  for (Split s; s.batch <= std::min(call.threads, call.batch); ++s.batch)
    for (s.lanes = 1; s.lanes <= most_lanes && s.batch * s.lanes <= call.threads; ++s.lanes)
      for (s.units = 1; s.units <= net.blocks() && s.threads() <= call.threads; ++s.units) {
        const double cycles = PredictCycles(net, call, s);
        if (cycles < best_cycles) {
          best = s;
          best_cycles = cycles;
        }
      }
  return best;
}

// ---- One call, seen by all its threads ----

struct Team {  // the threads that share one part of the batch and one lane, each with a range of hidden units
  Barrier barrier;
  float* state[2];  // h of the last and the next step, [row][state_ld]
  float* whole;     // h before it is projected
};

class Execution {
 public:
  Execution(const Net& net, const HoneCall& call, const Split& split, Buffer& arena)
      : net_(net),
        call_(call),
        split_(split),
        progress_(static_cast<size_t>(split.batch * net.layers * net.directions)),
        teams_(static_cast<size_t>(split.batch * split.lanes)) {
    rows_ = Ceil(call.batch, split.batch);
    chunk_ = ChunkSteps(rows_, call.steps);
    const int64_t widest =
        std::max(net.inputs, net.layers > 1 || net.head > 0 ? net.state() * net.directions : 0);
    state_ld_ = (net.blocks() + 1) *
                kLanes;  // one vector more than needed: rows of 4096 bytes would share cache sets
    source_ld_ = Ceil(widest, kLanes) * kLanes + kLanes;
    pre_ld_ =
        std::max(Ceil(net.blocks(), split.units) * net.gates(), Ceil(Ceil(net.head, kLanes), split.units)) *
            kLanes +
        kLanes;
    sequence_ld_ = net.state() * net.directions;
    const int64_t sequence = call.steps * call.batch * sequence_ld_;
    const bool last_stored = call.y != nullptr && call.last_only == 0 && net.head == 0;
    const int64_t sequences = net.directions == 2 ? std::min<int64_t>(2, net.layers - 1)
                              : net.head > 0 || (net.layers > 1 && !last_stored) ? 1
                                                                                 : 0;

    const auto padded = [](int64_t floats) {
      return Ceil(floats, 32) * 32;
    };  // whole cache lines, two of them
    state_floats_ = padded(rows_ * state_ld_);
    source_floats_ = padded(rows_ * chunk_ * source_ld_);
    projected_floats_ = padded(rows_ * chunk_ * pre_ld_);
    recurrent_floats_ = padded(rows_ * pre_ld_);
    per_thread_ = source_floats_ + projected_floats_ + recurrent_floats_ + state_floats_;
    const int64_t states = net.projected > 0 ? 3 : 2;
    const int64_t shared = sequences * padded(sequence) + states * split.batch * split.lanes * state_floats_;
    arena.Reserve(static_cast<size_t>(shared + split.threads() * per_thread_));
    float* at = arena.data;
    for (int64_t i = 0; i < sequences; ++i, at += padded(sequence)) sequence_[i] = at;
    for (Team& team : teams_) {
      for (float*& state : team.state) {
        state = at;
        at += state_floats_;
      }
      team.whole = net.projected > 0 ? at : nullptr;
      at += net.projected > 0 ? state_floats_ : 0;
    }
    private_ = at;
  }

  void Thread(int64_t index);

 private:
  struct Sequence {  // [step][row][features]
    float* data;
    int64_t step, row;
  };
  struct Step {  // null where not wanted; y, h_n and c_n point at the thread's first row
    const float *projected, *before;
    float *after, *y, *h_n, *c_n;
    int64_t y_row;
  };
  struct Member {  // what one thread works on
    Team* team;
    int64_t first_row, rows, first_block, blocks, unit_index;
    float *source, *projected, *recurrent, *memory;
    Counter* progress;  // of its part of the batch, [layer][direction]
  };

  void Layer(Member& me, int64_t layer, int64_t direction);
  void CopySource(const Member& me, const Sequence& from, int64_t width, int64_t first, int64_t count,
                  bool backward) const;
  void Head(const Member& me, int64_t first, int64_t count) const;
  void Project(const Member& me, const Weights& w, const Step& step) const;
  template <int kCell>
  void Gates(const Member& me, const Weights& w, const Step& step) const;

  // The destination of a layer's outputs. Layers of one direction work in place on one sequence, which is the
  // caller's y if that is requested: a chunk is read before it is written. With two directions a layer reads all of one
  // sequence and writes another.
  Sequence Output(int64_t layer) const {
    const Sequence between = {sequence_[net_.directions == 2 ? layer & 1 : 0], call_.batch * sequence_ld_,
                              sequence_ld_};
    const Sequence wanted = {call_.y, call_.last_only != 0 ? 0 : call_.y_step, call_.y_row};
    if (layer == net_.layers - 1) return net_.head > 0 ? between : wanted;
    return between.data != nullptr ? between : wanted;
  }

  const Net& net_;
  const HoneCall& call_;
  const Split split_;
  std::vector<Counter> progress_;
  std::vector<Team> teams_;
  int64_t rows_, chunk_, state_ld_, source_ld_, pre_ld_, sequence_ld_;
  int64_t state_floats_, source_floats_, projected_floats_, recurrent_floats_, per_thread_;
  float* sequence_[2] = {nullptr, nullptr};
  float* private_ = nullptr;
};

void Execution::Thread(int64_t index) {
  const int64_t part = index / (split_.lanes * split_.units);
  const int64_t lane = index / split_.units % split_.lanes;
  Member me;
  me.unit_index = index % split_.units;
  me.team = &teams_[static_cast<size_t>(part * split_.lanes + lane)];
  me.first_row = part * call_.batch / split_.batch;
  me.rows = (part + 1) * call_.batch / split_.batch - me.first_row;
  me.first_block = me.unit_index * net_.blocks() / split_.units;
  me.blocks = (me.unit_index + 1) * net_.blocks() / split_.units - me.first_block;
  me.source = private_ + index * per_thread_;
  me.projected = me.source + source_floats_;
  me.recurrent = me.projected + projected_floats_;
  me.memory = me.recurrent + recurrent_floats_;
  me.progress = &progress_[static_cast<size_t>(part * net_.layers * net_.directions)];
  if (net_.directions == 1) {
    for (int64_t layer = lane; layer < net_.layers; layer += split_.lanes) Layer(me, layer, 0);
  } else {
    for (int64_t layer = 0; layer < net_.layers; ++layer)
      for (int64_t direction = lane; direction < 2; direction += split_.lanes) Layer(me, layer, direction);
  }
}

void Execution::CopySource(const Member& me, const Sequence& from, int64_t width, int64_t first,
                           int64_t count, bool backward) const {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t t = backward ? call_.steps - 1 - (first + i) : first + i;
    for (int64_t b = 0; b < me.rows; ++b)
      std::memcpy(me.source + (i * me.rows + b) * source_ld_,
                  from.data + t * from.step + (me.first_row + b) * from.row,
                  static_cast<size_t>(width) * sizeof(float));
  }
}

// One step's gates for this thread's units: takes both products, moves the state on, writes what is wanted.
template <int kCell>
void Execution::Gates(const Member& me, const Weights& w, const Step& step) const {
  constexpr int kGates = kCell == kLstm ? 4 : kCell == kGru ? 3 : 1;
  for (int64_t b = 0; b < me.rows; ++b)
    for (int64_t block = 0; block < me.blocks; ++block) {
      const int64_t unit = (me.first_block + block) * kLanes;
      const float* from_input = step.projected + b * pre_ld_ + block * kGates * kLanes;
      const float* from_state = me.recurrent + b * pre_ld_ + block * kGates * kLanes;
      const float* bias = w.bias.data + (me.first_block + block) * kGates * kLanes;
      const auto sum = [&](int gate) {
        return Load(from_input + gate * kLanes) + Load(from_state + gate * kLanes) +
               Load(bias + gate * kLanes);
      };
      float* memory = me.memory + b * state_ld_ + unit;
      Vec h;
      if constexpr (kCell == kGru) {
        const Vec reset = Sigmoid(sum(0));
        const Vec update = Sigmoid(sum(1));
        const Vec inner = Load(from_state + 2 * kLanes) + Load(w.state_bias.data + unit);
        const Vec fresh = Tanh(Load(from_input + 2 * kLanes) + Load(bias + 2 * kLanes) + reset * inner);
        h = fresh + update * (Load(step.before + b * state_ld_ + unit) - fresh);
      } else if constexpr (kCell == kLstm) {
        const Vec kept = Sigmoid(sum(1)) * Load(memory);
        const Vec cell = Sigmoid(sum(0)) * Tanh(sum(2)) + kept;
        Store(memory, cell);
        h = Sigmoid(sum(3)) * Tanh(cell);
      } else if constexpr (kCell == kTanh) {
        h = Tanh(sum(0));
      } else {
        h = sum(0);
        h = h < 0.0f ? Vec{} : h;
      }
      Store(step.after + b * state_ld_ + unit, h);
      const int64_t count = net_.hidden - unit;
      if (step.y != nullptr) StoreSome(step.y + b * step.y_row + unit, h, count);
      if (step.h_n != nullptr) StoreSome(step.h_n + b * net_.hidden + unit, h, count);
      if (step.c_n != nullptr) StoreSome(step.c_n + b * net_.hidden + unit, Load(memory), count);
    }
}

// The state from h and the projection, whose rows are shared out among the team.
void Execution::Project(const Member& me, const Weights& w, const Step& step) const {
  const int64_t all = Ceil(net_.projected, kLanes);
  const int64_t from = me.unit_index * all / split_.units,
                strips = (me.unit_index + 1) * all / split_.units - from;
  Multiply(me.team->whole, state_ld_, me.rows, w.projection.data + from * net_.hidden * kLanes, net_.hidden,
           strips, me.recurrent, pre_ld_);
  for (int64_t b = 0; b < me.rows; ++b)
    for (int64_t s = 0; s < strips; ++s) {
      const int64_t column = (from + s) * kLanes, count = net_.projected - column;
      const Vec value = Load(me.recurrent + b * pre_ld_ + s * kLanes);
      Store(step.after + b * state_ld_ + column, value);
      if (step.y != nullptr) StoreSome(step.y + b * step.y_row + column, value, count);
      if (step.h_n != nullptr) StoreSome(step.h_n + b * net_.projected + column, value, count);
    }
}

void Execution::Layer(Member& me, int64_t layer, int64_t direction) {
  const int64_t index = layer * net_.directions + direction;
  const Weights& w = net_.weights[static_cast<size_t>(index)];
  const bool last = layer == net_.layers - 1, backward = direction == 1;
  const uint32_t members = static_cast<uint32_t>(split_.units);
  const int64_t width = net_.width(layer), hidden = net_.hidden, state = net_.state();
  const int64_t strips = me.blocks * net_.gates(), first_strip = me.first_block * net_.gates();
  const Sequence output = Output(layer);
  const Sequence input =
      layer > 0 ? Output(layer - 1) : Sequence{const_cast<float*>(call_.x), call_.x_step, call_.x_row};
  const int64_t own = index * call_.batch + me.first_row;  // this part of the batch in h0, c0, h_n and c_n

  const int64_t unit = me.first_block * kLanes, units = me.blocks * kLanes;
  const auto begin = [&](const float* from, int64_t size, float* to) {
    const int64_t taken = std::min(units, std::max<int64_t>(0, size - unit));
    for (int64_t b = 0; b < me.rows; ++b) {
      float* row = to + b * state_ld_ + unit;
      std::memset(row, 0, static_cast<size_t>(units) * sizeof(float));
      if (from != nullptr && taken > 0)
        std::memcpy(row, from + (own + b) * size + unit, static_cast<size_t>(taken) * sizeof(float));
    }
  };
  begin(call_.h0, state, me.team->state[0]);
  if (net_.cell == kLstm) begin(call_.c0, hidden, me.memory);
  me.team->barrier.Wait(members);

  // The backward direction's output at the last step is its first one.
  int64_t steps = call_.steps;
  if (backward && last && call_.last_only != 0 && call_.h_n == nullptr && call_.c_n == nullptr) steps = 1;
  int now = 0;
  for (int64_t first = 0; first < steps; first += chunk_) {
    const int64_t count = std::min(chunk_, steps - first);
    if (layer > 0 && net_.directions == 1)
      me.progress[layer - 1].WaitFor(static_cast<uint32_t>(first + count));
    if (layer > 0 && net_.directions == 2 && first == 0)
      for (int64_t d = 0; d < 2; ++d)
        me.progress[(layer - 1) * 2 + d].WaitFor(static_cast<uint32_t>(call_.steps));
    CopySource(me, input, width, first, count, backward);
    if (layer > 0) me.team->barrier.Wait(members);  // all have read the chunk before any of them writes it
    Multiply(me.source, source_ld_, me.rows * count, w.input.data + first_strip * width * kLanes, width,
             strips, me.projected, pre_ld_);
    for (int64_t i = 0; i < count; ++i) {
      Multiply(me.team->state[now], state_ld_, me.rows, w.state.data + first_strip * state * kLanes, state,
               strips, me.recurrent, pre_ld_);
      const int64_t t = backward ? call_.steps - 1 - (first + i) : first + i;
      const bool stored =
          output.data != nullptr && (!last || net_.head > 0 || call_.last_only == 0 || t == call_.steps - 1);
      const bool final = first + i == call_.steps - 1;
      Step step;
      step.projected = me.projected + i * me.rows * pre_ld_;
      step.before = me.team->state[now];
      step.after = me.team->state[now ^ 1];
      step.y =
          stored ? output.data + t * output.step + me.first_row * output.row + direction * state : nullptr;
      step.y_row = output.row;
      step.h_n = final && call_.h_n != nullptr ? call_.h_n + own * state : nullptr;
      step.c_n = final && call_.c_n != nullptr ? call_.c_n + own * hidden : nullptr;
      switch (net_.cell) {
        case kTanh:
          Gates<kTanh>(me, w, step);
          break;
        case kRelu:
          Gates<kRelu>(me, w, step);
          break;
        case kGru:
          Gates<kGru>(me, w, step);
          break;
        default:
          if (net_.projected > 0) {
            Step whole = step;
            whole.after = me.team->whole;
            whole.y = whole.h_n = nullptr;
            Gates<kLstm>(me, w, whole);
            me.team->barrier.Wait(members);
            Project(me, w, step);
          } else {
            Gates<kLstm>(me, w, step);
          }
          break;
      }
      now ^= 1;
      me.team->barrier.Wait(members);
    }
    if (last && net_.head > 0) Head(me, first, count);
    if (me.unit_index == 0) me.progress[index].Set(static_cast<uint32_t>(first + count));
  }
}

// The Linear on every step of the last layer, a chunk at a time; its rows are shared out among the team.
void Execution::Head(const Member& me, int64_t first, int64_t count) const {
  const int64_t all = Ceil(net_.head, kLanes);
  const int64_t from = me.unit_index * all / split_.units,
                strips = (me.unit_index + 1) * all / split_.units - from;
  CopySource(me, Output(net_.layers - 1), net_.hidden, first, count, false);
  Multiply(me.source, source_ld_, me.rows * count, net_.head_weight.data + from * net_.hidden * kLanes,
           net_.hidden, strips, me.projected, pre_ld_);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t b = 0; b < me.rows; ++b)
      for (int64_t s = 0; s < strips; ++s) {
        const int64_t column = (from + s) * kLanes;
        const Vec value = Load(me.projected + (i * me.rows + b) * pre_ld_ + s * kLanes) +
                          Load(net_.head_bias.data + column);
        StoreSome(call_.y + (first + i) * call_.y_step + (me.first_row + b) * call_.y_row + column, value,
                  net_.head - column);
      }
}

}  // namespace

// ---- The C interface. Zero and non-null mean success; nothing throws past here ----

extern "C" {

void* hone_create(int64_t cell, int64_t layers, int64_t directions, int64_t inputs, int64_t hidden,
                  int64_t projected, int64_t head) {
  if (head > 0 && directions != 1) return nullptr;
  try {
    auto net = std::make_unique<Net>();
    net->cell = static_cast<int32_t>(cell);
    net->layers = static_cast<int32_t>(layers);
    net->directions = static_cast<int32_t>(directions);
    net->inputs = inputs;
    net->hidden = hidden;
    net->projected = projected;
    net->head = head;
    net->weights = std::vector<Weights>(static_cast<size_t>(layers * directions));
    return net.release();
  } catch (...) {
    return nullptr;
  }
}

void hone_free(void* handle) {
  delete static_cast<Net*>(handle);
}

// A position-dependent digest of rows of floats: tells whether weights are still those that were packed,
// however they were changed.
uint64_t hone_digest(const float* data, int64_t rows, int64_t width, int64_t ld) {
  typedef uint32_t Lanes __attribute__((vector_size(kVectorBytes), may_alias));
  Lanes state[4] = {};
  uint64_t digest = static_cast<uint64_t>(rows * width) + 1;
  for (int64_t r = 0; r < rows; ++r) {
    const float* p = data + r * ld;
    int64_t i = 0;
    for (; i + 4 * kLanes <= width; i += 4 * kLanes)
      for (int s = 0; s < 4; ++s) {
        Lanes bits;
        std::memcpy(&bits, p + i + s * kLanes, sizeof bits);
        state[s] = (state[s] ^ bits) * 0x9E3779B1u;
      }
    for (; i < width; ++i) {
      uint32_t bits;
      std::memcpy(&bits, p + i, sizeof bits);
      digest = (digest ^ bits) * 0x9E3779B97F4A7C15u;
    }
  }
  for (const Lanes& lanes : state)
    for (int i = 0; i < kLanes; ++i) digest = ((digest ^ lanes[i]) * 0x9E3779B97F4A7C15u) ^ (digest >> 29);
  return digest;
}

// Row-major [gates * hidden][width] matrices whose rows lie `ld` floats apart; biases may be null. Not while
// a call runs.
int64_t hone_pack(void* handle, int64_t index, const float* w_input, int64_t ld_input, const float* w_state,
                  int64_t ld_state, const float* b_input, const float* b_state) {
  try {
    Net& net = *static_cast<Net*>(handle);
    Weights& w = net.weights.at(static_cast<size_t>(index));
    const int64_t gates = net.gates(), hidden = net.hidden;
    PackStrips(w_input, ld_input, net.width(index / net.directions), hidden, gates, w.input);
    PackStrips(w_state, ld_state, net.state(), hidden, gates, w.state);
    w.bias.Reserve(static_cast<size_t>(net.blocks() * gates * kLanes));
    w.state_bias.Reserve(static_cast<size_t>(net.blocks() * kLanes));
    for (int64_t gate = 0; gate < gates; ++gate)
      for (int64_t unit = 0; unit < hidden; ++unit) {
        const int64_t row = gate * hidden + unit;
        const float of_state = b_state == nullptr ? 0.0f : b_state[row];
        const bool apart = net.cell == kGru && gate == 2;
        if (apart) w.state_bias.data[unit] = of_state;
        w.bias.data[(unit / kLanes * gates + gate) * kLanes + unit % kLanes] =
            (b_input == nullptr ? 0.0f : b_input[row]) + (apart ? 0.0f : of_state);
      }
    return 0;
  } catch (...) {
    return 1;
  }
}

// [projected][hidden]
int64_t hone_pack_projection(void* handle, int64_t index, const float* weight, int64_t ld) {
  try {
    Net& net = *static_cast<Net*>(handle);
    PackStrips(weight, ld, net.hidden, net.projected, 1,
               net.weights.at(static_cast<size_t>(index)).projection);
    return 0;
  } catch (...) {
    return 1;
  }
}

int64_t hone_pack_head(void* handle, const float* weight, int64_t ld, const float* bias) {
  try {
    Net& net = *static_cast<Net*>(handle);
    PackStrips(weight, ld, net.hidden, net.head, 1, net.head_weight);
    net.head_bias.Reserve(static_cast<size_t>(Ceil(net.head, kLanes) * kLanes));
    if (bias != nullptr) std::memcpy(net.head_bias.data, bias, static_cast<size_t>(net.head) * sizeof(float));
    return 0;
  } catch (...) {
    return 1;
  }
}

// `call->split` holds the split that was used on return.
int64_t hone_run(void* handle, HoneCall* call) {
  try {
    Net& net = *static_cast<Net*>(handle);
    std::unique_ptr<Buffer> arena;
    {
      // Tries the lock without waiting: in a process that was forked while it was held, nobody will release it.
      std::unique_lock<std::mutex> lock(net.arenas_lock, std::try_to_lock);
      if (lock.owns_lock() && !net.arenas.empty()) {
        arena = std::move(net.arenas.back());
        net.arenas.pop_back();
      }
    }
    if (arena == nullptr) arena = std::make_unique<Buffer>();
    Split split = Choose(net, *call);
    Pool* threads = split.threads() > 1 ? &ThePool() : nullptr;
    if (threads != nullptr && !threads->TryEnter(static_cast<int>(split.threads()))) {
      threads = nullptr;
      split = Split();
    }
    const auto leave = [](Pool* p) { p->Leave(); };
    const std::unique_ptr<Pool, decltype(leave)> entered(threads, leave);
    Execution execution(net, *call, split, *arena);
    const auto work = [](void* context, int index) { static_cast<Execution*>(context)->Thread(index); };
    if (threads != nullptr)
      threads->Run(static_cast<int>(split.threads()), work, &execution);
    else
      work(&execution, 0);
    call->split[0] = split.batch;
    call->split[1] = split.lanes;
    call->split[2] = split.units;
    std::unique_lock<std::mutex> lock(net.arenas_lock, std::try_to_lock);
    if (lock.owns_lock() && arena->size < (size_t{64} << 20)) net.arenas.push_back(std::move(arena));
    return 0;
  } catch (...) {
    return 1;
  }
}

}  // extern "C"

// @{about}@
// Scans along the innermost axis, a block per row. A warp scans a run of PER times 32 vectors with shuffles, in float. The sums of runs are added in
// double. The next tile is loaded while the current one is scanned. If there are few long rows, they are divided into PARTS: a first launch
// computes the sum of each part, and a second launch scans each part, beginning with the sum of the parts before it.
#define THREADS @{threads}@
#define VEC @{vec}@
#define PER @{per}@
#define PARTS @{parts}@
#define REVERSED @{reversed}@
#define EXCLUSIVE @{exclusive}@
@{stages_text}@
typedef @{scan.element}@ E;
typedef @{scan.ctype}@ C;  // products are scanned in double, because their relative errors add up along a row
typedef Wide<C>::type W;
HONE_FN W scan_join(const W a, const W b) { return a @{scan.sign}@ b; }
HONE_FN C scan_join(const C a, const C b, const int) { return a @{scan.sign}@ b; }
HONE_FN C shuffle_up(const C v, const int d) {
  C to = v;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(C) / 4); ++i) ((word*)&to)[i] = __shfl_up_sync(0xffffffffu, ((const word*)&v)[i], d);
  return to;
}
struct Held {
@for x in held@
  Vec<@{x.type}@, VEC> @{x.name}@;
@end@
  char none;
};
// Position of the vector that is scanned at step `at`. A reversed scan starts with the last one.
HONE_FN Index place(const Index at) { return REVERSED ? kLength - VEC - at : at; }
static const Index kChunk = @{chunk}@;  // of a part
HONE_FN void fetch(const Arguments& a, const Where& w, const Index at0, const Index end, Held* held) {
#pragma unroll
  for (int u = 0; u < PER; ++u) {
    const Index at = at0 + (Index)u * (32 * VEC);
    if (at < end) {
      const Index r = place(at);
@for x in held@
      held[u].@{x.name}@ = load_vec<@{x.type}@, VEC, @{x.row}@>(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@), @{x.step}@);
@end@
    }
  }
}

// A carry as a float and its rounding error, so that outputs need no conversions. Other types are used directly.
@if floats@
struct Carry {
  C high, low;
  HONE_FN Carry(const W v) {
    high = (C)v;
    low = (C)(v - (W)high);
    if (low != low) low = 0;  // for an infinity
  }
  HONE_FN C before(const C prefix) const { return high + (low + prefix); }
};
@else@
struct Carry {
  W v;
  HONE_FN Carry(const W v) : v(v) {}
  HONE_FN C before(const C prefix) const { return (C)scan_join(v, (W)prefix); }
};
@end@
HONE_FN E element_at(const Arguments& a, const Where& w, const Scalars& s, const Held* held, const int u, const int j, const Index r) {
  E e;
@for x in pre.fresh@
  const Vec<@{x.type}@, 1> f_@{x.name}@ = load_apart<@{x.type}@, 1>(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@) + (long long)j * @{x.step}@, 0, 1);
@end@
  element0(s@for x in pre.inputs@, widen<@{x.ctype}@, @{x.type}@>(@{x.from}@)@end@, e);
  return e;
}
@if split@

extern "C" __global__ void __launch_bounds__(THREADS) @{entry}@_sums(const Arguments a) {
  __shared__ State0 shared[33];
  const Row row = blockIdx.x / PARTS;
  const int part = blockIdx.x % PARTS;
  Where w;
  locate(row, w);
  Scalars s;
  prepare(a, row, s);
  const Index begin = (Index)part * kChunk, end = kLength - begin < kChunk ? kLength : begin + kChunk;
  State0 state;
  state.start();
  for (Index t = begin + ((Index)(threadIdx.x / 32) * (32 * PER) + threadIdx.x % 32) * VEC; t < end; t += (Index)THREADS * VEC * PER) {
    Held held[PER];
    fetch(a, w, t, end, held);
#pragma unroll
    for (int u = 0; u < PER; ++u) {
      const Index at = t + (Index)u * (32 * VEC);
      if (at < end) {
        E e[VEC];
#pragma unroll
        for (int j = 0; j < VEC; ++j) e[j] = element_at(a, w, s, held, u, j, place(at));
        state.scan.template add<VEC>(e, 0, 1);
      }
    }
  }
  merge_lanes<THREADS>(state, shared);
  if (threadIdx.x == 0) ((State0*)a.scratch0)[blockIdx.x] = state;
}
@end@

extern "C" __global__ void __launch_bounds__(THREADS) @{entry}@(const Arguments a) {
  __shared__ W sums[2][THREADS / 32];
  const Row row = blockIdx.x / PARTS;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = blockIdx.x % PARTS;
  const Index begin = (Index)part * kChunk, end = kLength - begin < kChunk ? kLength : begin + kChunk;
  Where w;
  locate(row, w);
  Scalars s;
  prepare(a, row, s);
  const Index tile = (Index)THREADS * VEC * PER, first = ((Index)warp * (32 * PER) + lane) * VEC;
  Held held[PER], next[PER];
  fetch(a, w, begin + first, end, held);
  W carry = @{scan.identity}@;
@if split@
  {
    __shared__ State0 shared[33];
    State0 state;
    state.start();
    for (int i = threadIdx.x; i < part; i += THREADS) state.merge(((const State0*)a.scratch0)[(long long)row * PARTS + i]);
    merge_lanes<THREADS>(state, shared);
    carry = state.scan.s;
  }
@end@
  int turn = 0;
  for (Index t = begin; t < end; t += tile, turn ^= 1) {
    fetch(a, w, t + first + tile, end, next);
    C prefix[PER][VEC];
    C running = @{scan.identity}@;  // sum of the warp so far
#pragma unroll
    for (int u = 0; u < PER; ++u) {
      const Index at = t + first + (Index)u * (32 * VEC), r = place(at);
      C sum = @{scan.identity}@;
#pragma unroll
      for (int i = 0; i < VEC; ++i) {
        const int j = REVERSED ? VEC - 1 - i : i;
        const C e = at < end ? (C)element_at(a, w, s, held, u, j, r) : (C)@{scan.identity}@;
        if (EXCLUSIVE) prefix[u][j] = sum;
        sum = scan_join(sum, e, 0);
        if (!EXCLUSIVE) prefix[u][j] = sum;
      }
      C total = sum;
#pragma unroll
      for (int d = 1; d < 32; d *= 2) {
        const C other = shuffle_up(total, d);
        if (lane >= d) total = scan_join(other, total, 0);
      }
      C before = shuffle_up(total, 1);
      if (lane == 0) before = @{scan.identity}@;
      before = scan_join(running, before, 0);
#pragma unroll
      for (int j = 0; j < VEC; ++j) prefix[u][j] = scan_join(before, prefix[u][j], 0);
      running = scan_join(running, from_lane(total, 31, 32), 0);
    }
    // Two alternating buffers: all readers of this one have passed the barrier of the tile in between.
    if (lane == 0) sums[turn][warp] = (W)running;  // hone: allow missing-sync
    __syncthreads();
    W before = carry;
#pragma unroll
    for (int i = 0; i < THREADS / 32; ++i) {
      if (i < warp) before = scan_join(before, sums[turn][i]);
      carry = scan_join(carry, sums[turn][i]);
    }
    const Carry carried(before);
#pragma unroll
    for (int u = 0; u < PER; ++u) {
      const Index at = t + first + (Index)u * (32 * VEC), r = place(at);
      if (at < end) {
@for y in outputs@
        Vec<@{y.type}@, VEC> v_@{y.name}@;
@end@
#pragma unroll
        for (int j = 0; j < VEC; ++j) {
          const C scanned = carried.before(prefix[u][j]);
@for x in last.fresh@
          const Vec<@{x.type}@, 1> f_@{x.name}@ = load_apart<@{x.type}@, 1>(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@) + (long long)j * @{x.step}@, 0, 1);
@end@
@for y in outputs@
          @{y.ctype}@ @{y.name}@;
@end@
          element_out(s@for x in last.inputs@, widen<@{x.ctype}@, @{x.type}@>(@{x.from}@)@end@@for y in outputs@, @{y.name}@@end@);
@for y in outputs@
          v_@{y.name}@.v[j] = narrow<@{y.type}@, @{y.ctype}@>(@{y.name}@);
@end@
        }
@for y in outputs@
        store_vec<@{y.type}@, VEC, @{y.row}@>(a.@{y.pointer}@ + (w.@{y.name}@ + @{y.at}@), v_@{y.name}@, @{y.step}@);
@end@
      }
    }
#pragma unroll
    for (int u = 0; u < PER; ++u) held[u] = next[u];
  }
}

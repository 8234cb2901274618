// @{about}@
// Reduces along an axis that is not the innermost. A thread owns VEC neighbouring columns, and COLUMNS threads cover neighbouring columns. The
// reduced axis is divided among DEEP rows of threads and among PARTS blocks. Blocks exchange states through scratch memory, one launch per stage.
#define THREADS @{threads}@
#define COLUMNS @{lanes}@
#define DEEP (THREADS / COLUMNS)
#define VEC @{vec}@
#define PER @{per}@
#define PARTS @{parts}@
@{stages_text}@

static const Index kChunk = @{chunk}@;     // length of a part
static const Row kInner = @{inner}@;       // number of adjacent columns
static const Row kTiles = @{tiles}@;       // blocks that cover them
struct Held {
@for x in held@
  Vec<@{x.type}@, VEC> @{x.name}@;
@end@
  char none;
};
HONE_FN Index place(const Index r, const int u) { return r + (Index)u * DEEP; }

template <int U> HONE_FN void fetch(const Arguments& a, const Where& w, const Index r0, const Index end, Held* held) {
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const Index r = place(r0, u);
    if (r < end) {
@for x in held@
      held[u].@{x.name}@ = load_vec<@{x.type}@, VEC, @{x.row}@>(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@), @{x.step}@);
@end@
    }
  }
}
// Merges the states of one column's threads, for all of them.
template <class S> HONE_FN void merge_deep(S* state, S* shared) {
  if (DEEP == 1) return;
#pragma unroll
  for (int j = 0; j < VEC; ++j) shared[j * THREADS + threadIdx.x] = state[j];
  __syncthreads();
#pragma unroll
  for (int d = DEEP / 2; d > 0; d /= 2) {
    if (threadIdx.x / COLUMNS < d) {
#pragma unroll
      for (int j = 0; j < VEC; ++j) {
        state[j].merge(shared[j * THREADS + threadIdx.x + d * COLUMNS]);
        shared[j * THREADS + threadIdx.x] = state[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < VEC; ++j) state[j] = shared[j * THREADS + threadIdx.x % COLUMNS];
  __syncthreads();
}
@for stage in stages@

template <int U> HONE_FN void take@{stage.number}@(const Arguments& a, const Where& w, const Scalars* s, const Held* held, const Index r0, const Index end, State@{stage.number}@* state) {
@for r in stage.reductions@
  @{r.ctype}@ e_@{r.name}@[VEC][U];
@end@
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const Index r = place(r0, u);
    if (r < end) {
@for x in stage.fresh@
      const Vec<@{x.type}@, VEC> f_@{x.name}@ = load_vec_again<@{x.type}@, VEC, @{x.row}@>(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@), @{x.step}@);
@end@
#pragma unroll
      for (int j = 0; j < VEC; ++j)
        element@{stage.number}@(s[j]@for x in stage.inputs@, widen<@{x.ctype}@, @{x.type}@>(@{x.from}@.v[j])@end@@for r in stage.reductions@, e_@{r.name}@[j][u]@end@);
    }
  }
  if (place(r0, U - 1) < end) {
#pragma unroll
    for (int j = 0; j < VEC; ++j) {
@for r in stage.reductions@
      state[j].@{r.name}@.template add<U>(e_@{r.name}@[j], (long long)r0, DEEP);
@end@
    }
  } else {
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (place(r0, u) < end) {
#pragma unroll
        for (int j = 0; j < VEC; ++j) {
@for r in stage.reductions@
          state[j].@{r.name}@.template add<1>(&e_@{r.name}@[j][u], (long long)place(r0, u), 1);
@end@
        }
      }
  }
}
@end@
@if writes_elements@

template <int U> HONE_FN void put(const Arguments& a, const Where& w, const Scalars* s, const Held* held, const Index r0, const Index end) {
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const Index r = place(r0, u);
    if (r < end) {
@for x in last.fresh@
      const Vec<@{x.type}@, VEC> f_@{x.name}@ = load_vec_again<@{x.type}@, VEC, @{x.row}@>(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@), @{x.step}@);
@end@
@for y in outputs@
      Vec<@{y.type}@, VEC> v_@{y.name}@;
@end@
#pragma unroll
      for (int j = 0; j < VEC; ++j) {
@for y in outputs@
        @{y.ctype}@ @{y.name}@;
@end@
        element_out(s[j]@for x in last.inputs@, widen<@{x.ctype}@, @{x.type}@>(@{x.from}@.v[j])@end@@for y in outputs@, @{y.name}@@end@);
@for y in outputs@
        v_@{y.name}@.v[j] = narrow<@{y.type}@, @{y.ctype}@>(@{y.name}@);
@end@
      }
@for y in outputs@
      store_vec<@{y.type}@, VEC, @{y.row}@>(a.@{y.pointer}@ + (w.@{y.name}@ + @{y.at}@), v_@{y.name}@, @{y.step}@);
@end@
    }
  }
}
@end@
@for entry in entries@

extern "C" __global__ void __launch_bounds__(THREADS) @{entry.name}@(const Arguments a) {
@for stage in stages@
  __shared__ State@{stage.number}@ shared@{stage.number}@[DEEP == 1 ? 1 : THREADS * VEC];
@end@
  const int part = blockIdx.x % @{entry.parts}@, deep = threadIdx.x / COLUMNS;
  const Row block = (Row)(blockIdx.x / @{entry.parts}@);
  Row column = (block % kTiles) * (COLUMNS * VEC) + (threadIdx.x % COLUMNS) * VEC;
  const bool active = column < kInner;
  if (!active) column = 0;
  const Row row = block / kTiles * kInner + column;
  const Index begin = (Index)part * kChunk, r0 = begin + (Index)deep;
  const Index end = begin >= kLength ? begin : kLength - begin < kChunk ? kLength : begin + kChunk;
  Where w;
  locate(row, w);
  Scalars s[VEC];
#pragma unroll
  for (int j = 0; j < VEC; ++j) prepare(a, row + j, s[j]);
@if cache == "registers"@
  Held held[PER];
  fetch<PER>(a, w, r0, end, held);
@end@
@for stage in entry.stages@
  {
    State@{stage.number}@ state[VEC];
#pragma unroll
    for (int j = 0; j < VEC; ++j) state[j].start();
@if stage.combine@
    for (int i = deep; i < PARTS; i += DEEP)
#pragma unroll
      for (int j = 0; j < VEC; ++j) state[j].merge(((const State@{stage.number}@*)a.scratch@{stage.number}@)[(long long)i * kRows + row + j]);
@else@
@if cache == "registers"@
    take@{stage.number}@<PER>(a, w, s, held, r0, end, state);
@else@
    for (Index r = r0; r < end; r += (Index)PER * DEEP) {
      Held held[PER];
      fetch<PER>(a, w, r, end, held);
      take@{stage.number}@<PER>(a, w, s, held, r, end, state);
    }
@end@
@end@
    merge_deep(state, shared@{stage.number}@);
@if stage.scratch@
    if (active && deep == 0) {
#pragma unroll
      for (int j = 0; j < VEC; ++j) ((State@{stage.number}@*)a.scratch@{stage.number}@)[(long long)part * kRows + row + j] = state[j];
    }
@else@
#pragma unroll
    for (int j = 0; j < VEC; ++j) conclude@{stage.number}@(a, row + j, state[j], s[j]);
@end@
  }
@end@
@if entry.writes@
  if (!active) return;
@if writes_elements@
@if cache == "registers"@
  put<PER>(a, w, s, held, r0, end);
@else@
  for (Index r = r0; r < end; r += (Index)PER * DEEP) {
    Held held[PER];
    fetch<PER>(a, w, r, end, held);
    put<PER>(a, w, s, held, r, end);
  }
@end@
@end@
  if (deep == 0 && part == 0) {
#pragma unroll
    for (int j = 0; j < VEC; ++j) write_row(a, row + j, s[j]);
  }
@end@
}
@end@

// @{about}@
// Reduces along the innermost axis. LANES neighbouring threads share a row, or PARTS blocks do: as a cluster that exchanges its states
// through shared memory, or (split) through scratch memory and one launch per stage. What is read once is kept in registers or shared memory.
#define THREADS @{threads}@
#define LANES @{lanes}@
#define VEC @{vec}@
#define PER @{per}@      // vectors of a thread at a time
#define PARTS @{parts}@
#define GROUP @{group}@  // vectors that are added together: where a vector is one element
@{stages_text}@

struct Held {
@for x in held@
  Vec<@{x.type}@, VEC> @{x.name}@;
@end@
  char none;
};
HONE_FN Index place(const Index r, const int u) { return r + (Index)u * (LANES * VEC); }

// OWN: what belongs to the row. SAME: what all rows have in common, where a block takes several rows.
template <int U, bool OWN, bool SAME> HONE_FN void fetch_some(const Arguments& a, const Where& w, const Index r0, const Index end, Held* held) {
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const Index r = place(r0, u);
    if (r < end) {
@for x in held@
      if (@{x.same}@ ? SAME : OWN) held[u].@{x.name}@ = load_vec<@{x.type}@, VEC, @{x.row}@>(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@), @{x.step}@);
@end@
    }
  }
}
template <int U> HONE_FN void fetch(const Arguments& a, const Where& w, const Index r0, const Index end, Held* held) {
  fetch_some<U, true, true>(a, w, r0, end, held);
}
@for stage in stages@

template <int U> HONE_FN void take@{stage.number}@(const Arguments& a, const Where& w, const Scalars& s, const Held* held, const Index r0, const Index end, State@{stage.number}@& state) {
#pragma unroll
  for (int u0 = 0; u0 < U; u0 += GROUP) {
@for r in stage.reductions@
    @{r.ctype}@ e_@{r.name}@[GROUP * VEC];
@end@
#pragma unroll
    for (int g = 0; g < GROUP; ++g) {
      const Index r = place(r0, u0 + g);
      if (u0 + g < U && r < end) {
@for x in stage.fresh@
        const Vec<@{x.type}@, VEC> f_@{x.name}@ = load_vec_again<@{x.type}@, VEC, @{x.row}@>(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@), @{x.step}@);
@end@
#pragma unroll
        for (int j = 0; j < VEC; ++j)
          element@{stage.number}@(s@for x in stage.inputs@, widen<@{x.ctype}@, @{x.type}@>(@{x.from}@.v[j])@end@@for r in stage.reductions@, e_@{r.name}@[g * VEC + j]@end@);
      }
    }
    if (u0 + GROUP <= U && place(r0, u0 + GROUP - 1) < end) {
@for r in stage.reductions@
      state.@{r.name}@.template add<GROUP * VEC>(e_@{r.name}@, (long long)place(r0, u0), GROUP > 1 ? LANES : 1);
@end@
    } else {
#pragma unroll
      for (int g = 0; g < GROUP; ++g)
        if (u0 + g < U && place(r0, u0 + g) < end) {
@for r in stage.reductions@
          state.@{r.name}@.template add<VEC>(e_@{r.name}@ + g * VEC, (long long)place(r0, u0 + g), 1);
@end@
        }
    }
  }
}
@end@
@if writes_elements@

template <int U> HONE_FN void put(const Arguments& a, const Where& w, const Scalars& s, const Held* held, const Index r0, const Index end) {
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
        element_out(s@for x in last.inputs@, widen<@{x.ctype}@, @{x.type}@>(@{x.from}@.v[j])@end@@for y in outputs@, @{y.name}@@end@);
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

@if cache == "shared"@
// The row waits in shared memory. A thread reads back only what it copied itself, so no barrier is needed, and the first stage starts
// with the first quarter while the others are on their way.
#define QUARTER ((PER + 3) / 4)
template <int LEFT> HONE_FN void wait_copies() {
#ifndef HONE_HOST
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
}
HONE_FN void copy_ahead(const void* from, void* to) {
#ifdef HONE_HOST
  *(Words4*)to = *(const Words4*)from;
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((word)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#endif
}
HONE_FN void copies_issued() {
#ifndef HONE_HOST
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
HONE_FN Held kept(const Words4* room, const int u) {
  Held held;
@for x in held@
#pragma unroll
  for (int i = 0; i < (int)sizeof(held.@{x.name}@) / 16; ++i)
    ((Words4*)&held.@{x.name}@)[i] = room[((u * @{held_pieces}@) + @{x.first_piece}@ + i) * THREADS + threadIdx.x];
@end@
  return held;
}
@end@
@if cluster@
#ifndef HONE_HOST
HONE_FN void cluster_sync() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
template <class S> HONE_FN S peer(const S* mine, const int rank) {
  S out;
  word at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"((word)__cvta_generic_to_shared(mine)), "r"(rank));
#pragma unroll
  for (int i = 0; i < (int)(sizeof(S) / 4); ++i) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(((word*)&out)[i]) : "r"(at + 4 * i) : "memory");
  return out;
}
#endif
// What the blocks of the cluster have, merged for lane 0 of a warp. Each lane asks one block, and all clusters merge in the same order.
template <class S> HONE_FN void merge_peers(const S* mine, S& state) {
  if (threadIdx.x < PARTS) state = peer(mine, (int)threadIdx.x); else state.start();
#pragma unroll
  for (int d = PARTS / 2; d > 0; d /= 2) {
    const S other = shuffle_down(state, d);
    state.merge(other);
  }
}
@end@
@for entry in entries@

extern "C" __global__ void __launch_bounds__(THREADS@if min_blocks@, @{min_blocks}@@end@) @{entry.name}@(const Arguments a) {
@if cache == "shared"@
#ifdef HONE_HOST
  Words4* const room = (Words4*)hone_dynamic_shared();
#else
  extern __shared__ Words4 room[];
#endif
@end@
@if whole_block@
@for stage in stages@
  __shared__ State@{stage.number}@ shared@{stage.number}@[33];
@end@
@else@
@for stage in stages@
  State@{stage.number}@* const shared@{stage.number}@ = 0;
@end@
@end@
@if cluster@
@for stage in stages@
  __shared__ State@{stage.number}@ mine@{stage.number}@;
@end@
@end@
@if entry.several@
  // The same part of ROWS rows: what they have in common is loaded once.
  const int lane = threadIdx.x, part = blockIdx.x % @{entry.parts}@;
  const Row row0 = (Row)(blockIdx.x / @{entry.parts}@) * @{entry.rows}@;
  const Index begin = (Index)part * @{entry.chunk}@, r0 = begin + (Index)lane * VEC;
  const Index end = begin >= kLength ? begin : kLength - begin < @{entry.chunk}@ ? kLength : begin + @{entry.chunk}@;
  Where w[@{entry.rows}@];
  Scalars s[@{entry.rows}@];
#pragma unroll
  for (int i = 0; i < @{entry.rows}@; ++i) {
    const Row row = row0 + i < kRows ? row0 + i : kRows - 1;
    locate(row, w[i]);
    prepare(a, row, s[i]);
@for stage in entry.stages@
    {
      State@{stage.number}@ state;
      state.start();
      for (int p = threadIdx.x; p < PARTS; p += THREADS) state.merge(((const State@{stage.number}@*)a.scratch@{stage.number}@)[(long long)row * PARTS + p]);
      merge_lanes<THREADS>(state, shared@{stage.number}@);
      conclude@{stage.number}@(a, row, state, s[i]);
    }
@end@
    if (lane == 0 && part == 0 && row0 + i < kRows) write_row(a, row, s[i]);
  }
  for (Index r = r0; r < end; r += (Index)@{entry.per}@ * (LANES * VEC)) {
    Held held[@{entry.rows}@][@{entry.per}@];
    fetch_some<@{entry.per}@, false, true>(a, w[0], r, end, held[0]);
#pragma unroll
    for (int i = @{entry.rows}@; i-- > 0;) {
#pragma unroll
      for (int u = 0; u < @{entry.per}@; ++u) held[i][u] = held[0][u];
      fetch_some<@{entry.per}@, true, false>(a, w[i], r, end, held[i]);
    }
#pragma unroll
    for (int i = 0; i < @{entry.rows}@; ++i)
      if (row0 + i < kRows) put<@{entry.per}@>(a, w[i], s[i], held[i], r, end);
  }
}
@else@
  const int lane = threadIdx.x % LANES, part = blockIdx.x % @{entry.parts}@;
  Row row = (Row)(blockIdx.x / @{entry.parts}@) * (THREADS / LANES) + threadIdx.x / LANES;
  const bool active = row < kRows;
  if (!active) row = kRows - 1;
  const Index begin = (Index)part * @{entry.chunk}@, r0 = begin + (Index)lane * VEC;
  const Index end = begin >= kLength ? begin : kLength - begin < @{entry.chunk}@ ? kLength : begin + @{entry.chunk}@;
  Where w;
  locate(row, w);
  Scalars s;
  prepare(a, row, s);
@if cache == "registers"@
  Held held[@{entry.per}@];
  fetch<@{entry.per}@>(a, w, r0, end, held);
@elif cache == "shared"@
#pragma unroll
  for (int q = 0; q < 4; ++q) {
#pragma unroll
    for (int u = q * QUARTER; u < (q + 1) * QUARTER && u < PER; ++u) {
      const Index r = place(r0, u);
      if (r < end) {
@for x in held@
#pragma unroll
        for (int i = 0; i < (int)(sizeof(@{x.type}@) * VEC / 16); ++i)
          copy_ahead((const Words4*)(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@)) + i, room + ((u * @{held_pieces}@) + @{x.first_piece}@ + i) * THREADS + threadIdx.x);
@end@
      }
    }
    copies_issued();
  }
@end@
@for stage in entry.stages@
  {
    State@{stage.number}@ state;
    state.start();
@if stage.combine@
    for (int i = threadIdx.x; i < PARTS; i += THREADS) state.merge(((const State@{stage.number}@*)a.scratch@{stage.number}@)[(long long)row * PARTS + i]);
    merge_lanes<THREADS>(state, shared@{stage.number}@);
@else@
@if cache == "registers"@
    take@{stage.number}@<@{entry.per}@>(a, w, s, held, r0, end, state);
@elif cache == "shared"@
@if stage.first@
#define QUARTERLY(q) \
    wait_copies<3 - q>(); \
    _Pragma("unroll") for (int u = q * QUARTER; u < (q + 1) * QUARTER && u < PER; ++u) { \
      const Held held = kept(room, u); \
      take@{stage.number}@<1>(a, w, s, &held, place(r0, u), end, state); \
    }
    QUARTERLY(0) QUARTERLY(1) QUARTERLY(2) QUARTERLY(3)
@else@
#pragma unroll 2
    for (int u = 0; u < PER; ++u) {
      const Held held = kept(room, u);
      take@{stage.number}@<1>(a, w, s, &held, place(r0, u), end, state);
    }
@end@
@else@
    for (Index r = r0; r < end; r += (Index)@{entry.per}@ * (LANES * VEC)) {
      Held held[@{entry.per}@];
      fetch<@{entry.per}@>(a, w, r, end, held);
      take@{stage.number}@<@{entry.per}@>(a, w, s, held, r, end, state);
    }
@end@
    state.settle();
@if cluster@
    merge_block<LANES>(state, shared@{stage.number}@);
    if (threadIdx.x == 0) mine@{stage.number}@ = state;
    cluster_sync();
    if (threadIdx.x < 32) merge_peers(&mine@{stage.number}@, state);
    share_first(state, shared@{stage.number}@);
@else@
    merge_lanes<LANES>(state, shared@{stage.number}@);
@end@
@if stage.scratch@
    if (threadIdx.x == 0) ((State@{stage.number}@*)a.scratch@{stage.number}@)[(long long)row * PARTS + part] = state;
@end@
@end@
@if not stage.scratch@
    conclude@{stage.number}@(a, row, state, s);
@end@
  }
@end@
@if entry.writes@
@if writes_elements@
  if (active) {
@if cache == "registers"@
    put<@{entry.per}@>(a, w, s, held, r0, end);
@elif cache == "shared"@
#pragma unroll 4
    for (int u = 0; u < PER; ++u) {
      const Held held = kept(room, u);
      put<1>(a, w, s, &held, place(r0, u), end);
    }
@else@
    // From the end: what was read last may still be in the cache.
    const Index tile = (Index)@{entry.per}@ * (LANES * VEC);
    for (Index t = (@{entry.chunk}@ + tile - 1) / tile; t-- > 0;) {
      const Index r = r0 + t * tile;
      Held held[@{entry.per}@];
      fetch<@{entry.per}@>(a, w, r, end, held);
      put<@{entry.per}@>(a, w, s, held, r, end);
    }
@end@
  }
@end@
  if (active && lane == 0 && part == 0) write_row(a, row, s);
@end@
@if cluster@
  cluster_sync();  // nobody leaves while another still reads its shared memory
@end@
}
@end@
@end@

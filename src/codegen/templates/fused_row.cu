// @{about}@
// Reduces along the innermost axis. A row is divided among LANES neighbouring threads, or among PARTS blocks. The blocks are a cluster that
// exchanges its states through shared memory, or (split) exchange them through scratch memory, one launch per stage. Elements that were read stay in
// registers.
#define THREADS @{threads}@
#define LANES @{lanes}@
#define VEC @{vec}@
#define PER @{per}@      // vectors of a thread at a time
#define PARTS @{parts}@
#define GROUP @{group}@  // vectors that are added together, if a vector is one element
@{stages_text}@

@{row_text}@
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
// Merges the states of the cluster's blocks for lane 0 of a warp. Each lane reads one block, and all clusters merge in the same order.
template <class S> HONE_FN void merge_peers(const S* mine, S& state) {
  if (threadIdx.x < PARTS) state = peer(mine, (int)threadIdx.x); else state.start();
  state.template level<32>();
#pragma unroll
  for (int d = PARTS / 2; d > 0; d /= 2) {
    const S other = shuffle_down(state, d);
    state.merge(other);
  }
}
@end@
@for entry in entries@

extern "C" __global__ void __launch_bounds__(THREADS@if min_blocks@, @{min_blocks}@@end@) @{entry.name}@(const Arguments a) {
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
  // Processes the same part of ROWS rows and loads their common operands once.
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
@else@
    for (Index r = r0; r < end; r += (Index)@{entry.per}@ * (LANES * VEC)) {
      Held held[@{entry.per}@];
      fetch<@{entry.per}@>(a, w, r, end, held);
      take@{stage.number}@<@{entry.per}@>(a, w, s, held, r, end, state);
    }
@end@
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
@else@
    // Starts at the end, because the elements read last may still be in the cache.
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
  cluster_sync();  // no block may exit while another still reads its shared memory
@end@
}
@end@
@end@

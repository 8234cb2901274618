// @{about}@
// Reduces along the innermost axis of rows that only a cluster of PARTS blocks can hold in shared memory. A cluster stays on the device and
// computes one row after another. A thread reads only what it copied itself. So it can overwrite a place with the next row as soon as it has used
// the current one. Memory is then read while results are written, and this needs no barrier.
#define THREADS @{threads}@
#define LANES @{lanes}@
#define VEC @{vec}@
#define PER @{per}@      // vectors of a thread
#define PARTS @{parts}@
#define GROUP @{group}@
#define QUARTER ((PER + 3) / 4)
@{stages_text}@

@{row_text}@

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
// Starts copying vector `u` of a row to this thread's place.
HONE_FN void copy_vector(const Arguments& a, const Where& w, const Index r0, const Index end, Words4* room, const int u) {
  const Index r = place(r0, u);
  if (r < end) {
@for x in held@
#pragma unroll
    for (int i = 0; i < (int)(sizeof(@{x.type}@) * VEC / 16); ++i)
      copy_ahead((const Words4*)(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@)) + i, room + ((u * @{held_pieces}@) + @{x.first_piece}@ + i) * THREADS + threadIdx.x);
@end@
  }
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
#ifndef HONE_HOST
HONE_FN void cluster_sync() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
// Writes to the same place in another block's shared memory.
template <class S> HONE_FN void push(S* mine, const int rank, const S& state) {
  word at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"((word)__cvta_generic_to_shared(mine)), "r"(rank));
#pragma unroll
  for (int i = 0; i < (int)(sizeof(S) / 4); ++i) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at + 4 * i), "r"(((const word*)&state)[i]) : "memory");
}
#endif
// Merges the states of all blocks of the cluster for every thread. `parts` has two buffers: a block that is a row ahead writes the other one.
template <class S> HONE_FN void merge_cluster(S& state, S* shared, S (*parts)[PARTS], const int part, const int turn) {
  const int lane = threadIdx.x % 32;
  merge_block<THREADS>(state, shared);
  if (threadIdx.x < 32) {
    state = from_lane(state, 0, 32);
    if (lane < PARTS) push(&parts[turn][part], lane, state);
  }
  cluster_sync();
  if (lane < PARTS) state = parts[turn][lane]; else state.start();
  state.template level<32>();
#pragma unroll
  for (int d = PARTS / 2; d > 0; d /= 2) {
    const S other = shuffle_down(state, d);
    state.merge(other);
  }
  state = from_lane(state, 0, 32);
}

extern "C" __global__ void __launch_bounds__(THREADS, @{min_blocks}@) @{entry}@(const Arguments a) {
#ifdef HONE_HOST
  Words4* const room = (Words4*)hone_dynamic_shared();
#else
  extern __shared__ Words4 room[];
#endif
@for stage in stages@
  __shared__ State@{stage.number}@ shared@{stage.number}@[33], parts@{stage.number}@[2][PARTS];
@end@
  const int part = blockIdx.x % PARTS;
  const Row clusters = gridDim.x / PARTS;
  const Index begin = (Index)part * @{chunk}@, r0 = begin + (Index)threadIdx.x * VEC;
  const Index end = begin >= kLength ? begin : kLength - begin < @{chunk}@ ? kLength : begin + @{chunk}@;
  Row row = blockIdx.x / PARTS;
  Where w;
  locate(row, w);
#pragma unroll 1
  for (int q = 0; q < 4; ++q) {
#pragma unroll 4
    for (int u = q * QUARTER; u < (q + 1) * QUARTER && u < PER; ++u) copy_vector(a, w, r0, end, room, u);
    copies_issued();
  }
  cluster_sync();  // waits until the other blocks have started
  for (int turn = 0; row < kRows; turn ^= 1) {
    Scalars s;
    prepare(a, row, s);
@for stage in stages@
    {
      State@{stage.number}@ state;
      state.start();
@if stage.first@
#define QUARTERLY(q) \
      wait_copies<3 - q>(); \
      _Pragma("unroll 2") for (int u = q * QUARTER; u < (q + 1) * QUARTER && u < PER; ++u) { \
        const Held held = kept(room, u); \
        take@{stage.number}@<1>(a, w, s, &held, place(r0, u), end, state); \
      }
      QUARTERLY(0) QUARTERLY(1) QUARTERLY(2) QUARTERLY(3)
#undef QUARTERLY
@else@
#pragma unroll 2
      for (int u = 0; u < PER; ++u) {
        const Held held = kept(room, u);
        take@{stage.number}@<1>(a, w, s, &held, place(r0, u), end, state);
      }
@end@
      merge_cluster(state, shared@{stage.number}@, parts@{stage.number}@, part, turn);
      conclude@{stage.number}@(a, row, state, s);
    }
@end@
    const Row next = row + clusters;
    const bool more = next < kRows && next > row;
    Where w_next;
    locate(more ? next : row, w_next);
#pragma unroll 1
    for (int q = 0; q < 4; ++q) {
#pragma unroll 4
      for (int u = q * QUARTER; u < (q + 1) * QUARTER && u < PER; ++u) {
@if writes_elements@
        const Held held = kept(room, u);
        put<1>(a, w, s, &held, place(r0, u), end);
@end@
        if (more) copy_vector(a, w_next, r0, end, room, u);
      }
      copies_issued();
    }
    if (threadIdx.x == 0 && part == 0) write_row(a, row, s);
    if (!more) break;
    row = next, w = w_next;
  }
  cluster_sync();  // no block may exit while another still writes to its shared memory
}

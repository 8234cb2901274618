// @{about}@
// Results are contiguous along q (the innermost axis), but some operands are contiguous along p. A block has a tile of SIDE x SIDE points. It first
// copies those operands to shared memory, reading along p. Then it computes and writes along q. So reads and writes are both contiguous.
#define SIDE 64
static const int kP = @{size_p}@, kQ = @{size_q}@;

struct Arguments : Imagined {
@for p in pointers@
  @{p.type}@* @{p.name}@;
@end@
};

@{compute_text}@
extern "C" __global__ void __launch_bounds__(256) @{entry}@(const Arguments a) {
@for x in inputs@
@if x.far@
  __shared__ @{x.ctype}@ s_@{x.name}@[SIDE][SIDE + 1];
@end@
@end@
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int q0 = (int)(blockIdx.x % @{tiles_q}@u) * SIDE, p0 = (int)(blockIdx.x / @{tiles_q}@u % @{tiles_p}@u) * SIDE;
  const unsigned int o = blockIdx.x / @{tiles}@u;
@for x in inputs@
@if x.far@
  {
    const @{x.type}@* const at = a.@{x.pointer}@ + (@{x.at}@) + (long long)q0 * @{x.step_q}@ + p0;
    Vec<@{x.type}@, 2> v[SIDE / 8];
#pragma unroll
    for (int u = 0; u < SIDE / 8; ++u) {
      const int q = warp + 8 * u, p = 2 * lane;
      if (q0 + q >= kQ || p0 + p >= kP) break;
@if x.pairs@
      v[u] = load_row<@{x.type}@, 2>(at + (long long)q * @{x.step_q}@ + p);
@else@
      v[u] = load_apart<@{x.type}@, 2>(at + (long long)q * @{x.step_q}@ + p, 1, kP - p0 - p);
@end@
    }
#pragma unroll
    for (int u = 0; u < SIDE / 8; ++u)
#pragma unroll
      for (int j = 0; j < 2; ++j) s_@{x.name}@[warp + 8 * u][2 * lane + j] = widen<@{x.ctype}@, @{x.type}@>(v[u].v[j]);
  }
@end@
@end@
  __syncthreads();
  const int q = q0 + 2 * lane;
  if (q >= kQ) return;
#pragma unroll 4
  for (int u = 0; u < SIDE / 8; ++u) {
    const int p = p0 + warp + 8 * u;
    if (p >= kP) break;
@for x in inputs@
@if not x.far@
@if x.pairs@
    const Vec<@{x.type}@, 2> v_@{x.name}@ = load_near<@{x.type}@, 2>(a.@{x.pointer}@ + (@{x.at}@) + (long long)p * @{x.step_p}@ + q);
@else@
    const Vec<@{x.type}@, 2> v_@{x.name}@ = load_apart<@{x.type}@, 2>(a.@{x.pointer}@ + (@{x.at}@) + (long long)p * @{x.step_p}@ + (long long)q * @{x.step_q}@, @{x.step_q}@, kQ - q);
@end@
@end@
@end@
@for y in outputs@
    Vec<@{y.type}@, 2> v_@{y.name}@;
@end@
#pragma unroll
    for (int j = 0; j < 2; ++j) {
@for y in outputs@
      @{y.ctype}@ @{y.name}@;
@end@
      compute(@for x in inputs@@if not loop.first@, @end@@if x.far@s_@{x.name}@[2 * lane + (q + j < kQ ? j : 0)][p - p0]@else@widen<@{x.ctype}@, @{x.type}@>(v_@{x.name}@.v[j])@end@@end@@for y in outputs@@if y.comma@, @end@@{y.name}@@end@);
@for y in outputs@
      v_@{y.name}@.v[j] = narrow<@{y.type}@, @{y.ctype}@>(@{y.name}@);
@end@
    }
@for y in outputs@
    @{y.type}@* const at_@{y.name}@ = a.@{y.pointer}@ + (@{y.at}@) + (long long)p * @{y.step_p}@ + q;
@if y.pairs@
    store_row<@{y.type}@, 2>(at_@{y.name}@, v_@{y.name}@);
@else@
    store_apart<@{y.type}@, 2>(at_@{y.name}@, v_@{y.name}@, 1, kQ - q);
@end@
@end@
  }
}

// @{about}@
// Each thread processes UNROLL vectors of VEC elements, a block apart, and loads all of them before it computes.
#define THREADS @{threads}@
#define UNROLL @{unroll}@
#define VEC @{vec}@
typedef @{index}@ Index;
static const Index kTotal = @{total}@;

struct Arguments : Imagined {
@for p in pointers@
  @{p.type}@* @{p.name}@;
@end@
};

@{compute_text}@
extern "C" __global__ void __launch_bounds__(THREADS) @{entry}@(const Arguments a) {
  const Index first = ((Index)blockIdx.x * (THREADS * UNROLL) + threadIdx.x) * VEC;
@for x in inputs@
  Vec<@{x.type}@, VEC> v_@{x.name}@[UNROLL];
@end@
#pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + (Index)u * (THREADS * VEC);
    if (i >= kTotal) break;
@if ragged@
    const int n = kTotal - i < VEC ? (int)(kTotal - i) : VEC;
@end@
@for x in inputs@
@if x.window@
    @{x.window}@(a, i, v_@{x.name}@[u]);
@elif ragged@
@if x.row@
    if (n == VEC) v_@{x.name}@[u] = load_row<@{x.type}@, VEC>(a.@{x.pointer}@ + (@{x.at}@));
    else v_@{x.name}@[u] = load_apart<@{x.type}@, VEC>(a.@{x.pointer}@ + (@{x.at}@), @{x.step}@, n);
@else@
    v_@{x.name}@[u] = load_apart<@{x.type}@, VEC>(a.@{x.pointer}@ + (@{x.at}@), @{x.step}@, n);
@end@
@else@
    v_@{x.name}@[u] = load_vec<@{x.type}@, VEC, @{x.row}@>(a.@{x.pointer}@ + (@{x.at}@), @{x.step}@);
@end@
@end@
  }
#pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + (Index)u * (THREADS * VEC);
    if (i >= kTotal) break;
@for y in outputs@
    Vec<@{y.type}@, VEC> v_@{y.name}@;
@end@
#pragma unroll
    for (int j = 0; j < VEC; ++j) {
@for y in outputs@
      @{y.ctype}@ @{y.name}@;
@end@
      compute(@for x in inputs@@if not loop.first@, @end@widen<@{x.ctype}@, @{x.type}@>(v_@{x.name}@[u].v[j])@end@@for y in outputs@@if y.comma@, @end@@{y.name}@@end@);
@for y in outputs@
      v_@{y.name}@.v[j] = narrow<@{y.type}@, @{y.ctype}@>(@{y.name}@);
@end@
    }
@if ragged@
    const int n = kTotal - i < VEC ? (int)(kTotal - i) : VEC;
@for y in outputs@
    if (n == VEC) store_row<@{y.type}@, VEC>(a.@{y.pointer}@ + (@{y.at}@), v_@{y.name}@);
    else store_apart<@{y.type}@, VEC>(a.@{y.pointer}@ + (@{y.at}@), v_@{y.name}@, 1, n);
@end@
@else@
@for y in outputs@
    store_vec<@{y.type}@, VEC, @{y.row}@>(a.@{y.pointer}@ + (@{y.at}@), v_@{y.name}@, @{y.step}@);
@end@
@end@
  }
}

// @{about}@
// Scans along an axis that is not the innermost. A thread owns VEC neighbouring columns and goes down PER rows at a time. Its sum is double.
#define THREADS @{threads}@
#define VEC @{vec}@
#define PER @{per}@
#define REVERSED @{reversed}@
#define EXCLUSIVE @{exclusive}@
@{stages_text}@
typedef @{scan.ctype}@ C;
typedef Wide<C>::type W;
struct Held {
@for x in held@
  Vec<@{x.type}@, VEC> @{x.name}@;
@end@
  char none;
};
HONE_FN Index place(const Index at) { return REVERSED ? kLength - 1 - at : at; }
static const Row kInner = @{inner}@;

extern "C" __global__ void __launch_bounds__(THREADS) @{entry}@(const Arguments a) {
  const Row number = (Row)blockIdx.x * THREADS + threadIdx.x, per_line = kInner / VEC;
  if (number >= kRows / VEC) return;
  const Row row = number / per_line * kInner + number % per_line * VEC;
  Where w;
  locate(row, w);
  Scalars s[VEC];
  W carry[VEC];
#pragma unroll
  for (int j = 0; j < VEC; ++j) {
    prepare(a, row + j, s[j]);
    carry[j] = @{scan.identity}@;
  }
  for (Index t = 0; t < kLength; t += PER) {
    Held held[PER];
#pragma unroll
    for (int u = 0; u < PER; ++u)
      if (t + u < kLength) {
        const Index r = place(t + u);
@for x in held@
        held[u].@{x.name}@ = load_vec<@{x.type}@, VEC, @{x.row}@>(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@), @{x.step}@);
@end@
      }
#pragma unroll
    for (int u = 0; u < PER; ++u)
      if (t + u < kLength) {
        const Index r = place(t + u);
@for y in outputs@
        Vec<@{y.type}@, VEC> v_@{y.name}@;
@end@
#pragma unroll
        for (int j = 0; j < VEC; ++j) {
          C e;
          {
@for x in pre.fresh@
            const Vec<@{x.type}@, 1> f_@{x.name}@ = load_apart<@{x.type}@, 1>(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@) + (long long)j * @{x.step}@, 0, 1);
@end@
            element0(s[j]@for x in pre.inputs@, widen<@{x.ctype}@, @{x.type}@>(@{x.from}@)@end@, e);
          }
          const W before = carry[j];
          carry[j] = carry[j] @{scan.sign}@ (W)e;
          const C scanned = (C)(EXCLUSIVE ? before : carry[j]);
@for x in last.fresh@
          const Vec<@{x.type}@, 1> f_@{x.name}@ = load_apart<@{x.type}@, 1>(a.@{x.pointer}@ + (w.@{x.name}@ + @{x.at}@) + (long long)j * @{x.step}@, 0, 1);
@end@
@for y in outputs@
          @{y.ctype}@ @{y.name}@;
@end@
          element_out(s[j]@for x in last.inputs@, widen<@{x.ctype}@, @{x.type}@>(@{x.from}@)@end@@for y in outputs@, @{y.name}@@end@);
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

struct Held {
@for x in held@
  Vec<@{x.type}@, VEC> @{x.name}@;
@end@
  char none;
};
HONE_FN Index place(const Index r, const int u) { return r + (Index)u * (LANES * VEC); }

// OWN: operands of the row. SAME: operands common to all rows, if a block processes several rows.
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

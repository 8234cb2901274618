struct Scalars {  // of one row, or of a vector of rows
@for s in scalars@
  @{s.ctype}@ @{s.name}@;
@end@
  char none;
};
@if keeps@
static thread_local float kept_row[kLength + 16] __attribute__((aligned(64)));
@end@
@for stage in stages@

struct State@{stage.number}@ {  // of lanes
@for r in stage.reductions@
  @{r.type}@<Lanes<@{r.ctype}@>> @{r.name}@;
@end@
  HONE_FN void start() {@for r in stage.reductions@ @{r.name}@.start();@end@ }
  HONE_FN void merge(const State@{stage.number}@& o) {@for r in stage.reductions@ @{r.name}@.merge(o.@{r.name}@);@end@ }
};
template <bool SOME> HONE_FN void element@{stage.number}@(const Arguments& a, const Where& w, const Scalars& s, const long long i, const int n@for r in stage.reductions@, Lanes<@{r.ctype}@>& e_@{r.name}@@end@) {
@for x in stage.inputs@
  const Lanes<@{x.ctype}@> @{x.name}@ = load<@{x.ctype}@, @{x.type}@, @{x.step}@, SOME>(a.@{x.pointer}@ + (w.@{x.name}@ + i * @{x.step}@), n);
@end@
@if stage.reads_kept@
  const Lanes<float> kept = Memory<float, float>::load(kept_row + i);
@end@
@for line in stage.lines@
  @{line}@
@end@
}
@end@
@if writes_elements@
template <bool SOME> HONE_FN void put(const Arguments& a, const Where& w, const Scalars& s, const long long i, const int n) {
@for x in last.inputs@
  const Lanes<@{x.ctype}@> @{x.name}@ = load<@{x.ctype}@, @{x.type}@, @{x.step}@, SOME>(a.@{x.pointer}@ + (w.@{x.name}@ + i * @{x.step}@), n);
@end@
@if keeps@
  const Lanes<float> kept = Memory<float, float>::load(kept_row + i);
@end@
@for line in last.lines@
  @{line}@
@end@
@for y in outputs@
  store<@{y.ctype}@, @{y.type}@, @{y.step}@, SOME>(a.@{y.pointer}@ + (w.@{y.name}@ + i * @{y.step}@), @{y.value}@, n, @{y.stream}@);
@end@
}
@end@

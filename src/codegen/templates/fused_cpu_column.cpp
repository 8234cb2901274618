// @{about}@
// Reduces along an axis that is not the innermost. Lanes are neighbouring columns. A thread takes a tile of columns that fits the cache and goes
// down BATCH rows at a time. A long axis with few columns is divided into PARTS, as in fused_cpu_row.cpp.
@{kernel_text}@
@{stages_text}@
static const long long kLength = @{length}@, kColumns = @{inner}@, kOuter = @{outer}@, kParts = @{parts}@, kChunk = @{chunk}@;
static const int kWide = @{tile}@ < kLanes ? 1 : @{tile}@ / kLanes;  // vectors of a tile
static const long long kTile = kWide * kLanes, kTiles = (kColumns + kTile - 1) / kTile, kVectors = (kColumns + kLanes - 1) / kLanes;
#define BATCH @{batch}@

HONE_FN void locate(const long long o, Where& w) {
@for o in places@
  w.@{o.name}@ = @{o.at}@;
@end@
}
HONE_FN void move_to(const Where& from, const long long r, Where& w) {
@for o in places@
  w.@{o.name}@ = from.@{o.name}@ + @{o.outer}@;
@end@
}
template <bool SOME> HONE_FN void prepare(const Arguments& a, const long long o, const long long i, const int n, Scalars& s) {
@for o in row_operands@
  s.@{o.name}@ = load<@{o.ctype}@, @{o.type}@, @{o.step}@, SOME>(a.@{o.pointer}@ + (@{o.at}@ + i * @{o.step}@), n);
@end@
@for line in row_lines@
  @{line}@
@end@
}
@for stage in stages@

template <int W, bool SOME, int U> HONE_FN void batch@{stage.number}@(const Arguments& a, const Where* w, const Scalars* s, const long long i, const int n, const long long r, State@{stage.number}@* state) {
  for (int j = 0; j < W; ++j) {
@for r in stage.reductions@
    Lanes<@{r.ctype}@> e_@{r.name}@[U];
@end@
    for (int u = 0; u < U; ++u) element@{stage.number}@<SOME>(a, w[u], s[j], i + j * kLanes, n@for r in stage.reductions@, e_@{r.name}@[u]@end@);
@for r in stage.reductions@
    state[j].@{r.name}@.template add<U>(e_@{r.name}@, Lanes<int>((int)r), 1);
@end@
  }
}
template <int W, bool SOME> static void reduce@{stage.number}@(const Arguments& a, const Where& column, const Scalars* s, const long long i, const int n, const long long begin, const long long end, State@{stage.number}@* state) {
  for (int j = 0; j < W; ++j) state[j].start();
  Where w[BATCH];
  long long r = begin;
  for (; r + BATCH <= end; r += BATCH) {
    for (int u = 0; u < BATCH; ++u) move_to(column, r + u, w[u]);
    batch@{stage.number}@<W, SOME, BATCH>(a, w, s, i, n, r, state);
  }
  for (; r < end; ++r) {
    move_to(column, r, w[0]);
    batch@{stage.number}@<W, SOME, 1>(a, w, s, i, n, r, state);
  }
}
template <bool SOME> HONE_FN void conclude@{stage.number}@(const Arguments& a, const long long o, const long long i, const int n, const State@{stage.number}@& state, Scalars& s) {
@for line in stage.conclusions@
  @{line}@
@end@
}
@end@
template <bool SOME> HONE_FN void write_row(const Arguments& a, const long long o, const long long i, const int n, const Scalars& s) {
@for y in row_outputs@
  store<@{y.ctype}@, @{y.type}@, @{y.step}@, SOME>(a.@{y.pointer}@ + (@{y.at}@ + i * @{y.step}@), @{y.value}@, n, false);
@end@
}
@for phase in phases@

// W vectors of columns from i on.
template <int W, bool SOME> HONE_FN void columns@{phase.number}@(const Arguments& a, const long long o, const long long i, const int n, const long long part, const long long begin, const long long end) {
  Where w;
  Scalars s[W];
  locate(o, w);
  for (int j = 0; j < W; ++j) prepare<SOME>(a, o, i + j * kLanes, n, s[j]);
  const long long vector = o * kVectors + i / kLanes;
@for stage in phase.before@
  {
    State@{stage.number}@ state[W];
@if split@
    for (int j = 0; j < W; ++j) {
      state[j].start();
      for (long long p = 0; p < kParts; ++p) state[j].merge(((const State@{stage.number}@*)a.scratch@{stage.number}@)[(vector + j) * kParts + p]);
    }
@else@
    reduce@{stage.number}@<W, SOME>(a, w, s, i, n, begin, end, state);
@end@
    for (int j = 0; j < W; ++j) conclude@{stage.number}@<SOME>(a, o, i + j * kLanes, n, state[j], s[j]);
  }
@end@
@if phase.writes@
@if writes_elements@
  for (long long r = begin; r < end; ++r) {
    Where at;
    move_to(w, r, at);
    for (int j = 0; j < W; ++j) put<SOME>(a, at, s[j], i + j * kLanes, n);
  }
@end@
  if (part == 0)
    for (int j = 0; j < W; ++j) write_row<SOME>(a, o, i + j * kLanes, n, s[j]);
@else@
  State@{phase.number}@ state[W];
  reduce@{phase.number}@<W, SOME>(a, w, s, i, n, begin, end, state);
  for (int j = 0; j < W; ++j) ((State@{phase.number}@*)a.scratch@{phase.number}@)[(vector + j) * kParts + part] = state[j];
@end@
}
@end@

extern "C" void @{entry}@(const void* given, int threads) {
  const Arguments a = *(const Arguments*)given;
@for phase in phases@
  in_parallel(kOuter * kTiles * @{phase.parts}@, @{phase.piece}@, threads, [&](long long first, long long last) {
    for (long long t = first; t < last; ++t) {
      const long long part = t % @{phase.parts}@, tile = t / @{phase.parts}@ % kTiles, o = t / @{phase.parts}@ / kTiles;
      const long long begin = part * kChunk, end = kLength - begin < kChunk ? kLength : begin + kChunk;
      long long i = tile * kTile;
      const long long stop = kColumns - i < kTile ? kColumns : i + kTile;
      if (stop - i == kTile) {
        columns@{phase.number}@<kWide, false>(a, o, i, kLanes, part, begin, end);
        continue;
      }
      for (; i + kLanes <= stop; i += kLanes) columns@{phase.number}@<1, false>(a, o, i, kLanes, part, begin, end);
      if (i < stop) columns@{phase.number}@<1, true>(a, o, i, (int)(stop - i), part, begin, end);
    }
  });
@end@
}
#undef BATCH

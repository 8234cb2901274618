// @{about}@
// Reduces along the innermost axis. A thread computes one row at a time, and stages after the first find the row in the cache. If there are few
// long rows, they are divided into PARTS. States of parts go through scratch memory, one parallel region per stage. The number of parts does not
// depend on the number of threads.
@{kernel_text}@
static const long long kLength = @{length}@, kInner = @{inner}@, kRows = @{rows}@, kParts = @{parts}@, kChunk = @{chunk}@;
@{stages_text}@
#define BATCH @{batch}@  // vectors that are added together

HONE_FN void locate(const long long row, Where& w) {
@for o in places@
  w.@{o.name}@ = @{o.at}@;
@end@
}
HONE_FN void move_to(const Where& from, const long long q, Where& w) {
@for o in places@
  w.@{o.name}@ = from.@{o.name}@ + @{o.outer}@;
@end@
}
HONE_FN void prepare(const Arguments& a, const long long row, Scalars& s) {
@for o in row_operands@
  s.@{o.name}@ = widen<@{o.ctype}@, @{o.type}@>(a.@{o.pointer}@[@{o.at}@]);
@end@
@for line in row_lines@
  @{line}@
@end@
}
@for stage in stages@

struct Total@{stage.number}@ {
@for r in stage.reductions@
  @{r.type}@<@{r.ctype}@> @{r.name}@;
@end@
  HONE_FN void start() {@for r in stage.reductions@ @{r.name}@.start();@end@ }
  HONE_FN void merge(const Total@{stage.number}@& o) {@for r in stage.reductions@ @{r.name}@.merge(o.@{r.name}@);@end@ }
};
@if stage.keeps@
// Finds the largest element while copying the row to the buffer, then replaces it by exponentials and sums them.
static void reduce@{stage.number}@(const Arguments& a, const Where& row, const Scalars& s, const long long, const long long, Total@{stage.number}@& out) {
  typedef Lanes<float> V;
  V most[2] = {V(-HONE_INF), V(-HONE_INF)}, e;
  long long i = 0;
  for (int u = 0; i + kLanes <= kLength; i += kLanes, u ^= 1) {
    element@{stage.number}@<false>(a, row, s, i, kLanes, e);
    Memory<float, float>::store(kept_row + i, e);
    most[u] = larger_of(e, most[u]);
  }
  if (i < kLength) {
    element@{stage.number}@<true>(a, row, s, i, (int)(kLength - i), e);
    e = Select(Numbered() < Lanes<int>((int)(kLength - i)), e, V(-HONE_INF));
    Memory<float, float>::store(kept_row + i, e);
    most[0] = larger_of(e, most[0]);
  }
  const float m = most_lane(larger_of(most[0], most[1]));
  const V from = V(ReduceExps<float>::base(m));
  Lanes<double> sum = 0;
  for (i = 0; i < kLength; i += BATCH * kLanes) {
    V part = V(0.0f);
    for (long long j = i; j < kLength && j < i + BATCH * kLanes; j += kLanes) {
      const V x = Exp(Memory<float, float>::load(kept_row + j) - from);
      Memory<float, float>::store(kept_row + j, x);
      part += x;
    }
    sum += Lanes<double>(part);
  }
@for r in stage.reductions@
  out.@{r.name}@.m = m;
  out.@{r.name}@.s = sum_lanes(sum);
@end@
}
@else@
template <int U> HONE_FN void batch@{stage.number}@(const Arguments& a, const Where& w, const Scalars& s, const long long i, const long long place, State@{stage.number}@& state) {
@for r in stage.reductions@
  Lanes<@{r.ctype}@> e_@{r.name}@[U];
@end@
  for (int u = 0; u < U; ++u) element@{stage.number}@<false>(a, w, s, i + u * kLanes, kLanes@for r in stage.reductions@, e_@{r.name}@[u]@end@);
  const Lanes<int> at = Numbered() + Lanes<int>((int)place);
@for r in stage.reductions@
  state.@{r.name}@.template add<U>(e_@{r.name}@, at, kLanes);
@end@
}
static void reduce@{stage.number}@(const Arguments& a, const Where& row, const Scalars& s, long long at, const long long end, Total@{stage.number}@& state_out) {
  State@{stage.number}@ state;
  Total@{stage.number}@ rest;
  state.start();
  rest.start();
  while (at < end) {
    const long long q = at / kInner, first = at - q * kInner, left = end - at;
    const long long stop = left < kInner - first ? first + left : kInner;
    Where w;
    move_to(row, q, w);
    long long i = first;
    for (; i + BATCH * kLanes <= stop; i += BATCH * kLanes) batch@{stage.number}@<BATCH>(a, w, s, i, q * kInner + i, state);
    for (; i + kLanes <= stop; i += kLanes) batch@{stage.number}@<1>(a, w, s, i, q * kInner + i, state);
    if (i < stop) {
@for r in stage.reductions@
      Lanes<@{r.ctype}@> e_@{r.name}@;
@end@
      element@{stage.number}@<true>(a, w, s, i, (int)(stop - i)@for r in stage.reductions@, e_@{r.name}@@end@);
@for r in stage.reductions@
      rest.@{r.name}@.add_some(e_@{r.name}@, (int)(stop - i), (int)(q * kInner + i));
@end@
    }
    at += stop - first;
  }
@for r in stage.reductions@
  state_out.@{r.name}@ = state.@{r.name}@.fold();
@end@
  state_out.merge(rest);
}
@end@
// Computes the row's values after the stage.
HONE_FN void conclude@{stage.number}@(const Arguments& a, const long long row, const Total@{stage.number}@& state, Scalars& s) {
@for line in stage.conclusions@
  @{line}@
@end@
}
@end@
@if writes_elements@
static void put_part(const Arguments& a, const Where& row, const Scalars& s, long long at, const long long end) {
  while (at < end) {
    const long long q = at / kInner, first = at - q * kInner, left = end - at;
    const long long stop = left < kInner - first ? first + left : kInner;
    Where w;
    move_to(row, q, w);
    long long i = first;
    for (; i + kLanes <= stop; i += kLanes) put<false>(a, w, s, i, kLanes);
    if (i < stop) put<true>(a, w, s, i, (int)(stop - i));
    at += stop - first;
  }
}
@end@
HONE_FN void write_row(const Arguments& a, const long long row, const Scalars& s) {
@for y in row_outputs@
  a.@{y.pointer}@[@{y.at}@] = narrow<@{y.type}@, @{y.ctype}@>(@{y.value}@);
@end@
}

extern "C" void @{entry}@(const void* given, int threads) {
  const Arguments a = *(const Arguments*)given;
@if split@
@for phase in phases@
  in_parallel(kRows * @{phase.parts}@, 1, threads, [&](long long begin, long long end) {
    for (long long t = begin; t < end; ++t) {
      const long long row = t / @{phase.parts}@, part = t % @{phase.parts}@, from = part * kChunk, to = kLength - from < kChunk ? kLength : from + kChunk;
      Where w;
      Scalars s;
      locate(row, w);
      prepare(a, row, s);
@for stage in phase.before@
      {
        Total@{stage.number}@ state;
        state.start();
        for (long long i = 0; i < kParts; ++i) state.merge(((const Total@{stage.number}@*)a.scratch@{stage.number}@)[row * kParts + i]);
        conclude@{stage.number}@(a, row, state, s);
      }
@end@
@if phase.writes@
@if writes_elements@
      put_part(a, w, s, from, to);
@end@
      if (part == 0) write_row(a, row, s);
@else@
      reduce@{phase.number}@(a, w, s, from, to, ((Total@{phase.number}@*)a.scratch@{phase.number}@)[t]);
@end@
    }
  });
@end@
@else@
  in_parallel(kRows, @{piece}@, threads, [&](long long begin, long long end) {
    for (long long row = begin; row < end; ++row) {
      Where w;
      Scalars s;
      locate(row, w);
      prepare(a, row, s);
@for stage in stages@
      {
        Total@{stage.number}@ state;
        reduce@{stage.number}@(a, w, s, 0, kLength, state);
        conclude@{stage.number}@(a, row, state, s);
      }
@end@
@if writes_elements@
      put_part(a, w, s, 0, kLength);
@end@
      write_row(a, row, s);
    }
  });
@end@
}
#undef BATCH

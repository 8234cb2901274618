// @{about}@
@if column@
// Scans along an axis that is not the innermost: lanes are neighbouring columns, and a thread walks down a tile of them with sums in double.
@else@
// Scans along the innermost axis, a row at a time. The elements of a run are computed, scanned in place and written. Sums of runs are double.
@end@
@{kernel_text}@
@{stages_text}@
typedef @{scan.ctype}@ C;
static const long long kLength = @{length}@, kInner = @{inner}@, kRows = @{rows}@;
static const bool kReversed = @{reversed}@, kExclusive = @{exclusive}@, kSums = @{scan.sums}@;

HONE_FN void locate(const long long row, Where& w) {
@for o in places@
  w.@{o.name}@ = @{o.at}@;
@end@
}
HONE_FN void move_to(const Where& from, const long long r, Where& w) {
@for o in places@
  w.@{o.name}@ = from.@{o.name}@ + @{o.outer}@;
@end@
}
template <bool SOME> HONE_FN void put_scanned(const Arguments& a, const Where& w, const Scalars& s, const long long i, const int n, const Lanes<@{scan.otype}@>& @{scan.name}@) {
@for x in last.inputs@
  const Lanes<@{x.ctype}@> @{x.name}@ = load<@{x.ctype}@, @{x.type}@, @{x.step}@, SOME>(a.@{x.pointer}@ + (w.@{x.name}@ + i * @{x.step}@), n);
@end@
@for line in last.lines@
  @{line}@
@end@
@for y in outputs@
  store<@{y.ctype}@, @{y.type}@, @{y.step}@, SOME>(a.@{y.pointer}@ + (w.@{y.name}@ + i * @{y.step}@), @{y.value}@, n, @{y.stream}@);
@end@
}
@if column@
typedef Lanes<Wide<C>::type> W;
template <bool SOME> HONE_FN void scan_columns(const Arguments& a, const long long row, const long long i, const int n) {
  Where w;
  Scalars s;
  locate(row, w);
@for o in row_operands@
  s.@{o.name}@ = load<@{o.ctype}@, @{o.type}@, @{o.step}@, SOME>(a.@{o.pointer}@ + (@{o.at}@ + i * @{o.step}@), n);
@end@
@for line in row_lines@
  @{line}@
@end@
  W carry = kSums ? 0 : 1;
  for (long long t = 0; t < kLength; ++t) {
    Where at;
    move_to(w, kReversed ? kLength - 1 - t : t, at);
    Lanes<C> e;
    element0<SOME>(a, at, s, i, n, e);
    const W before = carry;
    carry = kSums ? carry + (W)e : carry * (W)e;
    put_scanned<SOME>(a, at, s, i, n, Lanes<@{scan.otype}@>(kExclusive ? before : carry));
  }
}

extern "C" void @{entry}@(const void* given, int threads) {
  const Arguments a = *(const Arguments*)given;
  const long long vectors = (kInner + kLanes - 1) / kLanes, piece = @{piece}@ / kLanes < 1 ? 1 : @{piece}@ / kLanes;
  in_parallel(kRows / kInner * vectors, piece, threads, [&](long long begin, long long end) {
    for (long long t = begin; t < end; ++t) {
      const long long o = t / vectors, i = t % vectors * kLanes;
      if (i + kLanes <= kInner) scan_columns<false>(a, o, i, kLanes);
      else scan_columns<true>(a, o, i, (int)(kInner - i));
    }
  });
}
@else@
typedef Wide<C>::type W;
static const int kRun = 512;

// Scans in place and passes the carry from run to run.
HONE_FN void scan_run(C* v, @{scan.otype}@* out, const int count, W& carry) {
  for (int t = 0; t < count; ++t) {
    const int i = kReversed ? count - 1 - t : t;
    const W before = carry;
    carry = kSums ? carry + (W)v[i] : carry * (W)v[i];
    out[i] = (@{scan.otype}@)(kExclusive ? before : carry);
  }
}
@if scan.fast@
// Scans whole vectors of float sums. Within a vector it scans with shifts, in float.
HONE_FN int scan_vectors(float* v, const int count, double& carry) {
#ifdef __clang__
  return 0;
#else
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Floats x = Memory<float, float>::load(v + i).v;
    for (int by = 1; by < kLanes; by *= 2) x += __builtin_shuffle(Floats{}, x, Numbered().v + (kLanes - by));
    Memory<float, float>::store(v + i, Lanes<float>(Lanes<double>(Lanes<float>::of(x)) + Lanes<double>(carry)));
    carry += x[kLanes - 1];
  }
  return i;
#endif
}
@end@
static void scan_row(const Arguments& a, const long long row) {
  Where w;
  Scalars s;
  locate(row, w);
@for o in row_operands@
  s.@{o.name}@ = widen<@{o.ctype}@, @{o.type}@>(a.@{o.pointer}@[@{o.at}@]);
@end@
@for line in row_lines@
  @{line}@
@end@
  W carry = kSums ? 0 : 1;
  const long long segments = kLength / kInner, runs = (kInner + kRun - 1) / kRun;
  C v[kRun];
  @{scan.otype}@ out[kRun];
  for (long long k = 0; k < segments * runs; ++k) {
    const long long number = kReversed ? segments * runs - 1 - k : k, q = number / runs, first = number % runs * kRun;
    const int count = kInner - first < kRun ? (int)(kInner - first) : kRun;
    Where at;
    move_to(w, q, at);
    int i = 0;
    Lanes<C> e;
    for (; i + kLanes <= count; i += kLanes) {
      element0<false>(a, at, s, first + i, kLanes, e);
      Memory<C, C>::store(v + i, e);
    }
    if (i < count) {
      element0<true>(a, at, s, first + i, count - i, e);
      Memory<C, C>::store(v + i, e);
    }
@if scan.fast@
    int done = scan_vectors(v, count, carry);
    for (int j = 0; j < done; ++j) out[j] = v[j];
    scan_run(v + done, out + done, count - done, carry);
@else@
    scan_run(v, out, count, carry);
@end@
    for (i = 0; i + kLanes <= count; i += kLanes) put_scanned<false>(a, at, s, first + i, kLanes, Memory<@{scan.otype}@, @{scan.otype}@>::load(out + i));
    if (i < count) put_scanned<true>(a, at, s, first + i, count - i, Memory<@{scan.otype}@, @{scan.otype}@>::load(out + i));
  }
}

extern "C" void @{entry}@(const void* given, int threads) {
  const Arguments a = *(const Arguments*)given;
  in_parallel(kRows, @{piece}@, threads, [&](long long begin, long long end) {
    for (long long row = begin; row < end; ++row) scan_row(a, row);
  });
}
@end@

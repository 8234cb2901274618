// @{about}@
// The elements are divided into pieces. A thread takes a piece and computes it along the innermost axis, a vector at a time.
@{kernel_text}@
static const long long kTotal = @{total}@, kInner = @{inner}@;

HONE_FN void locate(const long long o, Where& w) {
@for o in places@
  w.@{o.name}@ = @{o.at}@;
@end@
}
template <bool SOME> HONE_FN void compute(const Arguments& a, const Where& w, const long long i, const int n) {
@for x in inputs@
  const Lanes<@{x.ctype}@> @{x.name}@ = load<@{x.ctype}@, @{x.type}@, @{x.step}@, SOME>(a.@{x.pointer}@ + (w.@{x.name}@ + i * @{x.step}@), n);
@end@
@for line in lines@
  @{line}@
@end@
@for y in outputs@
  store<@{y.ctype}@, @{y.type}@, @{y.step}@, SOME>(a.@{y.pointer}@ + (w.@{y.name}@ + i * @{y.step}@), @{y.value}@, n, @{y.stream}@);
@end@
}
static void compute_piece(const Arguments& a, long long at, const long long end) {
  while (at < end) {
    const long long o = at / kInner, first = at - o * kInner, left = end - at;
    const long long stop = left < kInner - first ? first + left : kInner;
    Where w;
    locate(o, w);
    long long i = first;
#pragma GCC unroll 2
    for (; i + kLanes <= stop; i += kLanes) compute<false>(a, w, i, kLanes);
    if (i < stop) compute<true>(a, w, i, (int)(stop - i));
    at += stop - first;
  }
}

extern "C" void @{entry}@(const void* given, int threads) {
  const Arguments a = *(const Arguments*)given;
  in_parallel(kTotal, @{piece}@, threads, [&](long long begin, long long end) { compute_piece(a, begin, end); });
}

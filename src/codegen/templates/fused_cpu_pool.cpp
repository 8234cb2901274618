// @{about}@
// Computes one row of the output at a time. It first reduces down the windows into a row as wide as the input, then across that row. Maps before
// the pooling are computed while elements are loaded.
@{kernel_text}@
typedef @{ctype}@ C;
static const long long kKernelD = @{kernel.d}@, kKernelH = @{kernel.h}@, kKernelW = @{kernel.w}@, kStrideD = @{stride.d}@, kStrideH = @{stride.h}@, kStrideW = @{stride.w}@;
static const long long kPadD = @{padding.d}@, kPadH = @{padding.h}@, kPadW = @{padding.w}@, kDilationD = @{dilation.d}@, kDilationH = @{dilation.h}@, kDilationW = @{dilation.w}@;
static const long long kInD = @{in.d}@, kInH = @{in.h}@, kInW = @{in.w}@, kOutD = @{size.d}@, kOutH = @{size.h}@, kOutW = @{size.w}@, kRows = @{rows}@;
static const bool kMaximum = @{maximum}@;
static const long long kDivisor = @{divisor}@;  // 0: the number of elements inside the input
static const C kNone = @{identity}@;
static const long long kReach = (kOutW - 1) * kStrideW + (kKernelW - 1) * kDilationW + 1;  // length of a row with its padding
static const long long kBefore = kPadW, kBehind = kReach - kPadW - kInW > 0 ? kReach - kPadW - kInW : 0;

HONE_FN Lanes<C> pool_two(const Lanes<C>& a, const Lanes<C>& b) { return kMaximum ? Max(a, b) : a + b; }
HONE_FN void locate(const long long i, Where& w) {
@for o in places@
  w.@{o.name}@ = @{o.at}@;
@end@
}
// Loads from input row e / kInW.
template <bool SOME> HONE_FN Lanes<C> fetch(const Arguments& a, const long long e, const long long i, const int n) {
@for x in raw@
  const Lanes<@{x.ctype}@> @{x.name}@ = load<@{x.ctype}@, @{x.type}@, @{x.step}@, SOME>(a.@{x.pointer}@ + (@{x.at}@ + i * @{x.step}@), n);
@end@
@for line in before@
  @{line}@
@end@
  return Lanes<C>(@{value}@);
}
template <bool SOME> HONE_FN void put(const Arguments& a, const Where& w, const long long i, const int n, const Lanes<C>& @{pooled}@) {
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
static void pool_row(const Arguments& a, const long long row, C* const line) {
  const long long h = row % kOutH, d = row / kOutH % kOutD, plane = row / kOutH / kOutD;
  long long d0 = d * kStrideD - kPadD, h0 = h * kStrideH - kPadH, deep = 0, high = 0;
  C* const inside = line + kBefore;
  bool first = true;
  for (long long kd = 0; kd < kKernelD; ++kd) {
    const long long at_d = d0 + kd * kDilationD;
    if (at_d < 0 || at_d >= kInD) continue;
    ++deep;
    high = 0;
    for (long long kh = 0; kh < kKernelH; ++kh) {
      const long long at_h = h0 + kh * kDilationH;
      if (at_h < 0 || at_h >= kInH) continue;
      ++high;
      const long long e = ((plane * kInD + at_d) * kInH + at_h) * kInW;
      long long i = 0;
      if (first) {
        for (; i + kLanes <= kInW; i += kLanes) Memory<C, C>::store(inside + i, fetch<false>(a, e, i, kLanes));
        if (i < kInW) Memory<C, C>::store(inside + i, fetch<true>(a, e, i, (int)(kInW - i)));
        first = false;
      } else {
        for (; i + kLanes <= kInW; i += kLanes) Memory<C, C>::store(inside + i, pool_two(Memory<C, C>::load(inside + i), fetch<false>(a, e, i, kLanes)));
        if (i < kInW) Memory<C, C>::store(inside + i, pool_two(Memory<C, C>::load(inside + i), fetch<true>(a, e, i, (int)(kInW - i))));
      }
    }
  }
  if (first) for (long long i = 0; i < kInW; ++i) inside[i] = kNone;
  for (long long i = 0; i < kBefore; ++i) line[i] = kNone;
  for (long long i = 0; i < kBehind + kLanes * kStrideW; ++i) inside[kInW + i] = kNone;
  Where w;
  locate(row * kOutW, w);
  for (long long i = 0; i < kOutW; i += kLanes) {
    Lanes<C> x = load<C, C, kStrideW, false>(line + i * kStrideW, kLanes);
    for (long long k = 1; k < kKernelW; ++k) x = pool_two(x, load<C, C, kStrideW, false>(line + i * kStrideW + k * kDilationW, kLanes));
    if (!kMaximum) {
      if (kDivisor > 0) {
        x = x / Lanes<C>((C)kDivisor);
      } else {
        for (int j = 0; j < kLanes; ++j) {
          long long wide = 0;
          for (long long k = 0; k < kKernelW; ++k) {
            const long long at = (i + j) * kStrideW - kPadW + k * kDilationW;
            wide += at >= 0 && at < kInW;
          }
          x.v[j] = x.v[j] / (C)(deep * high * wide);
        }
      }
    }
    if (i + kLanes <= kOutW) put<false>(a, w, i, kLanes, x);
    else put<true>(a, w, i, (int)(kOutW - i), x);
  }
}

extern "C" void @{entry}@(const void* given, int threads) {
  const Arguments a = *(const Arguments*)given;
  in_parallel(kRows, @{piece}@, threads, [&](long long begin, long long end) {
    const long long room = kBefore + kInW + kBehind + (kStrideW + 2) * kLanes;
    C near[4096], *far = 0;
    C* line = near;
    if (room > 4096) line = far = (C*)__builtin_malloc(sizeof(C) * (unsigned long)room);
    for (long long row = begin; row < end; ++row) pool_row(a, row, line);
    __builtin_free(far);
  });
}

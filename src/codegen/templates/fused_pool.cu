// @{about}@
// Pooling. A block has a tile of output rows and columns of one plane. First each thread takes input columns and reduces down the window for
// every row of the tile, with coalesced loads and each input row read once; then across, out of shared memory. Where nothing is reduced
// downwards (1 axis), the tile is copied, 16 bytes at a time.
#define THREADS @{threads}@
#define TILE_H @{tile_h}@
#define TILE_W @{tile_w}@
typedef @{index}@ Index;
typedef @{ctype}@ C;

struct Arguments : Imagined {
@for p in pointers@
  @{p.type}@* @{p.name}@;
@end@
};
static const int kKD = @{kernel.d}@, kKH = @{kernel.h}@, kKW = @{kernel.w}@;
static const int kSD = @{stride.d}@, kSH = @{stride.h}@, kSW = @{stride.w}@;
static const int kPD = @{padding.d}@, kPH = @{padding.h}@, kPW = @{padding.w}@;
static const int kDD = @{dilation.d}@, kDH = @{dilation.h}@, kDW = @{dilation.w}@;
static const int kID = @{in.d}@, kIH = @{in.h}@, kIW = @{in.w}@;
static const int kOD = @{size.d}@, kOH = @{size.h}@, kOW = @{size.w}@;
static const long long kTotal = @{total}@;  // elements of the input
static const int kSpanH = (TILE_H - 1) * kSH + (kKH - 1) * kDH + 1, kSpanW = (TILE_W - 1) * kSW + (kKW - 1) * kDW + 1;
static const int kTilesH = (kOH + TILE_H - 1) / TILE_H, kTilesW = (kOW + TILE_W - 1) / TILE_W;

HONE_FN C join(const C a, const C b) {
@if maximum@
  return Max(a, b);
@else@
  return a + b;
@end@
}
HONE_FN constexpr bool taken(const int r) {  // whether a window of the tile has this row of the input
  for (int t = 0; t < TILE_H; ++t)
    for (int k = 0; k < kKH; ++k)
      if (t * kSH + k * kDH == r) return true;
  return false;
}
// Joins `T` windows of K elements that are D apart, S from one to the next, by doubling: of two elements, of four, and so on. Windows that
// overlap share what they have in common.
template <int K, int D, int S, int T, int SIZE, int AT, bool MORE> struct Windows {
  static HONE_FN void join_all(C*, C*) {}
};
template <int K, int D, int S, int T, int SIZE, int AT> struct Windows<K, D, S, T, SIZE, AT, true> {
  static HONE_FN void join_all(C* v, C* out) {
    if (K & SIZE) {
#pragma unroll
      for (int t = 0; t < T; ++t) out[t] = join(out[t], v[t * S + AT * D]);
    }
    if (2 * SIZE <= K) {
#pragma unroll
      for (int i = 0; i + SIZE * D < (T - 1) * S + (K - 1) * D + 1; ++i) v[i] = join(v[i], v[i + SIZE * D]);
    }
    Windows<K, D, S, T, 2 * SIZE, AT + (K & SIZE), 2 * SIZE <= K>::join_all(v, out);
  }
};
template <int K, int D, int S, int T> HONE_FN void join_windows(C* v, C* out) { Windows<K, D, S, T, 1, 0, true>::join_all(v, out); }
HONE_FN int inside(const int first, const int count, const int step, const int size) {  // taps that are not in the padding
  int n = 0;
  for (int k = 0; k < count; ++k) n += first + k * step >= 0 && first + k * step < size;
  return n;
}
// What is loaded for one element of the input, and what is pooled of it.
struct Raw {
@for x in raw@
  @{x.type}@ @{x.name}@;
@end@
};
HONE_FN Raw load(const Arguments& a, const Index e) {
  Raw raw;
@for x in raw@
  raw.@{x.name}@ = a.@{x.pointer}@[@{x.at}@];
@end@
  return raw;
}
HONE_FN C before(const Raw& raw) {
@for x in raw@
  const @{x.ctype}@ @{x.name}@ = widen<@{x.ctype}@, @{x.type}@>(raw.@{x.name}@);
@end@
@for line in before@
  @{line}@
@end@
  return @{value}@;
}
HONE_FN void compute(const C pooled@for x in inputs@, const @{x.ctype}@ @{x.name}@@end@@for y in outputs@, @{y.ctype}@& @{y.name}@@end@) {
@for line in lines@
  @{line}@
@end@
}

extern "C" __global__ void __launch_bounds__(THREADS) @{entry}@(const Arguments a) {
  __shared__ C columns[TILE_H][kSpanW];
  const int tile_w = blockIdx.x % kTilesW, tile_h = blockIdx.x / kTilesW % kTilesH;
  const Index plane = blockIdx.x / (kTilesW * kTilesH), outer = plane / kOD;
  const int depth = (int)(plane % kOD) * kSD - kPD;
  const int h0 = tile_h * TILE_H, w0 = tile_w * TILE_W, top = h0 * kSH - kPH, left = w0 * kSW - kPW;
@if copies@
  // From the last 16-byte boundary before the tile on: what lies in front of it or behind it is not written to shared memory.
  const int kPack = 16 / (int)sizeof(@{source.type}@);
  const long long row = (long long)plane * kIW, first = row + left, begin = first - (first % kPack + kPack) % kPack;
#pragma unroll
  for (int u = 0; u < (kSpanW + 2 * kPack - 2 + THREADS * kPack - 1) / (THREADS * kPack); ++u) {
    const long long e = begin + ((long long)u * THREADS + threadIdx.x) * kPack;
    const int c = (int)(e - first);
    if (c >= kSpanW) continue;
    Vec<@{source.type}@, kPack> raw;
    if (e >= 0 && e + kPack <= kTotal) raw = load_near<@{source.type}@, kPack>(a.@{source.pointer}@ + e);
    else
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        if (e + i >= 0 && e + i < kTotal) raw.v[i] = a.@{source.pointer}@[e + i];
#pragma unroll
    for (int i = 0; i < kPack; ++i)
      if (c + i >= 0 && c + i < kSpanW) columns[0][c + i] = left + c + i >= 0 && left + c + i < kIW ? widen<C, @{source.type}@>(raw.v[i]) : @{identity}@;
  }
@else@
  for (int c = threadIdx.x; c < kSpanW; c += THREADS) {
    C down[TILE_H];
#pragma unroll
    for (int t = 0; t < TILE_H; ++t) down[t] = @{identity}@;
    const int column = left + c;
    if (column >= 0 && column < kIW) {
      for (int d = 0; d < kKD; ++d) {
        const int slice = depth + d * kDD;
        if (slice < 0 || slice >= kID) continue;
        const Index at = (outer * kID + slice) * kIH;
        Raw raw[kSpanH];
        C v[kSpanH];
#pragma unroll
        for (int r = 0; r < kSpanH; ++r)
          if (taken(r) && top + r >= 0 && top + r < kIH) raw[r] = load(a, (at + (top + r)) * kIW + column);
#pragma unroll
        for (int r = 0; r < kSpanH; ++r) v[r] = taken(r) && top + r >= 0 && top + r < kIH ? before(raw[r]) : @{identity}@;
        join_windows<kKH, kDH, kSH, TILE_H>(v, down);
      }
    }
#pragma unroll
    for (int t = 0; t < TILE_H; ++t) columns[t][c] = down[t];
  }
@end@
  __syncthreads();
  for (int x = threadIdx.x; x < TILE_W; x += THREADS) {
    const int ow = w0 + x;
    if (ow >= kOW) break;
@if not maximum@
@if not divisor@
    const int across = inside(depth, kKD, kDD, kID) * inside(ow * kSW - kPW, kKW, kDW, kIW);
@end@
@end@
#pragma unroll
    for (int t = 0; t < TILE_H; ++t) {
      const int oh = h0 + t;
      if (oh >= kOH) break;
      C pooled = columns[t][x * kSW];
#pragma unroll
      for (int k = 1; k < kKW; ++k) pooled = join(pooled, columns[t][x * kSW + k * kDW]);
@if not maximum@
@if divisor@
      pooled = pooled * (C)(1.0 / @{divisor}@);
@else@
      pooled = pooled / (C)(across * inside(oh * kSH - kPH, kKH, kDH, kIH));
@end@
@end@
      const Index i = (plane * kOH + oh) * kOW + ow;
@for y in outputs@
      @{y.ctype}@ @{y.name}@;
@end@
      compute(pooled@for x in inputs@, widen<@{x.ctype}@, @{x.type}@>(a.@{x.pointer}@[@{x.at}@])@end@@for y in outputs@, @{y.name}@@end@);
@for y in outputs@
      a.@{y.pointer}@[@{y.at}@] = narrow<@{y.type}@, @{y.ctype}@>(@{y.name}@);
@end@
    }
  }
}

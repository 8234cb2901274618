// @{about}@
// Pooling. A block computes a tile of output rows and columns of one plane. First each thread takes VECW input columns and reduces down the window
// for every row of the tile. Its loads are coalesced, and each input row is read once. Then it reduces across, in shared memory. With one axis
// nothing is reduced downwards: a block then has TILES tiles of a row and copies the next tile, 16 bytes at a time, while it pools the current one.
#define THREADS @{threads}@
#define VECW @{vecw}@
#define TILES @{tiles}@
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
static const int kWide = (kSpanW + VECW - 1 + VECW - 1) / VECW * VECW;  // in shared memory, from the last vector boundary before the tile
static const int kTilesH = (kOH + TILE_H - 1) / TILE_H, kTilesW = (kOW + TILE_W - 1) / TILE_W;

HONE_FN C join(const C a, const C b) {
@if maximum@
  return Max(a, b);
@else@
  return a + b;
@end@
}
HONE_FN constexpr bool taken(const int r) {  // whether a window of the tile contains this input row
  for (int t = 0; t < TILE_H; ++t)
    for (int k = 0; k < kKH; ++k)
      if (t * kSH + k * kDH == r) return true;
  return false;
}
// Reduces `T` windows of K elements. Elements of a window are D apart, and windows begin S apart. Works by doubling: reduces two elements, then
// four, and so on. Windows that overlap share the common part.
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
HONE_FN int inside(const int first, const int count, const int step, const int size) {  // number of taps outside the padding
  int n = 0;
  for (int k = 0; k < count; ++k) n += first + k * step >= 0 && first + k * step < size;
  return n;
}
// The loaded values for one input element, and the value to pool.
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

@if copies@
typedef @{source.type}@ Kept;
HONE_FN C at_column(const Kept* columns, const int c) { return widen<C, Kept>(columns[c]); }
@else@
typedef C Kept;
HONE_FN C at_column(const Kept* columns, const int c) { return columns[c]; }
@end@
// Computes one output: reduces across the window, starting at `columns`.
HONE_FN void finish(const Arguments& a, const Kept* columns, const Index plane, const int depth, const int oh, const int ow) {
  C pooled = at_column(columns, 0);
#pragma unroll
  for (int k = 1; k < kKW; ++k) pooled = join(pooled, at_column(columns, k * kDW));
@if not maximum@
@if divisor@
  pooled = pooled * (C)(1.0 / @{divisor}@);
@else@
  pooled = pooled / (C)(inside(depth, kKD, kDD, kID) * inside(ow * kSW - kPW, kKW, kDW, kIW) * inside(oh * kSH - kPH, kKH, kDH, kIH));
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
@if copies@

static const int kPack = 16 / (int)sizeof(Kept);
static const int kRoom = (kSpanW + 2 * kPack - 2) / kPack * kPack + kPack;
static const int kGroups = (kTilesW + TILES - 1) / TILES;
HONE_FN int shift_of(const long long first) { return (int)((first % kPack + kPack) % kPack); }
// Starts copying tile `tile` of a row to shared memory, from the last 16-byte boundary before it.
HONE_FN void copy_tile(const Arguments& a, const Index plane, const int tile, Kept* room) {
  const long long first = (long long)plane * kIW + (tile * TILE_W * kSW - kPW), begin = first - shift_of(first);
#pragma unroll
  for (int u = 0; u < (kSpanW + 2 * kPack - 2 + THREADS * kPack - 1) / (THREADS * kPack); ++u) {
    const int at = (u * THREADS + (int)threadIdx.x) * kPack;
    const long long e = begin + at;
    if (e - first >= kSpanW) continue;
    if (e >= 0 && e + kPack <= kTotal) {
#ifdef HONE_HOST
      *(Words4*)(room + at) = *(const Words4*)(a.@{source.pointer}@ + e);
#else
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((word)__cvta_generic_to_shared(room + at)), "l"(a.@{source.pointer}@ + e) : "memory");
#endif
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        if (e + i >= 0 && e + i < kTotal) room[at + i] = a.@{source.pointer}@[e + i];
    }
  }
#ifndef HONE_HOST
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS) @{entry}@(const Arguments a) {
  alignas(16) __shared__ Kept columns[2][kRoom];
  const Index plane = blockIdx.x / kGroups;
  const int first_tile = (int)(blockIdx.x % kGroups) * TILES;
  copy_tile(a, plane, first_tile, columns[0]);
  for (int n = 0; n < TILES && first_tile + n < kTilesW; ++n) {
    const int tile = first_tile + n, w0 = tile * TILE_W, left = w0 * kSW - kPW;
    Kept* const room = columns[n & 1];
    const bool more = n + 1 < TILES && tile + 1 < kTilesW;
    if (more) copy_tile(a, plane, tile + 1, columns[(n + 1) & 1]);
#ifndef HONE_HOST
    if (more) asm volatile("cp.async.wait_group 1;" ::: "memory");
    else asm volatile("cp.async.wait_group 0;" ::: "memory");
#endif
    __syncthreads();
    const int shift = shift_of((long long)plane * kIW + left);
    if (left < 0 || left + kSpanW > kIW) {  // fills the padding
      for (int c = threadIdx.x; c < kSpanW; c += THREADS)
        if (left + c < 0 || left + c >= kIW) room[shift + c] = narrow<Kept, C>(@{identity}@);
      __syncthreads();
    }
#pragma unroll 4
    for (int x = threadIdx.x; x < TILE_W; x += THREADS)
      if (w0 + x < kOW) finish(a, room + shift + x * kSW, plane, 0, 0, w0 + x);
    __syncthreads();  // the tile after the next overwrites this one
  }
}
@else@

extern "C" __global__ void __launch_bounds__(THREADS) @{entry}@(const Arguments a) {
  alignas(16) __shared__ C columns[TILE_H][kWide];
  const int tile_w = blockIdx.x % kTilesW, tile_h = blockIdx.x / kTilesW % kTilesH;
  const Index plane = blockIdx.x / (kTilesW * kTilesH), outer = plane / kOD;
  const int depth = (int)(plane % kOD) * kSD - kPD;
  const int h0 = tile_h * TILE_H, w0 = tile_w * TILE_W, top = h0 * kSH - kPH, left = w0 * kSW - kPW;
  const int shift = (left % VECW + VECW) % VECW, begin = left - shift;
  for (int c = threadIdx.x * VECW; c < kSpanW + shift; c += THREADS * VECW) {
    C down[VECW][TILE_H];
#pragma unroll
    for (int j = 0; j < VECW; ++j)
#pragma unroll
      for (int t = 0; t < TILE_H; ++t) down[j][t] = @{identity}@;
    const int column = begin + c;  // rows consist of whole vectors, so a vector is either inside or outside
    if (column >= 0 && column < kIW) {
      for (int d = 0; d < kKD; ++d) {
        const int slice = depth + d * kDD;
        if (slice < 0 || slice >= kID) continue;
        const Index at = (outer * kID + slice) * kIH;
@if vectors@
        Vec<@{source.type}@, VECW> raw[kSpanH];
#pragma unroll
        for (int r = 0; r < kSpanH; ++r)
          if (taken(r) && top + r >= 0 && top + r < kIH) raw[r] = load_near<@{source.type}@, VECW>(a.@{source.pointer}@ + ((long long)(at + (top + r)) * kIW + column));
#pragma unroll
        for (int j = 0; j < VECW; ++j) {
          C v[kSpanH];
#pragma unroll
          for (int r = 0; r < kSpanH; ++r) v[r] = taken(r) && top + r >= 0 && top + r < kIH ? widen<C, @{source.type}@>(raw[r].v[j]) : @{identity}@;
          join_windows<kKH, kDH, kSH, TILE_H>(v, down[j]);
        }
@else@
        Raw raw[kSpanH];
        C v[kSpanH];
#pragma unroll
        for (int r = 0; r < kSpanH; ++r)
          if (taken(r) && top + r >= 0 && top + r < kIH) raw[r] = load(a, (at + (top + r)) * kIW + column);
#pragma unroll
        for (int r = 0; r < kSpanH; ++r) v[r] = taken(r) && top + r >= 0 && top + r < kIH ? before(raw[r]) : @{identity}@;
        join_windows<kKH, kDH, kSH, TILE_H>(v, down[0]);
@end@
      }
    }
#pragma unroll
    for (int t = 0; t < TILE_H; ++t) {
      Vec<C, VECW> row;
#pragma unroll
      for (int j = 0; j < VECW; ++j) row.v[j] = down[j][t];
      typedef Piece<PieceOf<sizeof(C) * VECW>::size>::type P;
#pragma unroll
      for (int i = 0; i < (int)(sizeof(C) * VECW / sizeof(P)); ++i) ((P*)&columns[t][c])[i] = ((const P*)&row)[i];
    }
  }
  __syncthreads();
  for (int x = threadIdx.x; x < TILE_W; x += THREADS) {
    const int ow = w0 + x;
    if (ow >= kOW) break;
#pragma unroll
    for (int t = 0; t < TILE_H; ++t)
      if (h0 + t < kOH) finish(a, &columns[t][shift + x * kSW], plane, depth, h0 + t, ow);
  }
}
@end@

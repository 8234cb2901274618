// Shared by all fused kernels of Hone: element types, 16-byte accesses, arithmetic as in PyTorch, and reductions in a fixed order. Because of the
// order, answers repeat bit by bit. Short sums are float and are added up in double. That costs no time, because memory is the limit.
#define HONE_FN __device__ __forceinline__
#define HONE_INF __int_as_float(0x7f800000)
#define HONE_NAN __int_as_float(0x7fffffff)
typedef unsigned int word;

struct half_t { unsigned short bits; };
struct bfloat_t { unsigned short bits; };

#ifndef HONE_HOST
HONE_FN float half_to_float(unsigned short bits) { float v; asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits)); return v; }
HONE_FN unsigned short float_to_half(float v) { unsigned short bits; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v)); return bits; }
#endif
HONE_FN float bfloat_to_float(unsigned short bits) { return __int_as_float((int)((word)bits << 16)); }
HONE_FN unsigned short float_to_bfloat(float v) {
  const word bits = (word)__float_as_int(v);
  if (v != v) return 0x7fff;
  return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Convert between the type in memory and the type of the computation.
template <class C, class T> HONE_FN C widen(T v) { return (C)v; }
template <> HONE_FN float widen<float, half_t>(half_t v) { return half_to_float(v.bits); }
template <> HONE_FN float widen<float, bfloat_t>(bfloat_t v) { return bfloat_to_float(v.bits); }
template <> HONE_FN bool widen<bool, unsigned char>(unsigned char v) { return v != 0; }
template <class T, class C> HONE_FN T narrow(C v) { return (T)v; }
template <> HONE_FN half_t narrow<half_t, float>(float v) { half_t h; h.bits = float_to_half(v); return h; }
template <> HONE_FN bfloat_t narrow<bfloat_t, float>(float v) { bfloat_t h; h.bits = float_to_bfloat(v); return h; }
HONE_FN float RoundToHalf(float v) { return half_to_float(float_to_half(v)); }
HONE_FN float RoundToBfloat(float v) { return bfloat_to_float(float_to_bfloat(v)); }

// N adjacent elements, in pieces of 16 bytes if the size allows it.
template <class T, int N> struct Vec { T v[N]; };
struct alignas(16) Words4 { word w[4]; };
struct alignas(8) Words2 { word w[2]; };
template <int BYTES> struct Piece { typedef unsigned char type; };
template <> struct Piece<2> { typedef unsigned short type; };
template <> struct Piece<4> { typedef word type; };
template <> struct Piece<8> { typedef Words2 type; };
template <> struct Piece<16> { typedef Words4 type; };
template <int BYTES> struct PieceOf { static const int size = BYTES % 16 == 0 ? 16 : BYTES % 8 == 0 ? 8 : BYTES % 4 == 0 ? 4 : BYTES % 2 == 0 ? 2 : 1; };

template <class P> HONE_FN P read_piece(const P* at) { return *at; }
template <class P> HONE_FN void write_piece(P* at, P v) { *at = v; }
#ifndef HONE_HOST
template <> HONE_FN Words4 read_piece<Words4>(const Words4* at) {
  Words4 v;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3]) : "l"(at));
  return v;
}
template <> HONE_FN void write_piece<Words4>(Words4* at, Words4 v) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3]) : "memory");
}
// Without this the two words are stored separately, and every sector is written in halves.
template <> HONE_FN Words2 read_piece<Words2>(const Words2* at) {
  Words2 v;
  asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(v.w[0]), "=r"(v.w[1]) : "l"(at));
  return v;
}
template <> HONE_FN void write_piece<Words2>(Words2* at, Words2 v) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(at), "r"(v.w[0]), "r"(v.w[1]) : "memory");
}
#endif

// Loads adjacent, aligned elements. They are read once, so this bypasses the L1 cache.
template <class T, int N> HONE_FN Vec<T, N> load_row(const T* at) {
  typedef typename Piece<PieceOf<sizeof(T) * N>::size>::type P;
  Vec<T, N> v;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(T) * N / sizeof(P)); ++i) ((P*)&v)[i] = read_piece((const P*)at + i);
  return v;
}
// The same for elements that other rows read as well, which the L1 cache keeps.
template <class T, int N> HONE_FN Vec<T, N> load_near(const T* at) {
  typedef typename Piece<PieceOf<sizeof(T) * N>::size>::type P;
  Vec<T, N> v;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(T) * N / sizeof(P)); ++i) ((P*)&v)[i] = ((const P*)at)[i];
  return v;
}
template <class T, int N> HONE_FN void store_row(T* at, const Vec<T, N>& v) {
  typedef typename Piece<PieceOf<sizeof(T) * N>::size>::type P;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(T) * N / sizeof(P)); ++i) write_piece((P*)at + i, ((const P*)&v)[i]);
}
// Loads the first `n` of N elements with any stride through the L1 cache. Stride 0 repeats one element.
template <class T, int N> HONE_FN Vec<T, N> load_apart(const T* at, long long stride, int n) {
  Vec<T, N> v;
#pragma unroll
  for (int i = 0; i < N; ++i) v.v[i] = at[i < n ? i * stride : 0];
  return v;
}
template <class T, int N> HONE_FN void store_apart(T* at, const Vec<T, N>& v, long long stride, int n) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < n) at[i * stride] = v.v[i];
}

// Loads N elements by their tensor's layout: adjacent and aligned if ROW, else `step` apart.
template <class T, int N, bool ROW> HONE_FN Vec<T, N> load_vec(const T* at, long long step) { return ROW ? load_row<T, N>(at) : load_apart<T, N>(at, step, N); }
template <class T, int N, bool ROW> HONE_FN Vec<T, N> load_vec_again(const T* at, long long step) { return ROW ? load_near<T, N>(at) : load_apart<T, N>(at, step, N); }
template <class T, int N, bool ROW> HONE_FN void store_vec(T* at, const Vec<T, N>& v, long long step) {
  if (ROW) store_row<T, N>(at, v); else store_apart<T, N>(at, v, step, N);
}

// Arrays without memory: the numbers 0, 1, 2, ..., and the addresses of a tensor's elements, to which an index is added.
template <class B> struct Imaginary {
  B at;
  HONE_FN Imaginary operator+(long long n) const { return {at + n}; }
  HONE_FN B operator[](long long n) const { return at + n; }
};
template <class T> using Address = const T*;
struct Imagined {
  HONE_FN Imaginary<long long> count() const { return {0}; }
  template <class T> HONE_FN Imaginary<const T*> addresses(const T* at) const { return {at}; }
};
template <class V, int N, class B> HONE_FN Vec<V, N> load_apart(const Imaginary<B> at, long long stride, int n) {
  Vec<V, N> v;
#pragma unroll
  for (int i = 0; i < N; ++i) v.v[i] = at[i < n ? i * stride : 0];
  return v;
}
template <class V, int N, bool ROW, class B> HONE_FN Vec<V, N> load_vec(const Imaginary<B> at, long long step) { return load_apart<V, N>(at, step, N); }
template <class V, int N, bool ROW, class B> HONE_FN Vec<V, N> load_vec_again(const Imaginary<B> at, long long step) { return load_apart<V, N>(at, step, N); }
// The element at `index`, or 0 if it must not be read.
template <class C, class T> HONE_FN C fetch_at(const T* at, long long index, bool some) { return some ? widen<C, T>(at[index]) : (C)0; }

#define HONE_MATH(name, single, both) \
  HONE_FN float name(float v) { return single(v); } \
  HONE_FN double name(double v) { return both(v); }
HONE_MATH(Exp, expf, exp)
HONE_MATH(Exp2, exp2f, exp2)
HONE_MATH(Expm1, expm1f, expm1)
HONE_MATH(Log, logf, log)
HONE_MATH(Log2, log2f, log2)
HONE_MATH(Log10, log10f, log10)
HONE_MATH(Log1p, log1pf, log1p)
HONE_MATH(Tanh, tanhf, tanh)
HONE_MATH(Sinh, sinhf, sinh)
HONE_MATH(Cosh, coshf, cosh)
HONE_MATH(Sin, sinf, sin)
HONE_MATH(Cos, cosf, cos)
HONE_MATH(Tan, tanf, tan)
HONE_MATH(Atan, atanf, atan)
HONE_MATH(Asin, asinf, asin)
HONE_MATH(Acos, acosf, acos)
HONE_MATH(Asinh, asinhf, asinh)
HONE_MATH(Acosh, acoshf, acosh)
HONE_MATH(Atanh, atanhf, atanh)
HONE_MATH(Erf, erff, erf)
HONE_MATH(Erfc, erfcf, erfc)
HONE_MATH(Sqrt, sqrtf, sqrt)
HONE_MATH(Abs, fabsf, fabs)
HONE_MATH(Floor, floorf, floor)
HONE_MATH(Ceil, ceilf, ceil)
HONE_MATH(Trunc, truncf, trunc)
HONE_MATH(Rint, rintf, rint)
HONE_FN float Pow(float a, float b) { return powf(a, b); }
HONE_FN double Pow(double a, double b) { return pow(a, b); }
HONE_FN float Fmod(float a, float b) { return fmodf(a, b); }
HONE_FN double Fmod(double a, double b) { return fmod(a, b); }
HONE_FN float Atan2(float a, float b) { return atan2f(a, b); }
HONE_FN double Atan2(double a, double b) { return atan2(a, b); }
template <class C> HONE_FN C Select(bool which, C yes, C no) { return which ? yes : no; }

@@part_fused_maps.cu@@
#ifndef HONE_HOST
// One instruction each, where the templates above need three.
HONE_FN float Max(float a, float b) { float v; asm("max.NaN.f32 %0, %1, %2;" : "=f"(v) : "f"(a), "f"(b)); return v; }
HONE_FN float Min(float a, float b) { float v; asm("min.NaN.f32 %0, %1, %2;" : "=f"(v) : "f"(a), "f"(b)); return v; }
#endif
// Exchanges a value with another lane, word by word.
template <class C> HONE_FN C shuffle_xor(const C& from, int lanes) {
  C to = from;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(C) / 4); ++i) ((word*)&to)[i] = __shfl_xor_sync(0xffffffffu, ((const word*)&from)[i], lanes);
  return to;
}
// Reductions. `start` makes an empty state, `add` adds batches of N elements at r, r + step, ..., and `merge` adds another state. `level` brings the
// states of WIDTH neighbouring threads to one scale if that makes merging cheaper.
template <class C, int N> struct Tree {
  static HONE_FN C sum(const C* v) { return Tree<C, N / 2>::sum(v) + Tree<C, N - N / 2>::sum(v + N / 2); }
};
template <class C> struct Tree<C, 1> { static HONE_FN C sum(const C* v) { return v[0]; } };

template <class C> struct Wide { typedef long long type; };
template <> struct Wide<float> { typedef double type; };
template <> struct Wide<double> { typedef double type; };

template <class C> struct ReduceSum {
  typename Wide<C>::type s;
  HONE_FN void start() { s = 0; }
  template <int N> HONE_FN void add(const C* v, long long, long long) { s += Tree<C, N>::sum(v); }
  template <int WIDTH> HONE_FN void level() {}
  HONE_FN void merge(const ReduceSum& o) { s += o.s; }
  HONE_FN C value() const { return (C)s; }
};
template <> template <int N> HONE_FN void ReduceSum<bool>::add(const bool* v, long long, long long) {
#pragma unroll
  for (int i = 0; i < N; ++i) s += v[i];
}
template <class C> struct ReduceProd {
  typename Wide<C>::type s;
  HONE_FN void start() { s = 1; }
  template <int N> HONE_FN void add(const C* v, long long, long long) {
#pragma unroll
    for (int i = 0; i < N; ++i) s *= v[i];
  }
  template <int WIDTH> HONE_FN void level() {}
  HONE_FN void merge(const ReduceProd& o) { s *= o.s; }
  HONE_FN C value() const { return (C)s; }
};
// The extreme value and its index: the first of several, and a NaN before all others. Index -1 means "nothing yet".
template <class C, bool MOST> struct ReduceExtreme {
  C s;
  long long at;
  HONE_FN static bool better(C a, C b) { return MOST ? a > b : a < b; }
  HONE_FN void start() { s = 0; at = -1; }
  HONE_FN void take(C v, long long r) {
    const bool nan = v != v, had = s != s && at >= 0;
    if (at < 0 || (nan && !had) || (!had && better(v, s)) || ((v == s || (nan && had)) && r < at)) s = v, at = r;
  }
  // Elements arrive in the order of their indices, so only a better one or the first NaN replaces the extreme.
  template <int N> HONE_FN void add(const C* v, long long r, long long step) {
    if (at < 0) s = v[0], at = r;
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (s == s && !(MOST ? v[i] <= s : v[i] >= s)) s = v[i], at = r + i * step;
  }
  template <int WIDTH> HONE_FN void level() {}
  HONE_FN void merge(const ReduceExtreme& o) { if (o.at >= 0) take(o.s, o.at); }
  HONE_FN C value() const { return s; }
  HONE_FN long long index() const { return at; }
};
template <class C> struct ReduceArgMax : ReduceExtreme<C, true> {};
template <class C> struct ReduceArgMin : ReduceExtreme<C, false> {};
template <class C, bool MOST> struct ReduceValue {
  C s;
  int some;
  HONE_FN void start() { s = 0; some = 0; }
  HONE_FN void take(C v) { s = !some ? v : MOST ? Max(s, v) : Min(s, v); some = 1; }
  template <int N> HONE_FN void add(const C* v, long long, long long) {
    C t = v[0];
#pragma unroll
    for (int i = 1; i < N; ++i) t = MOST ? Max(t, v[i]) : Min(t, v[i]);
    take(t);
  }
  template <int WIDTH> HONE_FN void level() {}
  HONE_FN void merge(const ReduceValue& o) { if (o.some) take(o.s); }
  HONE_FN C value() const { return s; }
};
template <class C> struct ReduceMax : ReduceValue<C, true> {};
template <class C> struct ReduceMin : ReduceValue<C, false> {};
template <class C> struct ReduceAny {
  int s;
  HONE_FN void start() { s = 0; }
  template <int N> HONE_FN void add(const C* v, long long, long long) {
#pragma unroll
    for (int i = 0; i < N; ++i) s |= v[i] != (C)0;
  }
  template <int WIDTH> HONE_FN void level() {}
  HONE_FN void merge(const ReduceAny& o) { s |= o.s; }
  HONE_FN bool value() const { return s != 0; }
};
template <class C> struct ReduceAll {
  int s;
  HONE_FN void start() { s = 1; }
  template <int N> HONE_FN void add(const C* v, long long, long long) {
#pragma unroll
    for (int i = 0; i < N; ++i) s &= v[i] != (C)0;
  }
  template <int WIDTH> HONE_FN void level() {}
  HONE_FN void merge(const ReduceAll& o) { s &= o.s; }
  HONE_FN bool value() const { return s != 0; }
};
// Mean and sum of squared deviations. A thread subtracts its own first element (the pivot), so that nothing cancels. To merge two states, the second
// is moved to the first one's pivot, which needs additions and products only. A row needs one division, at its end.
template <class C> struct ReduceMoments {
  double a, b;  // sum and sum of squares of the differences to the pivot
  C pivot;
  word n;
  HONE_FN void start() { a = b = 0; pivot = 0; n = 0; }
  template <int N> HONE_FN void add(const C* v, long long, long long) {
    if (n == 0) pivot = v[0];
    C d[N], q[N];
#pragma unroll
    for (int i = 0; i < N; ++i) d[i] = v[i] - pivot, q[i] = d[i] * d[i];
    a += Tree<C, N>::sum(d);
    b += Tree<C, N>::sum(q);
    n += N;
  }
  template <int WIDTH> HONE_FN void level() {}
  HONE_FN void merge(const ReduceMoments& o) {
    const bool first = n == 0;
    if (first) pivot = o.pivot;
    if (o.n == 0) return;
    const double d = (double)o.pivot - (double)pivot, moved = o.a + o.n * d;
    b += o.b + d * (o.a + moved);
    a += moved;
    n += o.n;
  }
  HONE_FN C mean() const { return (C)(pivot + a / n); }
  HONE_FN C squares() const {
    const double rest = b - a * (a / n);
    return (C)(rest < 0 ? 0 : rest);
  }
};
// The largest element and the sum of exp(element - largest), in one pass.
template <class C> struct ReduceExps {
  C m;
  double s;
  HONE_FN void start() { m = (C)-HONE_INF; s = 0; }
  static HONE_FN C base(C m) { return m == (C)HONE_INF || m == (C)-HONE_INF ? (C)0 : m; }
  HONE_FN void raise(C to) {
    if (to != m) {
      if (s != 0) s *= Exp(base(m) - base(to));
      m = to;
    }
  }
  template <int N> HONE_FN void add(const C* v, long long, long long) {
    C t = v[0];
#pragma unroll
    for (int i = 1; i < N; ++i) t = Max(t, v[i]);
    raise(Max(m, t));
    C e[N];
#pragma unroll
    for (int i = 0; i < N; ++i) e[i] = Exp(v[i] - base(m));
    s += Tree<C, N>::sum(e);
  }
  template <int WIDTH> HONE_FN void level() {
    C to = m;
#pragma unroll
    for (int d = WIDTH / 2; d > 0; d /= 2) to = Max(to, shuffle_xor(to, d));
    raise(to);
  }
  HONE_FN void merge(const ReduceExps& o) {
    if (o.m == m) {
      s += o.s;
      return;
    }
    const C to = Max(m, o.m);
    raise(to);
    if (o.s != 0) s += o.s * Exp(base(o.m) - base(to));
  }
  HONE_FN C most() const { return m; }
  HONE_FN C sum() const { return base(m) == m ? (C)s : (C)HONE_NAN; }  // the denominator of a softmax
  HONE_FN C log_sum() const { return base(m) == m ? m + Log((C)s) : m; }
};

// Moves a state between threads as words.
template <class S> HONE_FN S shuffle_down(const S& from, int lanes) {
  S to = from;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(S) / 4); ++i) ((word*)&to)[i] = __shfl_down_sync(0xffffffffu, ((const word*)&from)[i], lanes);
  return to;
}
template <class S> HONE_FN S from_lane(const S& from, int lane, int width) {
  S to = from;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(S) / 4); ++i) ((word*)&to)[i] = __shfl_sync(0xffffffffu, ((const word*)&from)[i], lane, width);
  return to;
}
// Merges the states of all threads of a block for the first warp's first lane. `shared` holds 33 states; the last stays free.
template <int LANES, class S> HONE_FN void merge_block(S& state, S* shared) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = LANES / 32;
  state.template level<32>();
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    const S other = shuffle_down(state, d);
    state.merge(other);
  }
  if (lane == 0) shared[warp] = state;
  __syncthreads();
  if (warp == 0) {
    if (lane < warps) state = shared[lane]; else state.start();
    state.template level<32>();
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
      const S other = shuffle_down(state, d);
      if (d < warps) state.merge(other);
    }
  }
}
// Copies the first thread's state to all threads of the block. No barrier follows, because the next merge has one before it writes here.
template <class S> HONE_FN void share_first(S& state, S* shared) {
  if (threadIdx.x == 0) shared[32] = state;
  __syncthreads();
  state = shared[32];
}
// Merges the states of LANES neighbouring threads for all of them. LANES is a power of two up to 32, or all threads of a block.
template <int LANES, class S> HONE_FN void merge_lanes(S& state, S* shared) {
  if (LANES > 32) {
    merge_block<LANES>(state, shared);
    share_first(state, shared);
    return;
  }
  state.template level<(LANES < 32 ? LANES : 32)>();
#pragma unroll
  for (int d = (LANES < 32 ? LANES : 32) / 2; d > 0; d /= 2) {
    const S other = shuffle_down(state, d);
    state.merge(other);
  }
  state = from_lane(state, 0, LANES < 32 ? LANES : 32);
}

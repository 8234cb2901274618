// Shared by all fused kernels of Hone on a CPU: vectors of elements (the compilers' vector types, as wide as the machine's registers for
// float), loads and stores, arithmetic as in PyTorch, reductions in a fixed order, and threads. Sums are double sums over short float
// sums. No header of the C++ library is included, because they would take longer to compile than the kernels.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define HONE_FN inline __attribute__((always_inline))
#define HONE_INF __builtin_inff()
#define HONE_NAN __builtin_nanf("")
#if defined(__AVX512F__)
#define HONE_LANES 16
#elif defined(__AVX__)
#define HONE_LANES 8
#else
#define HONE_LANES 4
#endif

namespace {

constexpr int kLanes = HONE_LANES;
long long cache_bytes = 0;  // size of the last-level cache

struct half_t { unsigned short bits; };
struct bfloat_t { unsigned short bits; };

// ---- Vectors ----

template <class C> struct Raw { typedef C type __attribute__((vector_size(sizeof(C) * kLanes))); };
template <> struct Raw<bool> { typedef int type __attribute__((vector_size(4 * kLanes))); };  // all bits or none
template <int BYTES> struct Mask;
template <> struct Mask<1> { typedef Raw<signed char>::type type; };
template <> struct Mask<2> { typedef Raw<short>::type type; };
template <> struct Mask<4> { typedef Raw<int>::type type; };
template <> struct Mask<8> { typedef Raw<long long>::type type; };
typedef Raw<float>::type Floats;
typedef Raw<int>::type Ints;

template <class C> struct Lanes;
template <> struct Lanes<bool> {
  Ints v;
  HONE_FN Lanes() {}
  HONE_FN Lanes(bool x) : v(Ints{} - (int)x) {}
  template <class D> HONE_FN explicit Lanes(const Lanes<D>& x);
  static HONE_FN Lanes of(Ints v) { Lanes r; r.v = v; return r; }
  HONE_FN bool operator[](int i) const { return v[i] != 0; }
  friend HONE_FN Lanes operator&&(const Lanes& a, const Lanes& b) { return of(a.v & b.v); }
  friend HONE_FN Lanes operator||(const Lanes& a, const Lanes& b) { return of(a.v | b.v); }
  friend HONE_FN Lanes operator!=(const Lanes& a, const Lanes& b) { return of(a.v ^ b.v); }
  friend HONE_FN Lanes operator==(const Lanes& a, const Lanes& b) { return of(~(a.v ^ b.v)); }
  friend HONE_FN Lanes operator>(const Lanes& a, const Lanes& b) { return of(a.v & ~b.v); }
  friend HONE_FN Lanes operator<(const Lanes& a, const Lanes& b) { return of(~a.v & b.v); }
  friend HONE_FN Lanes operator>=(const Lanes& a, const Lanes& b) { return of(a.v | ~b.v); }
  friend HONE_FN Lanes operator<=(const Lanes& a, const Lanes& b) { return of(~a.v | b.v); }
  friend HONE_FN Lanes operator!(const Lanes& a) { return of(~a.v); }
};
template <class C> struct Lanes {
  typedef typename Raw<C>::type R;
  R v;
  HONE_FN Lanes() {}
  HONE_FN Lanes(C x) : v(x - R{}) {}  // 0 + x would lose the sign of -0
  template <class D> HONE_FN explicit Lanes(const Lanes<D>& x) : v(__builtin_convertvector(x.v, R)) {}
  HONE_FN explicit Lanes(const Lanes<bool>& x) : v(__builtin_convertvector(-x.v, R)) {}
  static HONE_FN Lanes of(R v) { Lanes r; r.v = v; return r; }
  HONE_FN C operator[](int i) const { return v[i]; }
  friend HONE_FN Lanes operator+(const Lanes& a, const Lanes& b) { return of(a.v + b.v); }
  friend HONE_FN Lanes operator-(const Lanes& a, const Lanes& b) { return of(a.v - b.v); }
  friend HONE_FN Lanes operator*(const Lanes& a, const Lanes& b) { return of(a.v * b.v); }
  friend HONE_FN Lanes operator/(const Lanes& a, const Lanes& b) { return of(a.v / b.v); }
  friend HONE_FN Lanes operator-(const Lanes& a) { return of(-a.v); }
  HONE_FN Lanes& operator+=(const Lanes& o) { v += o.v; return *this; }
  HONE_FN Lanes& operator*=(const Lanes& o) { v *= o.v; return *this; }
#define HONE_COMPARE(sign) \
  friend HONE_FN Lanes<bool> operator sign(const Lanes& a, const Lanes& b) { return Lanes<bool>::of(__builtin_convertvector(a.v sign b.v, Ints)); }
  HONE_COMPARE(<) HONE_COMPARE(<=) HONE_COMPARE(>) HONE_COMPARE(>=) HONE_COMPARE(==) HONE_COMPARE(!=)
};
template <class D> HONE_FN Lanes<bool>::Lanes(const Lanes<D>& x) : v((x != Lanes<D>((D)0)).v) {}

template <class C> HONE_FN C Select(bool which, C yes, C no) { return which ? yes : no; }
template <class C> HONE_FN Lanes<C> Select(const Lanes<bool>& which, const Lanes<C>& yes, const Lanes<C>& no) {
  const auto mask = __builtin_convertvector(which.v, typename Mask<sizeof(C)>::type);
  return Lanes<C>::of(mask ? yes.v : no.v);
}
HONE_FN Lanes<bool> Select(const Lanes<bool>& which, const Lanes<bool>& yes, const Lanes<bool>& no) {
  return Lanes<bool>::of((which.v & yes.v) | (~which.v & no.v));
}
template <class V> struct Element { typedef V type; };
template <class C> struct Element<Lanes<C>> { typedef C type; };
HONE_FN Lanes<int> Numbered() {
  Ints v;
  for (int i = 0; i < kLanes; ++i) v[i] = i;
  return Lanes<int>::of(v);
}

// ---- Memory ----

HONE_FN float bits_to_float(unsigned v) { float f; __builtin_memcpy(&f, &v, 4); return f; }
HONE_FN unsigned float_to_bits(float v) { unsigned b; __builtin_memcpy(&b, &v, 4); return b; }
HONE_FN float bfloat_to_float(unsigned short bits) { return bits_to_float((unsigned)bits << 16); }
HONE_FN unsigned short float_to_bfloat(float v) {
  const unsigned bits = float_to_bits(v);
  return v != v ? 0x7fff : (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
HONE_FN float half_to_float(unsigned short h) {
  const unsigned sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
  if (rest >= 0x7c00u) return bits_to_float(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  return bits_to_float(sign | float_to_bits(bits_to_float(rest << 13) * 0x1p112f));  // also right for denormal numbers
}
HONE_FN unsigned short float_to_half(float v) {
  const unsigned bits = float_to_bits(v), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return (unsigned short)(sign | 0x7e00u);
  if (rest >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
  if (rest < 0x38800000u) return (unsigned short)(sign | (float_to_bits(bits_to_float(rest) + 0.5f) - 0x3f000000u));  // denormal: the sum rounds
  return (unsigned short)(sign | ((rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13));
}
template <class C, class T> HONE_FN C widen(T v) { return (C)v; }
template <> HONE_FN float widen<float, half_t>(half_t v) { return half_to_float(v.bits); }
template <> HONE_FN float widen<float, bfloat_t>(bfloat_t v) { return bfloat_to_float(v.bits); }
template <> HONE_FN bool widen<bool, unsigned char>(unsigned char v) { return v != 0; }
template <class T, class C> HONE_FN T narrow(C v) { return (T)v; }
template <> HONE_FN half_t narrow<half_t, float>(float v) { half_t h; h.bits = float_to_half(v); return h; }
template <> HONE_FN bfloat_t narrow<bfloat_t, float>(float v) { bfloat_t h; h.bits = float_to_bfloat(v); return h; }

// Loads and stores kLanes adjacent elements.
template <class C, class T> struct Memory {
  typedef typename Raw<T>::type R;
  static HONE_FN Lanes<C> load(const T* at) { R v; __builtin_memcpy(&v, at, sizeof(v)); return Lanes<C>(Lanes<T>::of(v)); }
  static HONE_FN void store(T* at, const Lanes<C>& x) { const R v = Lanes<T>(x).v; __builtin_memcpy(at, &v, sizeof(v)); }
};
template <> struct Memory<bool, unsigned char> {
#if defined(__AVX2__) && HONE_LANES == 8 && !defined(__clang__)  // g++ 12 converts bytes one by one
  typedef char Bytes __attribute__((vector_size(16)));
  typedef short Words __attribute__((vector_size(16)));
  typedef long long Two __attribute__((vector_size(16)));
  static HONE_FN Lanes<bool> load(const unsigned char* at) {
    long long v;
    __builtin_memcpy(&v, at, 8);
    const Two two = {v, 0};
    return Lanes<bool>::of(__builtin_ia32_pmovzxbd256((Bytes)two) != 0);
  }
  static HONE_FN void store(unsigned char* at, const Lanes<bool>& x) {
    const Words words = __builtin_ia32_packssdw128(__builtin_ia32_vextractf128_si256(x.v, 0), __builtin_ia32_vextractf128_si256(x.v, 1));
    const long long v = ((Two)(__builtin_ia32_packsswb128(words, words) & 1))[0];
    __builtin_memcpy(at, &v, 8);
  }
#else
  typedef Raw<unsigned char>::type R;
  static HONE_FN Lanes<bool> load(const unsigned char* at) { R v; __builtin_memcpy(&v, at, sizeof(v)); return Lanes<bool>::of(__builtin_convertvector(v, Ints) != 0); }
  static HONE_FN void store(unsigned char* at, const Lanes<bool>& x) { const R v = __builtin_convertvector(-x.v, R); __builtin_memcpy(at, &v, sizeof(v)); }
#endif
};
template <> struct Memory<float, bfloat_t> {
  typedef Raw<unsigned short>::type R;
  static HONE_FN Lanes<float> load(const bfloat_t* at) {
    R v;
    __builtin_memcpy(&v, at, sizeof(v));
    return Lanes<float>::of((Floats)(__builtin_convertvector(v, Ints) << 16));
  }
  static HONE_FN void store(bfloat_t* at, const Lanes<float>& x) {
    typedef Raw<unsigned>::type U;
    const U bits = (U)x.v, rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const Ints nan = x.v != x.v;
    const R v = __builtin_convertvector(nan ? U{} + 0x7fffu : rounded, R);
    __builtin_memcpy(at, &v, sizeof(v));
  }
};
template <> struct Memory<float, half_t> {
#if defined(__F16C__) && defined(__AVX__) && !defined(__AVX512F__) && !defined(__clang__)
  typedef short V __attribute__((vector_size(16)));
  static HONE_FN Lanes<float> load(const half_t* at) { V v; __builtin_memcpy(&v, at, sizeof(v)); return Lanes<float>::of(__builtin_ia32_vcvtph2ps256(v)); }
  static HONE_FN void store(half_t* at, const Lanes<float>& x) { const V v = __builtin_ia32_vcvtps2ph256(x.v, 0); __builtin_memcpy((void*)at, &v, sizeof(v)); }
#else
  static HONE_FN Lanes<float> load(const half_t* at) {
    Lanes<float> x;
    for (int i = 0; i < kLanes; ++i) x.v[i] = half_to_float(at[i].bits);
    return x;
  }
  static HONE_FN void store(half_t* at, const Lanes<float>& x) {
    for (int i = 0; i < kLanes; ++i) at[i].bits = float_to_half(x.v[i]);
  }
#endif
};
HONE_FN float RoundToHalf(float v) { return half_to_float(float_to_half(v)); }
HONE_FN float RoundToBfloat(float v) { return bfloat_to_float(float_to_bfloat(v)); }
HONE_FN Lanes<float> RoundToHalf(const Lanes<float>& v) { half_t h[kLanes]; Memory<float, half_t>::store(h, v); return Memory<float, half_t>::load(h); }
HONE_FN Lanes<float> RoundToBfloat(const Lanes<float>& v) { bfloat_t h[kLanes]; Memory<float, bfloat_t>::store(h, v); return Memory<float, bfloat_t>::load(h); }

// STEP apart in memory; 0 repeats one element. SOME: loads the first n only and fills up with zeros.
template <class C, class T, long long STEP, bool SOME> HONE_FN Lanes<C> load(const T* at, int n) {
  if (STEP == 0) return Lanes<C>(widen<C, T>(*at));
  if (STEP == 1 && !SOME) return Memory<C, T>::load(at);
  T v[kLanes];
  if (SOME) {
    __builtin_memset((void*)v, 0, sizeof(v));
    for (int i = 0; i < n; ++i) v[i] = at[i * STEP];
  } else {
    for (int i = 0; i < kLanes; ++i) v[i] = at[i * STEP];
  }
  return Memory<C, T>::load(v);
}
// `past` bypasses the caches, if whole vectors are aligned.
template <class C, class T, long long STEP, bool SOME> HONE_FN void store(T* at, const Lanes<C>& x, int n, const bool past) {
  if (STEP == 1 && !SOME) {
#if defined(__AVX__) && !defined(__clang__)
    if (past && sizeof(T) * kLanes == 32) {
      T v[kLanes] __attribute__((aligned(32)));
      Memory<C, T>::store(v, x);
      typedef float V __attribute__((vector_size(32), may_alias));
      __builtin_ia32_movntps256((float*)at, *(const V*)v);
      return;
    }
#endif
    Memory<C, T>::store(at, x);
    return;
  }
  T v[kLanes];
  Memory<C, T>::store(v, x);
  const int count = SOME ? n : kLanes;
  for (int i = 0; i < count; ++i) at[i * STEP] = v[i];
}
// The first n lanes each from at + lane * step + index; 0 where nothing may be read.
template <class C, class T> HONE_FN Lanes<C> gather(const T* at, const Lanes<long long>& index, long long step, int n, const Lanes<bool>& some) {
  T v[kLanes];
  __builtin_memset((void*)v, 0, sizeof(v));
  for (int i = 0; i < n; ++i)
    if (some[i]) v[i] = at[i * step + index[i]];
  return Memory<C, T>::load(v);
}
template <class C, class T> HONE_FN C fetch_at(const T* at, long long index, bool some) { return some ? widen<C, T>(at[index]) : (C)0; }
// An array without memory: the numbers 0, 1, 2, ...
struct Counted {
  long long at;
  HONE_FN Counted operator+(long long n) const { return {at + n}; }
  HONE_FN long long operator[](long long n) const { return at + n; }
};
struct Imagined {
  HONE_FN Counted count() const { return {0}; }
};
template <class C, class T, long long STEP, bool SOME> HONE_FN Lanes<C> load(const Counted at, int) {
  return Lanes<C>(Lanes<int>((int)at.at) + Numbered() * Lanes<int>((int)STEP));
}

// ---- Functions ----

#define HONE_SCALAR(name, single, both) \
  HONE_FN float name(float v) { return single(v); } \
  HONE_FN double name(double v) { return both(v); } \
  HONE_FN Lanes<double> name(const Lanes<double>& x) { Lanes<double> r; for (int i = 0; i < kLanes; ++i) r.v[i] = both(x.v[i]); return r; }
#define HONE_RARE(name, single, both) \
  HONE_SCALAR(name, single, both) \
  HONE_FN Lanes<float> name(const Lanes<float>& x) { Lanes<float> r; for (int i = 0; i < kLanes; ++i) r.v[i] = single(x.v[i]); return r; }
#define HONE_RARE2(name, single, both) \
  HONE_FN float name(float a, float b) { return single(a, b); } \
  HONE_FN double name(double a, double b) { return both(a, b); } \
  HONE_FN Lanes<float> name(const Lanes<float>& a, const Lanes<float>& b) { Lanes<float> r; for (int i = 0; i < kLanes; ++i) r.v[i] = single(a.v[i], b.v[i]); return r; } \
  HONE_FN Lanes<double> name(const Lanes<double>& a, const Lanes<double>& b) { Lanes<double> r; for (int i = 0; i < kLanes; ++i) r.v[i] = both(a.v[i], b.v[i]); return r; }
HONE_SCALAR(Exp, __builtin_expf, __builtin_exp)
HONE_SCALAR(Expm1, __builtin_expm1f, __builtin_expm1)
HONE_SCALAR(Log, __builtin_logf, __builtin_log)
HONE_SCALAR(Log1p, __builtin_log1pf, __builtin_log1p)
HONE_SCALAR(Tanh, __builtin_tanhf, __builtin_tanh)
HONE_SCALAR(Erf, __builtin_erff, __builtin_erf)
HONE_SCALAR(Abs, __builtin_fabsf, __builtin_fabs)
HONE_RARE(Sqrt, __builtin_sqrtf, __builtin_sqrt)  // and the next four become one instruction
HONE_RARE(Floor, __builtin_floorf, __builtin_floor)
HONE_RARE(Ceil, __builtin_ceilf, __builtin_ceil)
HONE_RARE(Trunc, __builtin_truncf, __builtin_trunc)
HONE_RARE(Rint, __builtin_rintf, __builtin_rint)
HONE_RARE(Exp2, __builtin_exp2f, __builtin_exp2)
HONE_RARE(Log2, __builtin_log2f, __builtin_log2)
HONE_RARE(Log10, __builtin_log10f, __builtin_log10)
HONE_RARE(Sinh, __builtin_sinhf, __builtin_sinh)
HONE_RARE(Cosh, __builtin_coshf, __builtin_cosh)
HONE_RARE(Sin, __builtin_sinf, __builtin_sin)
HONE_RARE(Cos, __builtin_cosf, __builtin_cos)
HONE_RARE(Tan, __builtin_tanf, __builtin_tan)
HONE_RARE(Atan, __builtin_atanf, __builtin_atan)
HONE_RARE(Asin, __builtin_asinf, __builtin_asin)
HONE_RARE(Acos, __builtin_acosf, __builtin_acos)
HONE_RARE(Asinh, __builtin_asinhf, __builtin_asinh)
HONE_RARE(Acosh, __builtin_acoshf, __builtin_acosh)
HONE_RARE(Atanh, __builtin_atanhf, __builtin_atanh)
HONE_RARE(Erfc, __builtin_erfcf, __builtin_erfc)
HONE_RARE2(Pow, __builtin_powf, __builtin_pow)
HONE_RARE2(Fmod, __builtin_fmodf, __builtin_fmod)
HONE_RARE2(Atan2, __builtin_atan2f, __builtin_atan2)
HONE_FN Lanes<float> Abs(const Lanes<float>& x) { return Lanes<float>::of((Floats)((Ints)x.v & 0x7fffffff)); }

// One instruction each. If an operand is a NaN, the second operand is the result.
#if defined(__AVX512F__) || !defined(__SSE__) || defined(__clang__)
HONE_FN Floats larger(Floats a, Floats b) { return a > b ? a : b; }
HONE_FN Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
#elif defined(__AVX__)
HONE_FN Floats larger(Floats a, Floats b) { return __builtin_ia32_maxps256(a, b); }
HONE_FN Floats smaller(Floats a, Floats b) { return __builtin_ia32_minps256(a, b); }
#else
HONE_FN Floats larger(Floats a, Floats b) { return __builtin_ia32_maxps(a, b); }
HONE_FN Floats smaller(Floats a, Floats b) { return __builtin_ia32_minps(a, b); }
#endif
HONE_FN Lanes<float> AtLeast(const Lanes<float>& v, const Lanes<float>& low) { return Lanes<float>::of(larger(low.v, v.v)); }
HONE_FN Lanes<float> AtMost(const Lanes<float>& v, const Lanes<float>& high) { return Lanes<float>::of(smaller(high.v, v.v)); }
HONE_FN Lanes<float> Relu(const Lanes<float>& v) { return Lanes<float>::of(larger(Floats{}, v.v)); }
HONE_FN Lanes<float> Max(const Lanes<float>& a, const Lanes<float>& b) { return Lanes<float>::of(a.v != a.v ? a.v : larger(a.v, b.v)); }
HONE_FN Lanes<float> Min(const Lanes<float>& a, const Lanes<float>& b) { return Lanes<float>::of(a.v != a.v ? a.v : smaller(a.v, b.v)); }
HONE_FN Lanes<float> Gelu(const Lanes<float>& v);
template <class V> HONE_FN V larger_of(const V& a, const V& b) { return Select(a > b, a, b); }  // NaN in a does not count
HONE_FN Lanes<float> larger_of(const Lanes<float>& a, const Lanes<float>& b) { return Lanes<float>::of(larger(a.v, b.v)); }

@@part_fused_maps.cu@@

// e^x = 2^n (1 + tail) with |tail| under 0.42: n ln 2 in two parts, and a fit of (e^r - 1 - r) / r^2 (5e-11). x is clamped to where float
// ends; a NaN passes every comparison and stays in `tail`.
struct Exponential { Ints n; Floats tail; };
HONE_FN Exponential exponential(const Floats x) {
  const Floats shift = Floats{} + 12582912.0f;  // 3 * 2^22: the sum has the nearest integer in its low bits
  const Floats shifted = x * 1.44269504f + shift, n = shifted - shift;
  const Floats r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  Floats p = r * 0.000199193804f + 0.00139472249f;
  p = p * r + 0.00833326299f;
  p = p * r + 0.0416662544f;
  p = p * r + 0.166666672f;
  p = p * r + 0.5f;
  return {(Ints)shifted - 0x4b400000, r * r * p + r};
}
HONE_FN Floats power_of_two(const Ints n) { return (Floats)((n + 127) << 23); }
HONE_FN Lanes<float> Exp(const Lanes<float>& v) {
  const Ints gone = v.v < -104.0f;  // avoids denormal floats, which are slow: masks contain many -infinity
  const Exponential e = exponential(smaller(Floats{} + 89.0f, gone ? Floats{} : v.v));
  const Ints half = e.n >> 1;  // 2^n itself may lie beyond float
  const Floats r = (e.tail + 1.0f) * power_of_two(half) * power_of_two(e.n - half);
  return Lanes<float>::of(gone ? Floats{} : r);
}
HONE_FN Lanes<float> Expm1(const Lanes<float>& v) {
  const Exponential e = exponential(AtMost(AtLeast(v, Lanes<float>(-30.0f)), Lanes<float>(89.0f)).v);
  const Floats scale = power_of_two(e.n - 1);  // n is 128 at most
  return Lanes<float>::of((scale * e.tail + (scale - 0.5f)) * 2.0f);
}
// (e^2x - 1) / (e^2x + 1), with the -1 taken before anything is rounded.
HONE_FN Lanes<float> Tanh(const Lanes<float>& v) {
  const Exponential e = exponential(AtMost(AtLeast(v + v, Lanes<float>(-20.0f)), Lanes<float>(20.0f)).v);
  const Floats scale = power_of_two(e.n), m = scale * e.tail + (scale - 1.0f);
  return Lanes<float>::of(m / (m + 2.0f));
}
// x = 2^e (1 + f) with 1 + f from sqrt(1/2) to sqrt(2); log(1 + f) = f - f^2 / 2 + f^3 p(f), fitted to 6e-9.
HONE_FN Lanes<float> Log(const Lanes<float>& v) {
  const Ints small = v.v < 1.17549435e-38f;
  const Floats x = small ? v.v * 8388608.0f : v.v;
  const Ints bits = (Ints)x, e = (bits - 0x3f3504f3) >> 23;
  const Floats f = (Floats)(bits - (e << 23)) - 1.0f, whole = __builtin_convertvector(e - (small & 23), Floats);
  Floats p = f * -0.0763442963f + 0.127615497f;
  p = p * f - 0.131601945f;
  p = p * f + 0.142017618f;
  p = p * f - 0.166233569f;
  p = p * f + 0.200012267f;
  p = p * f - 0.250008225f;
  p = p * f + 0.333333313f;
  const Floats y = f * f * (f * p - 0.5f), low = whole * -2.12194440e-4f + y;
  Floats r = (f + low) + whole * 0.693359375f;
  r = v.v == 0.0f ? Floats{} - HONE_INF : v.v < 0.0f ? Floats{} + HONE_NAN : r;
  return Lanes<float>::of(v.v < HONE_INF ? r : v.v);  // infinity and NaN are their own
}
HONE_FN Lanes<float> Log1p(const Lanes<float>& v) {
  const Lanes<float> u = v + Lanes<float>(1.0f), lost = v - (u - Lanes<float>(1.0f));
  const Lanes<float> r = Log(u);
  return Select(Abs(r) < Lanes<float>(HONE_INF), r + lost / u, r);
}
// x + x q(x^2) up to 1 (1e-9), then 1 - e^(t r(t)) (3e-9) until float has only 1 left.
HONE_FN Lanes<float> Erf(const Lanes<float>& v) {
  const Floats t = Abs(v).v, s = v.v * v.v, c = t > 4.1f ? Floats{} + 4.1f : t;
  Floats q = s * 7.8891193e-05f - 0.000802084105f;
  q = q * s + 0.00518953521f;
  q = q * s - 0.0268544443f;
  q = q * s + 0.112836003f;
  q = q * s - 0.37612626f;
  q = q * s + 0.128379166f;
  Floats r = c * 0.000214595915f - 0.00321998238f;
  r = r * c + 0.0229060519f;
  r = r * c - 0.105286881f;
  r = r * c - 0.635699332f;
  r = r * c - 1.12852001f;
  const Floats far = 1.0f - Exp(Lanes<float>::of(r * c)).v, near = v.v + v.v * q;
  const Floats signed_far = (Floats)((Ints)far | ((Ints)v.v & (int)0x80000000));
  return Lanes<float>::of(t < 1.0f ? near : signed_far);
}

// 1 + erf(x / sqrt 2) is e^(t r(t)) = erfc(t) for negative x and 2 less that for others (2e-9): no second fit for small t is needed, because
// nothing cancels.
HONE_FN Lanes<float> Gelu(const Lanes<float>& v) {
  const Floats t = Abs(v).v * 0.707106781f, c = smaller(Floats{} + 4.2f, t);
  Floats r = c * 8.04387309e-06f - 0.000106027321f;
  r = r * c + 0.000587954244f;
  r = r * c - 0.00157676975f;
  r = r * c + 5.87957802e-05f;
  r = r * c + 0.0192171317f;
  r = r * c - 0.102799207f;
  r = r * c - 0.636616111f;
  r = r * c - 1.12837934f;
  Floats e = Exp(Lanes<float>::of(r * c)).v;
  e = t > 4.2f ? Floats{} : e;
  return Lanes<float>::of(0.5f * v.v * (v.v < 0.0f ? e : 2.0f - e));
}

// ---- Reductions ----
// V is a number, or a vector whose lanes are reduced separately. `start` makes an empty state. `add` adds batches of U elements at `at`,
// at + step, ... `merge` adds another state. At the end of a row, `add_some` adds the first n lanes of a vector that the row does not fill, and
// `fold` merges the lanes in their order.
template <class V> struct Wide { typedef long long type; };
template <> struct Wide<float> { typedef double type; };
template <> struct Wide<double> { typedef double type; };
template <class C> struct Wide<Lanes<C>> { typedef Lanes<typename Wide<C>::type> type; };
template <class V> struct Place { typedef int type; };
template <class C> struct Place<Lanes<C>> { typedef Lanes<int> type; };
template <class V> struct Truth { typedef bool type; };
template <class C> struct Truth<Lanes<C>> { typedef Lanes<bool> type; };
template <class V> struct Long { typedef long long type; };
template <class C> struct Long<Lanes<C>> { typedef Lanes<long long> type; };
template <class V, int U> struct Tree { static HONE_FN V sum(const V* v) { return Tree<V, U / 2>::sum(v) + Tree<V, U - U / 2>::sum(v + U / 2); } };
template <class V> struct Tree<V, 1> { static HONE_FN V sum(const V* v) { return v[0]; } };
template <class C> HONE_FN C sum_lanes(const Lanes<C>& x) { C s = x[0]; for (int i = 1; i < kLanes; ++i) s += x[i]; return s; }
template <class C> HONE_FN C most_lane(const Lanes<C>& x) { C s = x[0]; for (int i = 1; i < kLanes; ++i) s = Max(s, (C)x[i]); return s; }

template <class S, class C> HONE_FN void add_each(S& state, const Lanes<C>& v, int n, int at) {
  for (int i = 0; i < n; ++i) { const C x = v[i]; state.template add<1>(&x, at + i, 1); }
}
#define HONE_ADD_EACH typedef typename Element<V>::type E; typedef typename Place<V>::type P; \
  HONE_FN void add_some(const Lanes<E>& v, int n, int at) { add_each(*this, v, n, at); }

template <class V> struct ReduceSum {
  HONE_ADD_EACH
  typename Wide<V>::type s;
  HONE_FN void start() { s = 0; }
  template <int U> HONE_FN void add(const V* v, const P&, int) { s += (typename Wide<V>::type)Tree<V, U>::sum(v); }
  HONE_FN void merge(const ReduceSum& o) { s += o.s; }
  HONE_FN ReduceSum<E> fold() const { ReduceSum<E> r; r.s = sum_lanes(s); return r; }
  HONE_FN V value() const { return (V)s; }
};
template <class V> struct ReduceProd {
  HONE_ADD_EACH
  typename Wide<V>::type s;
  HONE_FN void start() { s = 1; }
  template <int U> HONE_FN void add(const V* v, const P&, int) { for (int i = 0; i < U; ++i) s *= (typename Wide<V>::type)v[i]; }
  HONE_FN void merge(const ReduceProd& o) { s *= o.s; }
  HONE_FN ReduceProd<E> fold() const { ReduceProd<E> r; r.s = s[0]; for (int i = 1; i < kLanes; ++i) r.s *= s[i]; return r; }
  HONE_FN V value() const { return (V)s; }
};
// The extreme value and its index: the first of several, and a NaN before all others.
template <class V, bool MOST> struct ReduceExtreme {
  HONE_ADD_EACH
  V s;
  P at;
  int some;
  HONE_FN void start() { some = 0; }
  template <int U> HONE_FN void add(const V* v, const P& first, int step) {
    int i = 0;
    if (!some) s = v[0], at = first, some = 1, i = 1;
    for (; i < U; ++i) {  // in the order of their indices, so only a better one or the first NaN replaces the extreme
      const typename Truth<V>::type better = s == s && !(MOST ? v[i] <= s : v[i] >= s);
      s = Select(better, v[i], s);
      at = Select(better, first + P(i * step), at);
    }
  }
  HONE_FN void merge(const ReduceExtreme& o) {
    if (!o.some) return;
    if (!some) { *this = o; return; }
    const typename Truth<V>::type nan = o.s != o.s, had = s != s, sooner = o.at < at;
    const typename Truth<V>::type better = (nan && !had) || (!had && (MOST ? o.s > s : o.s < s)) || ((o.s == s || (nan && had)) && sooner);
    s = Select(better, o.s, s);
    at = Select(better, o.at, at);
  }
  template <class R> HONE_FN R folded() const {
    R r;
    r.start();
    for (int i = 0; some && i < kLanes; ++i) { R one; one.s = s[i], one.at = at[i], one.some = 1; r.merge(one); }
    return r;
  }
  HONE_FN V value() const { return s; }
  HONE_FN typename Long<V>::type index() const { return (typename Long<V>::type)at; }
};
template <class V> struct ReduceArgMax : ReduceExtreme<V, true> { HONE_FN ReduceArgMax<typename Element<V>::type> fold() const { return this->template folded<ReduceArgMax<typename Element<V>::type>>(); } };
template <class V> struct ReduceArgMin : ReduceExtreme<V, false> { HONE_FN ReduceArgMin<typename Element<V>::type> fold() const { return this->template folded<ReduceArgMin<typename Element<V>::type>>(); } };
template <class V, bool MOST> struct ReduceValue {
  HONE_ADD_EACH
  V s;
  int some;
  HONE_FN void start() { some = 0; }
  HONE_FN void take(const V& v) { s = !some ? v : MOST ? Max(s, v) : Min(s, v); some = 1; }
  template <int U> HONE_FN void add(const V* v, const P&, int) {
    V t = v[0];
    for (int i = 1; i < U; ++i) t = MOST ? Max(t, v[i]) : Min(t, v[i]);
    take(t);
  }
  HONE_FN void merge(const ReduceValue& o) { if (o.some) take(o.s); }
  template <class R> HONE_FN R folded() const {
    R r;
    r.start();
    for (int i = 0; some && i < kLanes; ++i) r.take(s[i]);
    return r;
  }
  HONE_FN V value() const { return s; }
};
template <class V> struct ReduceMax : ReduceValue<V, true> { HONE_FN ReduceMax<typename Element<V>::type> fold() const { return this->template folded<ReduceMax<typename Element<V>::type>>(); } };
template <class V> struct ReduceMin : ReduceValue<V, false> { HONE_FN ReduceMin<typename Element<V>::type> fold() const { return this->template folded<ReduceMin<typename Element<V>::type>>(); } };
template <class V, bool ALL> struct ReduceTruth {
  HONE_ADD_EACH
  typename Truth<V>::type s;
  HONE_FN void start() { s = ALL; }
  HONE_FN void take(const typename Truth<V>::type& v) { s = ALL ? s && v : s || v; }
  template <int U> HONE_FN void add(const V* v, const P&, int) { for (int i = 0; i < U; ++i) take(v[i] != (V)(E)0); }
  HONE_FN void merge(const ReduceTruth& o) { take(o.s); }
  template <class R> HONE_FN R folded() const { R r; r.start(); for (int i = 0; i < kLanes; ++i) r.take(s[i]); return r; }
  HONE_FN typename Truth<V>::type value() const { return s; }
};
template <class V> struct ReduceAny : ReduceTruth<V, false> { HONE_FN ReduceAny<typename Element<V>::type> fold() const { return this->template folded<ReduceAny<typename Element<V>::type>>(); } };
template <class V> struct ReduceAll : ReduceTruth<V, true> { HONE_FN ReduceAll<typename Element<V>::type> fold() const { return this->template folded<ReduceAll<typename Element<V>::type>>(); } };
// Mean and sum of squared deviations. Each batch is measured from its own mean, so that nothing cancels; batches, lanes and parts are
// merged as Chan, Golub and LeVeque do. All lanes have the same number of elements.
template <class V> struct ReduceMoments {
  typedef typename Element<V>::type E;
  typedef typename Place<V>::type P;
  typedef typename Wide<V>::type W;
  double n;
  W a, b;
  HONE_FN void start() { n = 0; a = 0; b = 0; }
  template <int U> HONE_FN void add(const V* v, const P&, int) {
    const V mean = U == 1 ? v[0] : Tree<V, U>::sum(v) * V((E)(1.0 / U));
    V d[U], q[U];
    for (int i = 0; i < U; ++i) d[i] = v[i] - mean, q[i] = d[i] * d[i];
    const W rest = (W)Tree<V, U>::sum(d);  // the rounding error of the mean
    ReduceMoments o;
    const W squares = (W)Tree<V, U>::sum(q) - rest * rest * W(1.0 / U);  // from the exact mean, not from the rounded one
    o.n = U, o.a = (W)mean + rest * W(1.0 / U), o.b = U == 1 ? W(0.0) : AtLeast(squares, W(0.0));
    merge(o);
  }
  HONE_FN void add_some(const Lanes<E>& v, int n_, int) {
    const Lanes<bool> there = Numbered() < Lanes<int>(n_);
    ReduceMoments o;
    o.n = n_;
    o.a = sum_lanes(Lanes<double>(Select(there, v, Lanes<E>((E)0)))) / n_;
    const Lanes<double> d = Select(there, Lanes<double>(v) - Lanes<double>(o.a), Lanes<double>(0.0));
    o.b = sum_lanes(d * d);
    merge(o);
  }
  HONE_FN void merge(const ReduceMoments& o) {
    if (o.n == 0) return;
    const double total = n + o.n, share = o.n / total;
    const W d = o.a - a;
    a += d * W(share);
    b += o.b + d * d * W(n * share);
    n = total;
  }
  HONE_FN ReduceMoments<E> fold() const {
    ReduceMoments<E> r;
    r.n = n * kLanes;
    r.a = sum_lanes(a) / kLanes;
    const W d = a - W(r.a);
    r.b = sum_lanes(b + d * d * W(n));
    return r;
  }
  HONE_FN V mean() const { return (V)a; }
  HONE_FN V squares() const { return (V)b; }
};
// The largest element and the sum of exp(element - largest), in one pass.
template <class V> struct ReduceExps {
  typedef typename Element<V>::type E;
  typedef typename Place<V>::type P;
  typedef typename Wide<V>::type W;
  V m;
  W s;
  HONE_FN void start() { m = V((E)-HONE_INF); s = 0; }
  static HONE_FN V base(const V& m) { return Select(m == V((E)HONE_INF) || m == V((E)-HONE_INF), V((E)0), m); }
  HONE_FN void raise(const V& to) {
    s = s * (W)Exp(base(m) - base(to));
    m = to;
  }
  template <int U> HONE_FN void add(const V* v, const P&, int) {
    V t = m;  // a NaN is left out here and comes back through the sum
    for (int i = 0; i < U; ++i) t = larger_of(v[i], t);
    raise(t);
    const V from = base(m);
    V e[U];
    for (int i = 0; i < U; ++i) e[i] = Exp(v[i] - from);
    s += (W)Tree<V, U>::sum(e);
  }
  HONE_FN void add_some(const Lanes<E>& v, int n, int) {
    const Lanes<bool> there = Numbered() < Lanes<int>(n);
    ReduceExps<Lanes<E>> o;
    o.start();
    const Lanes<E> padded = Select(there, v, Lanes<E>((E)-HONE_INF));
    o.template add<1>(&padded, Lanes<int>(0), 0);
    merge(o.fold());
  }
  HONE_FN void merge(const ReduceExps& o) {
    const V to = larger_of(o.m, m);
    raise(to);
    s += o.s * (W)Exp(base(o.m) - base(to));
  }
  HONE_FN ReduceExps<E> fold() const {
    ReduceExps<E> r;
    r.m = most_lane(m);
    r.s = sum_lanes(s * (W)Exp(base(m) - V(ReduceExps<E>::base(r.m))));
    return r;
  }
  HONE_FN V most() const { return m; }
  HONE_FN V sum() const { return Select(base(m) == m, (V)s, V((E)HONE_NAN)); }  // the denominator of a softmax
  HONE_FN V log_sum() const { return Select(base(m) == m || (V)s != (V)s, m + Log((V)s), m); }
};

// ---- Threads ----
// Uses PyTorch's own OpenMP threads, through the one function of its runtime that compilers call, or its own threads without OpenMP. Threads
// take pieces dynamically, and no answer depends on which thread took which piece.
typedef void (*Team)(void (*)(void*), void*, unsigned, unsigned);
Team team_of_torch = 0;
struct Region {
  void (*work)(const void*, long long, long long);
  const void* context;
  long long count, piece, next;
};
void take_pieces(void* given) {
  Region& region = *(Region*)given;
  for (;;) {
    const long long begin = __atomic_fetch_add(&region.next, region.piece, __ATOMIC_RELAXED);
    if (begin >= region.count) break;
    region.work(region.context, begin, region.count - begin < region.piece ? region.count : begin + region.piece);
  }
#if defined(__SSE2__)
  __builtin_ia32_sfence();  // makes stores that bypassed the caches visible to later readers
#endif
}
void* take_pieces_alone(void* given) { take_pieces(given); return 0; }
// Calls `work(begin, end)` for pieces of 0 to count. `piece` is the least work per thread.
template <class F> HONE_FN void in_parallel(const long long count, const long long piece, int threads, const F& work) {
  Region region = {[](const void* f, long long begin, long long end) { (*(const F*)f)(begin, end); }, &work, count, piece, 0};
  const long long pieces = (count + piece - 1) / piece;
  if (pieces < threads) threads = (int)pieces;
  if (threads <= 1) return take_pieces(&region);
  if (team_of_torch) return team_of_torch(take_pieces, &region, (unsigned)threads, 0);
  pthread_t others[64];
  int started = 0;
  for (; started + 1 < threads && started < 64; ++started)
    if (pthread_create(&others[started], 0, take_pieces_alone, &region) != 0) break;
  take_pieces(&region);
  for (int i = 0; i < started; ++i) pthread_join(others[i], 0);
}

}  // namespace

// Looks for PyTorch's OpenMP among the libraries of the process.
static int find_team(struct dl_phdr_info* info, unsigned long, void*) {
  const char* name = __builtin_strrchr(info->dlpi_name, '/');
  if (!name || (__builtin_strncmp(name, "/libgomp", 8) != 0 && __builtin_strncmp(name, "/libiomp5", 9) != 0 && __builtin_strncmp(name, "/libomp", 7) != 0)) return 0;
  void* const library = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  if (library) team_of_torch = (Team)dlsym(library, "GOMP_parallel");
  return team_of_torch != 0;
}
extern "C" void hone_begin() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  cache_bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  if (cache_bytes <= 0) cache_bytes = 32ll << 20;
  dl_iterate_phdr(find_team, 0);
}
// Requests 2 MB pages, if the system has them, for memory that will be written completely.
extern "C" void hone_large_pages(void* at, unsigned long bytes) {
#ifdef MADV_HUGEPAGE
  const unsigned long page = 2ul << 20, first = ((unsigned long)at + page - 1) / page * page, end = ((unsigned long)at + bytes) / page * page;
  if (first < end) madvise((void*)first, end - first, MADV_HUGEPAGE);
#endif
}

// Elementwise maps as in PyTorch, for both languages with C++ text: C is a number, or a vector of numbers on a CPU. Select replaces `?:`,
// which vectors lack.
template <class C> HONE_FN C Abs(C v) { return Select(v < (C)0, (C)(-v), v); }
// Keeps NaN.
template <class C> HONE_FN C Max(C a, C b) { return Select(a != a || a > b, a, b); }
template <class C> HONE_FN C Min(C a, C b) { return Select(a != a || a < b, a, b); }
template <class C> HONE_FN C AtLeast(C v, C low) { return Select(v < low, low, v); }
template <class C> HONE_FN C AtMost(C v, C high) { return Select(v > high, high, v); }
template <class C> HONE_FN C Relu(C v) { return Select(v <= (C)0, (C)0, v); }
template <class C> HONE_FN C Sign(C v) { return Select(v > (C)0, (C)1, Select(v < (C)0, (C)-1, (C)0)); }
template <class C> HONE_FN C Sigmoid(C v) { return (C)1 / ((C)1 + Exp(-v)); }
template <class C> HONE_FN C Silu(C v) { return v / ((C)1 + Exp(-v)); }
template <class C> HONE_FN C Gelu(C v) { return (C)0.5 * v * ((C)1 + Erf(v * (C)0.70710678118654752440)); }
template <class C> HONE_FN C GeluTanh(C v) { return (C)0.5 * v * ((C)1 + Tanh((C)0.79788456080286535588 * (v + (C)0.044715 * v * v * v))); }
template <class C> HONE_FN C Softplus(C v, C beta, C threshold) { return Select(v * beta > threshold, v, Log1p(Exp(v * beta)) / beta); }
// v tanh(log(1 + e^v)) = v (e^2v + 2 e^v) / (e^2v + 2 e^v + 2): one exponential, and nothing cancels.
template <class C> HONE_FN C Mish(C v) {
  const C e = Exp(AtMost(v, (C)20)), n = e * (e + (C)2);
  return Select(v < (C)20, Select(e == (C)0, v * e, v * (n / (n + (C)2))), v);
}
template <class C> HONE_FN C LogSigmoid(C v) { return AtMost(v, (C)0) - Log1p(Exp(-Abs(v))); }
template <class C> HONE_FN C Elu(C v, C negative, C positive, C scale) { return Select(v <= (C)0, Expm1(v * scale) * negative, v * positive); }
template <class C> HONE_FN C LogAddExp(C a, C b) { return Select(a == b, a + (C)0.69314718055994530942, Max(a, b) + Log1p(Exp(-Abs(a - b)))); }
template <class C> HONE_FN C Xlogy(C a, C b) { return Select(b != b, b, Select(a == (C)0, (C)0, a * Log(b))); }
template <class C> HONE_FN C Remainder(C a, C b) {
  const C m = Fmod(a, b);
  return Select(m != (C)0 && (m < (C)0) != (b < (C)0), m + b, m);
}
// Floor division as Python's //. The remainder decides, because a / b may round up to the next integer.
template <class C> HONE_FN C FloorDivide(C a, C b) {
  const C m = Fmod(a, b), q = (a - m) / b, low = Select(m != (C)0 && (m < (C)0) != (b < (C)0), q - (C)1, q);
  const C whole = Floor(low);
  return Select(b == (C)0, a / b, Select(low - whole > (C)0.5, whole + (C)1, whole));
}

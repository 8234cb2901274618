# Shared by fused kernels in Triton. A file contains only the functions that its kernels call; two empty lines separate them. Elementary functions are
# libdevice's: Triton's own exp and log are approximations, and its division and square root of floats are rounded twice.


@triton.jit
def _div(a, b):
    if a.dtype == tl.float64:
        return a / b
    else:
        return tl.div_rn(a, b)


@triton.jit
def _sqrt(v):
    if v.dtype == tl.float64:
        return tl.sqrt(v)
    else:
        return tl.sqrt_rn(v)


@triton.jit
def _neg(v):
    if v.dtype.is_floating():
        return v * -1.0  # 0 - v would lose the sign of a zero
    else:
        return 0 - v


@triton.jit
def _not(v):
    return v == 0


@triton.jit
def _round_to_half(v):
    return v.to(tl.float16).to(tl.float32)


@triton.jit
def _round_to_bfloat(v):
    return v.to(tl.bfloat16).to(tl.float32)


@triton.jit
def _exp(v):
    return libdevice.exp(v)


@triton.jit
def _exp2(v):
    return libdevice.exp2(v)


@triton.jit
def _expm1(v):
    return libdevice.expm1(v)


@triton.jit
def _log(v):
    return libdevice.log(v)


@triton.jit
def _log2(v):
    return libdevice.log2(v)


@triton.jit
def _log10(v):
    return libdevice.log10(v)


@triton.jit
def _log1p(v):
    return libdevice.log1p(v)


@triton.jit
def _tanh(v):
    return libdevice.tanh(v)


@triton.jit
def _sinh(v):
    return libdevice.sinh(v)


@triton.jit
def _cosh(v):
    return libdevice.cosh(v)


@triton.jit
def _sin(v):
    return libdevice.sin(v)


@triton.jit
def _cos(v):
    return libdevice.cos(v)


@triton.jit
def _tan(v):
    return libdevice.tan(v)


@triton.jit
def _atan(v):
    return libdevice.atan(v)


@triton.jit
def _asin(v):
    return libdevice.asin(v)


@triton.jit
def _asinh(v):
    return libdevice.asinh(v)


@triton.jit
def _acosh(v):
    return libdevice.acosh(v)


@triton.jit
def _atanh(v):
    return libdevice.atanh(v)


@triton.jit
def _acos(v):
    return libdevice.acos(v)


@triton.jit
def _atan2(a, b):
    return libdevice.atan2(a, b)


@triton.jit
def _erf(v):
    return libdevice.erf(v)


@triton.jit
def _erfc(v):
    return libdevice.erfc(v)


@triton.jit
def _pow(a, b):
    return libdevice.pow(a, b)


@triton.jit
def _fmod(a, b):
    return libdevice.fmod(a, b)


@triton.jit
def _rint(v):
    return libdevice.rint(v)


@triton.jit
def _trunc(v):
    return libdevice.trunc(v)


@triton.jit
def _floor(v):
    return libdevice.floor(v)


@triton.jit
def _ceil(v):
    return libdevice.ceil(v)


@triton.jit
def _abs(v):
    return tl.abs(v)


# Keeps NaN.
@triton.jit
def _max(a, b):
    return tl.where((a != a) | (a > b), a, b)


@triton.jit
def _min(a, b):
    return tl.where((a != a) | (a < b), a, b)


@triton.jit
def _at_least(v, low):
    return tl.where(v < low, low, v)


@triton.jit
def _at_most(v, high):
    return tl.where(v > high, high, v)


@triton.jit
def _relu(v):
    return tl.where(v <= 0, tl.full((), 0, v.dtype), v)


@triton.jit
def _sign(v):
    return (v > 0).to(v.dtype) - (v < 0).to(v.dtype)


@triton.jit
def _sigmoid(v):
    return _div(tl.full((), 1, v.dtype), 1 + _exp(_neg(v)))


@triton.jit
def _silu(v):
    return _div(v, 1 + _exp(_neg(v)))


@triton.jit
def _gelu(v):
    return 0.5 * v * (1 + _erf(v * 0.70710678118654752440))


@triton.jit
def _gelu_tanh(v):
    return 0.5 * v * (1 + _tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v)))


@triton.jit
def _softplus(v, beta, threshold):
    return tl.where(v * beta > threshold, v, _div(_log1p(_exp(v * beta)), beta))


# v tanh(log(1 + e^v)) = v (e^2v + 2 e^v) / (e^2v + 2 e^v + 2): one exponential, and nothing cancels.
@triton.jit
def _mish(v):
    e = _exp(tl.where(v > 20, 20, v))
    n = e * (e + 2)
    return tl.where(v < 20, tl.where(e == 0, v * e, v * _div(n, n + 2)), v)


@triton.jit
def _log_sigmoid(v):
    return tl.where(v > 0, 0, v) - _log1p(_exp(_neg(_abs(v))))


@triton.jit
def _elu(v, negative, positive, scale):
    return tl.where(v <= 0, _expm1(v * scale) * negative, v * positive)


@triton.jit
def _log_add_exp(a, b):
    return tl.where(a == b, a + 0.69314718055994530942, _max(a, b) + _log1p(_exp(_neg(tl.abs(a - b)))))


@triton.jit
def _xlogy(a, b):
    return tl.where(b != b, b, tl.where(a == 0, 0, a * _log(b)))


@triton.jit
def _remainder(a, b):
    m = _fmod(a, b)
    return tl.where((m != 0) & ((m < 0) != (b < 0)), m + b, m)


# Floor division as Python's //. The remainder decides, because a / b may round up to the next integer.
@triton.jit
def _floor_divide(a, b):
    m = _fmod(a, b)
    q = _div(a - m, b)
    low = tl.where((m != 0) & ((m < 0) != (b < 0)), q - 1, q)
    whole = _floor(low)
    return tl.where(b == 0, _div(a, b), tl.where(low - whole > 0.5, whole + 1, whole))


# Reductions of a tile [rows, lanes]. `start` and `add` keep a state per lane. `fold` merges the lanes into the state of a row, and `join` merges the
# states of a row's parts. A state has fields. C is the type of the computation, and W the wider type of its sums.
@triton.jit
def _row_max(x, LEAST: tl.constexpr, C: tl.constexpr):
    """The largest element of each row. A NaN counts as the largest."""
    if x.dtype.is_floating():
        top = tl.max(tl.where(x != x, tl.full((), LEAST, C), x), 1)
        return tl.where(tl.max((x != x).to(tl.int32), 1) > 0, tl.full((), float("nan"), C), top)
    else:
        return tl.max(x, 1)


@triton.jit
def _row_min(x, MOST: tl.constexpr, C: tl.constexpr):
    if x.dtype.is_floating():
        low = tl.min(tl.where(x != x, tl.full((), MOST, C), x), 1)
        return tl.where(tl.max((x != x).to(tl.int32), 1) > 0, tl.full((), float("nan"), C), low)
    else:
        return tl.min(x, 1)


@triton.jit
def _sum_start(R: tl.constexpr, B: tl.constexpr, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.zeros((R, B), W)


@triton.jit
def _sum_add(s, x, mask, r, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return s + tl.where(mask, x.to(W), tl.full((), 0, W))


@triton.jit
def _sum_fold(s, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.sum(s, 1)


@triton.jit
def _sum_join(s, mask, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.sum(tl.where(mask, s, tl.full((), 0, W)), 1)


@triton.jit
def _sum_value(s, C: tl.constexpr):
    return s.to(C)


@triton.jit
def _multiply(a, b):
    return a * b


@triton.jit
def _prod_start(R: tl.constexpr, B: tl.constexpr, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.full((R, B), 1, W)


@triton.jit
def _prod_add(s, x, mask, r, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return s * tl.where(mask, x.to(W), tl.full((), 1, W))


@triton.jit
def _prod_fold(s, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.reduce(s, 1, _multiply)


@triton.jit
def _prod_join(s, mask, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.reduce(tl.where(mask, s, tl.full((), 1, W)), 1, _multiply)


@triton.jit
def _prod_value(s, C: tl.constexpr):
    return s.to(C)


@triton.jit
def _max_start(R: tl.constexpr, B: tl.constexpr, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.full((R, B), EDGE, C)


@triton.jit
def _max_add(s, x, mask, r, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.where(mask, _max(s, x.to(C)), s)


@triton.jit
def _max_fold(s, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return _row_max(s, EDGE, C)


@triton.jit
def _max_join(s, mask, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return _row_max(tl.where(mask, s, tl.full((), EDGE, C)), EDGE, C)


@triton.jit
def _max_value(s, C: tl.constexpr):
    return s.to(C)


@triton.jit
def _min_start(R: tl.constexpr, B: tl.constexpr, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.full((R, B), EDGE, C)


@triton.jit
def _min_add(s, x, mask, r, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.where(mask, _min(s, x.to(C)), s)


@triton.jit
def _min_fold(s, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return _row_min(s, EDGE, C)


@triton.jit
def _min_join(s, mask, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return _row_min(tl.where(mask, s, tl.full((), EDGE, C)), EDGE, C)


@triton.jit
def _min_value(s, C: tl.constexpr):
    return s.to(C)


# The extreme value and its index: the first of several, and a NaN before all others. A lane without elements has an index behind all others.
_NOWHERE = tl.constexpr(2**62)


@triton.jit
def _first_place(s, at, most):
    return tl.min(tl.where((s == most[:, None]) | ((s != s) & (most != most)[:, None]), at, tl.full((), _NOWHERE, tl.int64)), 1)


@triton.jit
def _argmax_start(R: tl.constexpr, B: tl.constexpr, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.full((R, B), EDGE, C), tl.full((R, B), _NOWHERE, tl.int64)


@triton.jit
def _argmax_add(s, at, x, mask, r, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    v = x.to(C)
    take = mask & ((at == _NOWHERE) | ((s == s) & ((v > s) | (v != v))))
    return tl.where(take, v, s), tl.where(take, r[None, :].to(tl.int64), at)


@triton.jit
def _argmax_fold(s, at, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    most = _row_max(s, EDGE, C)
    return most, _first_place(s, at, most)


@triton.jit
def _argmax_join(s, at, mask, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    most = _row_max(tl.where(mask, s, tl.full((), EDGE, C)), EDGE, C)
    return most, _first_place(s, tl.where(mask, at, tl.full((), _NOWHERE, tl.int64)), most)


@triton.jit
def _argmax_value(s, at, C: tl.constexpr):
    return s.to(C)


@triton.jit
def _argmax_index(s, at, C: tl.constexpr):
    return at


@triton.jit
def _argmin_start(R: tl.constexpr, B: tl.constexpr, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.full((R, B), EDGE, C), tl.full((R, B), _NOWHERE, tl.int64)


@triton.jit
def _argmin_add(s, at, x, mask, r, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    v = x.to(C)
    take = mask & ((at == _NOWHERE) | ((s == s) & ((v < s) | (v != v))))
    return tl.where(take, v, s), tl.where(take, r[None, :].to(tl.int64), at)


@triton.jit
def _argmin_fold(s, at, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    least = _row_min(s, EDGE, C)
    return least, _first_place(s, at, least)


@triton.jit
def _argmin_join(s, at, mask, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    least = _row_min(tl.where(mask, s, tl.full((), EDGE, C)), EDGE, C)
    return least, _first_place(s, tl.where(mask, at, tl.full((), _NOWHERE, tl.int64)), least)


@triton.jit
def _argmin_value(s, at, C: tl.constexpr):
    return s.to(C)


@triton.jit
def _argmin_index(s, at, C: tl.constexpr):
    return at


@triton.jit
def _any_start(R: tl.constexpr, B: tl.constexpr, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.zeros((R, B), tl.int32)


@triton.jit
def _any_add(s, x, mask, r, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return s | (mask & (x != 0)).to(tl.int32)


@triton.jit
def _any_fold(s, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.max(s, 1)


@triton.jit
def _any_join(s, mask, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.max(tl.where(mask, s, 0), 1)


@triton.jit
def _any_value(s, C: tl.constexpr):
    return s != 0


@triton.jit
def _all_start(R: tl.constexpr, B: tl.constexpr, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.full((R, B), 1, tl.int32)


@triton.jit
def _all_add(s, x, mask, r, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.where(mask & (x == 0), 0, s)


@triton.jit
def _all_fold(s, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.min(s, 1)


@triton.jit
def _all_join(s, mask, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.min(tl.where(mask, s, 1), 1)


@triton.jit
def _all_value(s, C: tl.constexpr):
    return s != 0


# Mean and sum of squared deviations. A lane subtracts its own first finite element, so that nothing cancels. Lanes are merged by the distance of
# their means from the common mean.
@triton.jit
def _moments_start(R: tl.constexpr, B: tl.constexpr, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.zeros((R, B), tl.int32), tl.zeros((R, B), tl.float64), tl.zeros((R, B), tl.float64), tl.zeros((R, B), C)


@triton.jit
def _moments_add(n, a, b, pivot, x, mask, r, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    v = x.to(C)
    pivot = tl.where(mask & (n == 0) & (tl.abs(v) < float("inf")), v, pivot)
    d = tl.where(mask, v - pivot, tl.full((), 0, C)).to(tl.float64)
    return n + mask.to(tl.int32), a + d, b + d * d, pivot


@triton.jit
def _moments_fold(n, a, b, pivot, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    count = n.to(tl.float64)
    mean = a / tl.where(n > 0, count, tl.full((), 1, tl.float64))
    rest = b - a * mean
    rest = tl.where(rest < 0, tl.full((), 0, tl.float64), rest)
    return _moments_join(count, mean + pivot.to(tl.float64), rest, n > 0, C, W, EDGE)


@triton.jit
def _moments_join(n, mean, squares, mask, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    none = tl.full((), 0, tl.float64)
    n = tl.where(mask, n, none)
    total = tl.sum(n, 1)
    middle = tl.sum(tl.where(mask, mean * n, none), 1) / total
    apart = mean - middle[:, None]
    return total, middle, tl.sum(tl.where(mask, squares + apart * apart * n, none), 1)


@triton.jit
def _moments_mean(n, mean, squares, C: tl.constexpr):
    return mean.to(C)


@triton.jit
def _moments_squares(n, mean, squares, C: tl.constexpr):
    return squares.to(C)


# The largest element and the sum of exponentials of the differences to it, in one pass. The largest is kept per row, so that an element costs
# one exponential.
@triton.jit
def _finite(m):
    return tl.where(tl.abs(m) == float("inf"), 0, m)


@triton.jit
def _exps_start(R: tl.constexpr, B: tl.constexpr, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return tl.full((R,), float("-inf"), C), tl.zeros((R, B), tl.float64)


@triton.jit
def _exps_add(m, s, x, mask, r, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    v = tl.where(mask, x.to(C), tl.full((), float("-inf"), C))
    most = _max(m, _row_max(v, float("-inf"), C))
    scale = _exp(_finite(m) - _finite(most)).to(tl.float64)
    s = tl.where(s != 0, s * scale[:, None], s)
    return most, s + _exp(v - _finite(most)[:, None]).to(tl.float64)


@triton.jit
def _exps_fold(m, s, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    return m, tl.sum(s, 1)


@triton.jit
def _exps_join(m, s, mask, C: tl.constexpr, W: tl.constexpr, EDGE: tl.constexpr):
    m = tl.where(mask, m, tl.full((), float("-inf"), C))
    most = _row_max(m, float("-inf"), C)
    scale = _exp(_finite(m) - _finite(most)[:, None]).to(tl.float64)
    return most, tl.sum(tl.where(mask & (s != 0), s * scale, tl.full((), 0, tl.float64)), 1)


@triton.jit
def _exps_most(m, s, C: tl.constexpr):
    return m.to(C)


@triton.jit
def _exps_sum(m, s, C: tl.constexpr):
    """The denominator of a softmax."""
    return tl.where(_finite(m) == m, s.to(m.dtype), tl.full((), float("nan"), m.dtype)).to(C)


@triton.jit
def _exps_log_sum(m, s, C: tl.constexpr):
    return tl.where(_finite(m) == m, m + _log(s.to(m.dtype)), m).to(C)


# States between launches are 64-bit words.
@triton.jit
def _to_word(v):
    if v.dtype.is_floating():
        return v.to(tl.float64).to(tl.int64, bitcast=True)
    else:
        return v.to(tl.int64)


@triton.jit
def _from_word(word, C: tl.constexpr):
    if C.is_floating():
        return word.to(tl.float64, bitcast=True).to(C)
    else:
        return word.to(C)

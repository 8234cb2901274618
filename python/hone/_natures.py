"""Writes a Python expression that draws a tensor of the same kind as an example.

A task has a function get_inputs that is called under secret seeds. This file writes that function from one example:
indices stay in the observed range, probabilities stay probabilities, a causal mask stays that mask. An example of
unknown kind is kept in a file beside the task. Nothing is drawn or judged here.
"""

from __future__ import annotations

import torch

_MOST_LOOKED_AT = 1 << 22  # number of elements to examine

# Functions that the expressions call. A task gets those that its inputs need.
HELPERS = {
    "_like_normal": '''
def _like_normal(shape, mean, std, dtype=torch.float32):
    """Normal numbers with the mean and the spread of the example."""
    wide = torch.complex64 if dtype.is_complex else torch.float32
    return (torch.randn(shape, dtype=wide) * std + mean).to(dtype)
''',
    "_like_uniform": '''
def _like_uniform(shape, low, high, dtype=torch.float32):
    """Uniform numbers in the range of the example."""
    return (torch.rand(shape) * (high - low) + low).to(dtype)
''',
    "_like_sparse": '''
def _like_sparse(shape, density, std, dtype=torch.float32):
    """Normal numbers, most of them zero as in the example."""
    return (torch.randn(shape) * std * (torch.rand(shape) < density)).to(dtype)
''',
    "_like_prefixes": '''
def _like_prefixes(shape, shortest, first, dtype=torch.bool):
    """A padding mask: every row begins with a run of `first` of random length. One row has no padding."""
    lengths = torch.randint(shortest, shape[-1] + 1, (*shape[:-1], 1))
    lengths.view(-1)[0] = shape[-1]
    inside = torch.arange(shape[-1]) < lengths
    return (inside if first else ~inside).to(dtype)
''',
    "_like_mask": '''
def _like_mask(shape, density, dtype=torch.bool):
    """A mask with as many ones as the example; the first element of every row is one."""
    made = torch.rand(shape) < density
    made[..., 0] = True
    return made.to(dtype)
''',
    "_like_definite": '''
def _like_definite(shape, size, dtype=torch.float32):
    """A symmetric positive definite matrix."""
    made = torch.randn(shape)
    made = made @ made.transpose(-1, -2) / shape[-1] + torch.eye(shape[-1])
    return (made * size).to(dtype)
''',
}


def _sorted_rows(values: torch.Tensor) -> bool:
    if values.dim() == 0 or values.shape[-1] < 4:
        return False
    step = values[..., 1:] - values[..., :-1]
    return bool((step >= 0).all())


def _shape(tensor: torch.Tensor) -> str:
    return repr(tuple(tensor.shape))


def _dtype(tensor: torch.Tensor) -> str:
    return repr(tensor.dtype)


def _number(value: float) -> str:
    return "%.6g" % value


def expression(tensor: torch.Tensor) -> "tuple[str, str] | None":
    """(expression, helper it calls or "") for a tensor like this one; None: keep the example itself."""
    if tensor.layout != torch.strided or tensor.numel() == 0 or tensor.numel() > 64 * _MOST_LOOKED_AT:
        return ("torch.zeros(%s, dtype=%s)" % (_shape(tensor), _dtype(tensor)), "") if tensor.numel() == 0 else None
    values = tensor.detach().cpu()
    found = _constant(values)
    if found is None and values.dtype == torch.bool:
        found = _boolean(values)
    elif found is None and values.is_complex():
        found = _complex(values)
    elif found is None and values.is_floating_point():
        found = _floating(values)
    elif found is None:
        found = _integer(values)
    return found


def _constant(values: torch.Tensor) -> "tuple[str, str] | None":
    first = values.flatten()[0]
    if not bool((values == first).all()) or not bool(torch.isfinite(first)):
        return None
    return "torch.full(%s, %r, dtype=%s)" % (_shape(values), first.item(), _dtype(values)), ""


def triangle(values: torch.Tensor) -> str:
    """The mask as a triangle of ones ("tril(0)", "triu(1)"), or None."""
    if values.dim() < 2 or min(values.shape[-2:]) < 2:
        return ""
    ones = torch.ones_like(values)
    for name, diagonal in (("tril", 0), ("tril", -1), ("triu", 0), ("triu", 1)):
        if torch.equal(values, getattr(ones, name)(diagonal)):
            return "%s(%d)" % (name, diagonal)
    return ""


def _prefixes(values: torch.Tensor) -> "tuple[str, str] | None":
    """A padding mask of zeros and ones in which each row is a run of one value followed by a run of the other."""
    if values.dim() == 0 or values.shape[-1] < 2:
        return None
    for first in (True, False):
        inside = (values != 0) if first else (values == 0)
        if bool((inside[..., 1:] <= inside[..., :-1]).all()) and bool(inside[..., 0].all()):
            shortest = max(1, int(inside.sum(-1).min()))
            return "_like_prefixes(%s, %d, %r, %s)" % (_shape(values), shortest, first, _dtype(values)), "_like_prefixes"
    return None


def _mask(values: torch.Tensor) -> "tuple[str, str] | None":
    shape = triangle(values)
    if shape:
        return "torch.ones(%s, dtype=%s).%s" % (_shape(values), _dtype(values), shape), ""
    prefixes = _prefixes(values)
    if prefixes is not None:
        return prefixes
    if values.dim() == 0:
        return None
    density = float((values != 0).double().mean())
    if not bool((values[..., 0] != 0).all()):
        return "(torch.rand(%s) < %s).to(%s)" % (_shape(values), _number(density), _dtype(values)), ""
    return "_like_mask(%s, %s, %s)" % (_shape(values), _number(density), _dtype(values)), "_like_mask"


def _boolean(values: torch.Tensor) -> "tuple[str, str] | None":
    return _mask(values)


def _counts(values: torch.Tensor) -> "tuple[str, str] | None":
    """0, 1, 2, … in every row: positions."""
    if values.dim() == 0:
        return None
    counted = torch.arange(values.shape[-1], dtype=torch.int64) + int(values.flatten()[0])
    if not bool((values.to(torch.int64) == counted).all()):
        return None
    start = int(values.flatten()[0])
    text = "torch.arange(%d, %d, dtype=%s)" % (start, start + values.shape[-1], _dtype(values))
    return (text if values.dim() == 1 else "%s.expand(%s).contiguous()" % (text, _shape(values))), ""


def _integer(values: torch.Tensor) -> "tuple[str, str] | None":
    found = _counts(values)
    if found is not None:
        return found
    low, high = int(values.min()), int(values.max())
    if low == 0 and high == 1 and values.numel() > 2:
        return _mask(values)
    drawn = "torch.randint(%d, %d, %s, dtype=%s)" % (low, high + 1, _shape(values), _dtype(values))
    if _sorted_rows(values):
        drawn += ".sort(-1)[0]"
    return drawn, ""


def _complex(values: torch.Tensor) -> "tuple[str, str] | None":
    if not bool(torch.isfinite(values).all()):
        return None
    std = float(values.to(torch.complex128).std()) if values.numel() > 1 else 1.0
    return "_like_normal(%s, 0, %s, %s)" % (_shape(values), _number(std or 1.0), _dtype(values)), "_like_normal"


def _floating(values: torch.Tensor) -> "tuple[str, str] | None":
    wide = values.double() if values.numel() <= _MOST_LOOKED_AT else values.flatten()[:_MOST_LOOKED_AT].double()
    if not bool(torch.isfinite(wide).all()):
        return None  # for example a mask of 0 and -inf
    if bool((wide == wide.round()).all()):
        low, high = float(wide.min()), float(wide.max())
        if (low, high) == (0.0, 1.0):
            return _mask(values)
        return None if _structured(values) else ("torch.randint(%d, %d, %s).to(%s)" % (low, high + 1, _shape(values), _dtype(values)), "")
    if values.numel() > _MOST_LOOKED_AT:
        return _spread(values, wide)
    return _matrix(values, wide) or _rows(values, wide) or _spread(values, wide)


def _structured(values: torch.Tensor) -> bool:
    """Integers with a structure: one-hot rows, an identity."""
    return values.dim() > 0 and (_sorted_rows(values) or bool((values.double().sum(-1) == 1).all()))


def _matrix(values: torch.Tensor, wide: torch.Tensor) -> "tuple[str, str] | None":
    if values.dim() < 2 or values.shape[-1] != values.shape[-2] or values.shape[-1] < 3:
        return None
    spread = _number(float(wide.std()) or 1.0)
    for part in ("tril", "triu"):
        if torch.equal(values, getattr(values, part)()):
            return "_like_normal(%s, 0, %s, %s).%s()" % (_shape(values), spread, _dtype(values), part), "_like_normal"
    if bool(((wide - wide.transpose(-1, -2)).abs() <= 1e-6 * float(wide.abs().max())).all()):
        if int(torch.linalg.cholesky_ex(wide)[1].abs().max()) == 0:
            size = float(torch.diagonal(wide, dim1=-2, dim2=-1).mean()) / 2
            return "_like_definite(%s, %s, %s)" % (_shape(values), _number(size), _dtype(values)), "_like_definite"
        return None
    return None


def _rows(values: torch.Tensor, wide: torch.Tensor) -> "tuple[str, str] | None":
    if values.dim() == 0 or values.shape[-1] < 2:
        return None
    exact = 1e-4 if values.dtype in (torch.float32, torch.float64) else 2e-2
    dtype = ".to(%s)" % _dtype(values)
    if bool((wide >= 0).all()) and bool(((wide.sum(-1) - 1).abs() < exact).all()):
        return "torch.softmax(2 * torch.randn(%s), -1)%s" % (_shape(values), dtype), ""
    if bool((wide <= 0).all()) and bool((torch.logsumexp(wide, -1).abs() < exact).all()):
        return "torch.log_softmax(2 * torch.randn(%s), -1)%s" % (_shape(values), dtype), ""
    if values.dim() > 1 and bool((((wide * wide).sum(-1) - 1).abs() < exact).all()):
        return "torch.nn.functional.normalize(torch.randn(%s), dim=-1)%s" % (_shape(values), dtype), ""
    if _sorted_rows(wide) and values.numel() > 7:
        low, high = float(wide.min()), float(wide.max())
        return "_like_uniform(%s, %s, %s, %s).sort(-1)[0]" % (_shape(values), _number(low), _number(high), _dtype(values)), "_like_uniform"
    return None


def _spread(values: torch.Tensor, wide: torch.Tensor) -> "tuple[str, str]":
    shape, dtype = _shape(values), _dtype(values)
    zeros = float((wide == 0).double().mean())
    if zeros > 0.2:
        std = float(wide[wide != 0].std()) if int((wide != 0).sum()) > 1 else 1.0
        return "_like_sparse(%s, %s, %s, %s)" % (shape, _number(1 - zeros), _number(std or 1.0), dtype), "_like_sparse"
    low, high = float(wide.min()), float(wide.max())
    mean, std = float(wide.mean()), float(wide.std()) if values.numel() > 1 else 0.0
    # A uniform distribution extends only to 1.73 standard deviations; a normal one with this many numbers extends
    # further.
    if values.numel() >= 16 and high - low < 3.7 * std or low >= 0 and high <= 1 and values.numel() > 1:
        return "_like_uniform(%s, %s, %s, %s)" % (shape, _number(low), _number(high), dtype), "_like_uniform"
    text = "_like_normal(%s, %s, %s, %s)" % (shape, _number(mean), _number(std or max(abs(mean), 1.0) / 4), dtype)
    return (text + ".abs()" if low >= 0 else text), "_like_normal"

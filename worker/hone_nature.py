"""Recognises the kind of a task's inputs, so that other values of the same kind can be drawn.

A task may promise more than a shape: a triangular or symmetric matrix, sorted values, probabilities, a mask. A candidate may rely on
that. This file examines what get_inputs draws, and draws new values that keep these properties. It decides nothing else.
"""

import math

import torch

_SAMPLE = 1 << 20  # number of elements to examine


def _square(tensor):
    return tensor.dim() >= 2 and tensor.shape[-1] == tensor.shape[-2] and tensor.shape[-1] > 1


def _is_probability(values):
    sums = values.sum(-1)
    return values.shape[-1] > 1 and bool((values >= 0).all()) and bool(((sums - 1).abs() < 1e-4).all())


def _is_sorted(values):
    if values.shape[-1] < 3:
        return False
    step = values[..., 1:] - values[..., :-1]
    return bool((step >= 0).all()) or bool((step <= 0).all())


def _sorted_by_chance(values):
    """Whether so few numbers were seen that they may be sorted by chance, with a probability of more than one in 20,000."""
    rows = values.numel() // values.shape[-1]
    return rows * math.lgamma(values.shape[-1] + 1) < 10


def _rows(tensor):
    """The first part of a tensor, as whole slices along its first dimension."""
    value = tensor.detach()
    if value.dim() > 1 and value.numel() > _SAMPLE:
        value = value[: max(1, _SAMPLE // max(1, value[0].numel()))]
    return value


def is_constant(tensor):
    """Whether all elements are equal: a mask that masks nothing, zero states, lengths that are all the maximum, weights of one."""
    values = tensor.detach().flatten()
    return values.numel() > 0 and bool((values == values[0]).all())


def is_telling(tensor):
    """Whether constant inputs with these values could be processed before the calls, such as a matrix that can be factored once. False
    for constants, masks and integers."""
    values = tensor.detach().flatten()[:_SAMPLE]
    if values.numel() < 2 or not (tensor.is_floating_point() or tensor.is_complex()) or is_constant(tensor):
        return False
    return tensor.is_complex() or not bool((values.nan_to_num() == values.nan_to_num().round()).all())


def nature(tensor):
    """The kind of a tensor, by name. "kept": its other possible values are unknown. "free": no structure was found."""
    if tensor.numel() == 0:
        return "kept"
    if tensor.is_complex():
        return _complex_nature(tensor)
    if not tensor.is_floating_point():
        return "constant" if is_constant(tensor) else "kept"
    sample = _rows(tensor).flatten()[:_SAMPLE].double()
    if not bool(torch.isfinite(sample).all()):
        return "kept"
    if bool((sample == sample[0]).all()):
        return "constant"
    if bool((sample == sample.round()).all()):
        return "kept"  # labels, masks, one-hot rows, counts
    values = _rows(tensor).double()
    if _square(tensor):
        matrix = values[:, : values.shape[0]] if values.dim() == 2 else values if values.shape[-1] <= 2048 else values[:1]
        if bool((matrix.tril(-1) == 0).all()):
            return "diagonal" if bool((matrix.triu(1) == 0).all()) else "upper"
        if bool((matrix.triu(1) == 0).all()):
            return "lower"
        size = float(matrix.abs().max())
        if bool(((matrix - matrix.transpose(-1, -2)).abs() <= 1e-6 * size).all()):
            return "definite" if _is_definite(matrix) else "symmetric"
    if _is_probability(values):
        return "probabilities"
    if values.shape[-1:] and values.shape[-1] > 1:
        if bool((torch.logsumexp(values, -1).abs() < 1e-4).all()):
            return "log-probabilities"
        if values.dim() > 1 and bool((((values * values).sum(-1) - 1).abs() < 1e-4).all()):
            return "unit"
        if _is_sorted(values):
            return "perhaps sorted" if _sorted_by_chance(values) else "sorted"
    if float((sample == 0).double().mean()) > 0.2:
        return "sparse"
    return "free"


def _complex_nature(tensor):
    if not _square(tensor) or not bool(torch.isfinite(tensor).all()):
        return "free"
    matrix = _rows(tensor).to(torch.complex128) if tensor.dim() > 2 else tensor.detach().to(torch.complex128)
    size = float(matrix.abs().max())
    if not bool(((matrix - matrix.mH).abs() <= 1e-6 * size).all()):
        return "free"
    return "definite" if _is_definite(matrix) else "symmetric"


def common_nature(tensors):
    """The kind of an input, from several draws. A property of one draw may be due to chance."""
    kinds = [nature(tensor) for tensor in tensors]
    if all(kind in ("sorted", "perhaps sorted") for kind in kinds):
        if all(torch.equal(tensor, tensors[0]) for tensor in tensors):
            return "sorted"  # not drawn at all, so its order is intended
        seen = torch.stack([tensor.detach().flatten(0, -2) if tensor.dim() > 1 else tensor.detach()[None] for tensor in tensors]).double()
        return "free" if len(tensors) < 2 or not _is_sorted(seen) or _sorted_by_chance(seen) else "sorted"
    kinds = ["free" if kind == "perhaps sorted" else kind for kind in kinds]
    if len(set(kinds)) == 1:
        return kinds[0]
    return "kept" if "kept" in kinds or "constant" in kinds else "free"


def _is_definite(matrix):
    if matrix.shape[-1] > 512:  # too expensive to factor; such matrices usually have a dominant diagonal
        diagonal = torch.diagonal(matrix, dim1=-2, dim2=-1).real if matrix.is_complex() else torch.diagonal(matrix, dim1=-2, dim2=-1)
        return bool((diagonal >= matrix.abs().amax(-1) * 0.999).all())
    return int(torch.linalg.cholesky_ex(matrix)[1].abs().max()) == 0


def draw(tensor, generator, how="wide", whole=True, kind=None, fixed=False):
    """Draws another tensor of the same kind. `how`: "wide" draws from N(0,1), "positive" keeps the sign and the range [0, 1] if the
    task's own draw has them, "constants" changes only constants, "own" changes nothing. `whole`: also change integers and masks that
    never change. `kind`: the kind, if it is known. `fixed`: get_inputs makes this tensor the same under every seed."""
    kind = kind or nature(tensor)
    if how == "own":
        return tensor
    if fixed and whole and kind != "constant":
        moved = move_fixed(tensor, generator)
        if moved is not None:
            return moved
    if kind == "kept":
        return tensor
    if kind == "constant":
        if tensor.is_floating_point():
            return _moved_constant(tensor, generator)
        return move_whole_constant(tensor, generator) if whole else tensor
    if how == "constants":
        return tensor
    generator, place = beside(tensor, generator)
    made = torch.randn(tensor.shape, generator=generator, device=place, dtype=torch.complex64 if tensor.is_complex() else torch.float32)
    if how == "positive" and kind == "free" and not tensor.is_complex():
        low, high = (float(v) for v in torch.aminmax(_rows(tensor).float()))
        if low >= 0:
            made = torch.rand(tensor.shape, generator=generator, device=place) if high <= 1 else made.abs()
    if kind == "upper":
        made = made.triu()
    elif kind == "lower":
        made = made.tril()
    elif kind == "diagonal":
        made = torch.diag_embed(torch.diagonal(made, dim1=-2, dim2=-1))
    elif kind == "symmetric":
        made = (made + made.mH) * 0.5 ** 0.5
    elif kind == "definite":
        made = made @ made.mH / made.shape[-1]
        made = made + torch.eye(made.shape[-1], device=made.device)
    elif kind == "probabilities":
        made = torch.softmax(2 * made, -1)
    elif kind == "log-probabilities":
        made = torch.log_softmax(2 * made, -1)
    elif kind == "unit":
        made = made / made.norm(dim=-1, keepdim=True)
    elif kind == "sorted":
        rising = bool(_rows(tensor)[..., -1].flatten()[0] >= _rows(tensor)[..., 0].flatten()[0])
        made = made.sort(-1, descending=not rising)[0]
    elif kind == "sparse":
        made = made * (tensor != 0)
    return _like(made, tensor)


def beside(tensor, generator):
    """A generator on the tensor's device, because drawing a gigabyte on one host core takes too long."""
    if tensor.device.type != "cuda":
        return generator, tensor.device
    seed = int(torch.randint(0, 1 << 40, (1,), generator=generator))
    return torch.Generator(device=tensor.device).manual_seed(seed), tensor.device


def _moved_constant(tensor, generator):
    """Changes zero states and the like. Ones may be a mask, so they become zeros and ones."""
    value = float(tensor.detach().flatten()[0])
    generator, place = beside(tensor, generator)
    if tensor.numel() < 2:
        made = torch.full(tensor.shape, value * 0.75 if value else 0.5)
    elif value in (1.0, -1.0):
        made = torch.randint(0, 2, tensor.shape, generator=generator, device=place).float() * value
        made.view(-1)[-1] = 0.0 if bool((made == value).all()) else made.view(-1)[-1]
    else:
        made = value + 0.5 * max(abs(value), 1.0) * torch.randn(tensor.shape, generator=generator, device=place)
    return _like(made, tensor)


def move_whole_constant(tensor, generator):
    """Changes some elements of a constant mask or of constant integers. The first element of every row stays, so that no row is masked
    entirely and one length is still the longest. Integers decrease towards zero, which keeps indices and lengths in range, and never
    increase along a row."""
    value = tensor.detach().flatten()[:1]
    generator, place = beside(tensor, generator)
    if tensor.dtype == torch.bool:
        made = (value ^ (torch.rand(tensor.shape, generator=generator, device=place) < 0.3)).reshape(tensor.shape)
    else:
        number = int(value)
        low, high = (number // 2 or 1, number) if number > 1 else (0, 1) if number in (0, 1) else (number, 0)
        made = torch.randint(low, high + 1, tensor.shape, generator=generator, device=place)
        if tensor.dim() > 0:
            made = made.sort(-1, descending=number > 0)[0]
    if tensor.numel() > 1:
        made[..., 0] = value
        if bool((made == value).all()):
            made.view(-1)[-1] = ~value if tensor.dtype == torch.bool else low if number > 0 else high
    elif bool((made == value).all()):
        made = ~made if tensor.dtype == torch.bool else torch.full_like(made, low if number > 0 else high)
    return _like(made, tensor)


def move_fixed(tensor, generator):
    """Other values for a tensor that get_inputs never changes and that looks fixed by design: masks, indices, an identity matrix,
    positions. None for tensors that `draw` can draw. A mask keeps the first element of every row, so that no row is masked entirely.
    Indices stay in their range. Sorted values stay sorted and keep their ends."""
    if tensor.is_complex() or tensor.numel() < 2:
        return None
    values = tensor.detach()
    generator, place = beside(tensor, generator)
    if tensor.is_floating_point():
        finite = values[torch.isfinite(values)]
        if finite.numel() == 0 or not bool((finite == finite.round()).all()):
            return None
        if _square(values) and values.shape[-1] > 2 and bool((values == torch.eye(values.shape[-1], device=place, dtype=values.dtype)).all()):
            noise = torch.randn(values.shape, generator=generator, device=place)
            return _like(values.float() + 0.5 * noise / values.shape[-1] ** 0.5, tensor)
    levels = torch.unique(values)
    in_order = values.dim() > 0 and values.shape[-1] > 2 and tensor.dtype != torch.bool and _is_sorted(values.double())
    if levels.numel() == 2 and not (in_order and values.numel() == values.shape[-1]):
        other = torch.where(values == levels[0], levels[1], levels[0])
        made = torch.where(torch.rand(values.shape, generator=generator, device=place) < 0.3, other, values)
        if made.dim() > 0 and made.shape[-1] > 1:
            made[..., 0] = values[..., 0]
        return _like(made, tensor)
    if tensor.is_floating_point() and not bool(torch.isfinite(values).all()):
        return None
    if in_order:
        inner = torch.rand(values.shape, generator=generator, device=place, dtype=torch.float64)
        low, high = values.double().amin(-1, keepdim=True), values.double().amax(-1, keepdim=True)
        rising = bool(values.double()[..., -1].flatten()[0] >= values.double()[..., 0].flatten()[0])
        made = (low + inner * (high - low)).sort(-1, descending=not rising)[0]
        made = made if tensor.is_floating_point() else made.round()
        made[..., 0], made[..., -1] = values[..., 0].double(), values[..., -1].double()
        if torch.equal(made, values.double()):
            made[..., 1:-1] = made[..., :1]
        return _like(made, tensor)
    width = values.shape[-1] if values.dim() > 0 and values.shape[-1] > 1 else values.numel()
    order = torch.rand((values.numel() // width, width), generator=generator, device=place).argsort(-1)
    return _like(values.reshape(-1, width).gather(1, order).reshape(values.shape), tensor)


def mixed(tensor, strength=1000.0, rows=0):
    """Rows of several regimes in one tensor: as drawn, large, small, and large and held, so that they do not change along the next
    dimension. A file that chooses its method by one row is wrong about the others. `rows`: the dimension that counts rows."""
    if not _free_floats(tensor) or tensor.dim() < 2:
        return tensor
    made = tensor.detach().clone(memory_format=torch.contiguous_format)
    view = made.transpose(0, rows) if made.dim() > rows + 1 else made
    if view.shape[0] < 2:
        return tensor
    for row, factor in enumerate((1.0, strength, 1.0 / strength, strength ** 0.5)):
        part = view[row::4]
        if row == 3 and view.dim() > 2:
            part[:, 2:] = part[:, 2:3].clone()
        part *= factor
    return _like(made, tensor)


def _like(made, tensor):
    made = made.to(device=tensor.device, dtype=tensor.dtype)
    if made.stride() != tensor.stride() and made.numel() > 1:
        try:
            made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device).copy_(made)
        except RuntimeError:  # overlapping memory: an expanded tensor
            pass
    return made.requires_grad_() if tensor.requires_grad and tensor.is_leaf else made


def _free_floats(tensor):
    return tensor.is_floating_point() and tensor.numel() > 1 and nature(tensor) in ("free", "perhaps sorted")


def shift(tensor):
    return tensor + 100 if _free_floats(tensor) else tensor


def scale(tensor):
    return tensor * 1000 if _free_floats(tensor) else tensor


def shrink(tensor):
    return tensor / 1000 if _free_floats(tensor) else tensor


def enlarge(tensor):
    return tensor * 1e6 if _free_floats(tensor) else tensor


def with_zeros(tensor):
    """Sets a tenth of the numbers and one whole row to zero, to test guards against division by zero and log(0). Rows of probabilities
    keep their sum."""
    kind = nature(tensor)
    if not tensor.is_floating_point() or tensor.numel() < 2 or kind not in ("free", "perhaps sorted", "probabilities"):
        return tensor
    made = tensor.detach().clone(memory_format=torch.contiguous_format)
    made.view(-1)[::10] = 0
    if kind == "probabilities":
        made = made / made.sum(-1, keepdim=True)
    elif made.dim() > 1:
        made[made.shape[0] // 2] = 0
    return _like(made, tensor)


def with_nan(tensor):
    return _with_special(tensor, (math.nan,))


def with_infinity(tensor):
    return _with_special(tensor, (math.inf, -math.inf))


def _with_special(tensor, values):
    if not _free_floats(tensor):
        return tensor
    made = tensor.detach().clone(memory_format=torch.contiguous_format)
    for at, value in enumerate(values):
        made.view(-1)[3 + 50 * at:: 97] = value
    return _like(made, tensor)


def near(tensor, generator):
    """Changes the numbers by a few units in the last place, so that results are rounded differently. Zeros stay. In a tensor with a
    structure (symmetric, sorted, rows of probabilities) all numbers change by the same factor, which keeps the structure."""
    if not tensor.is_floating_point() and not tensor.is_complex():
        return tensor
    kind = nature(tensor)
    if kind in ("kept", "constant"):
        return tensor
    generator, place = beside(tensor, generator)
    shape = tensor.shape if kind in ("free", "perhaps sorted") else (1,) * tensor.dim()
    steps = torch.randint(-8, 9, shape, generator=generator, device=place).double()
    wide = tensor.detach().to(torch.complex128 if tensor.is_complex() else torch.float64)
    return _like(wide * (1 + steps * torch.finfo(tensor.dtype).eps), tensor)


def permute_memory(tensor):
    """The same values in another memory order: not contiguous, but dense."""
    if tensor.dim() < 2 or tensor.numel() < 2 or not tensor.is_contiguous():
        return tensor
    wide = [d for d in range(tensor.dim()) if tensor.shape[d] > 1]
    if len(wide) < 2:
        return tensor
    first, last = wide[0], wide[-1]
    return tensor.transpose(first, last).contiguous().transpose(first, last)


def resize_batch(inputs, outputs, more):
    """The inputs with another first dimension, if all share it and the outputs follow it; otherwise None."""
    tensors = [value for value in inputs if isinstance(value, torch.Tensor) and value.dim() > 0]
    if not tensors or not outputs:
        return None
    size = tensors[0].shape[0]
    if size < 2 or any(out.dim() == 0 or out.shape[0] != size for out in outputs):
        return None
    part = size // 2 + (1 if size > 2 and size // 2 % 2 == 0 else 0)

    def resize(value):
        if not isinstance(value, torch.Tensor) or value.dim() == 0 or value.shape[0] != size:
            return value
        return torch.cat([value, value[:part].flip(0)]) if more else value[:part].clone()

    return [resize(value) for value in inputs]

"""The nature of a task's inputs: what a tensor is, so that other values of the same kind can be drawn.

A task may promise more than a shape: a triangular or symmetric matrix, sorted values, probabilities, a mask. A candidate may rely on
that. This file looks at what get_inputs draws and draws new values that keep it. It decides nothing else.
"""

import torch

_SAMPLE = 1 << 20  # elements that are looked at


def _square(tensor):
    return tensor.dim() >= 2 and tensor.shape[-1] == tensor.shape[-2] and tensor.shape[-1] > 1


def _is_probability(values):
    sums = values.sum(-1)
    return values.shape[-1] > 1 and bool((values >= 0).all()) and bool(((sums - 1).abs() < 1e-4).all())


def _is_sorted(values):
    if values.shape[-1] < 8:
        return False
    step = values[..., 1:] - values[..., :-1]
    return bool((step >= 0).all()) or bool((step <= 0).all())


def _rows(tensor):
    """The leading part of a tensor, as whole slices along its first dimension."""
    value = tensor.detach()
    if value.dim() > 1 and value.numel() > _SAMPLE:
        value = value[: max(1, _SAMPLE // max(1, value[0].numel()))]
    return value


def nature(tensor):
    """The kind of a tensor, by name. "kept": nothing is known of what else it could be. "free": no structure was seen."""
    if tensor.is_complex():
        return "free"
    if not tensor.is_floating_point() or tensor.numel() == 0:
        return "kept"
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
            return "sorted"
    if float((sample == 0).double().mean()) > 0.2:
        return "sparse"
    return "free"


def _is_definite(matrix):
    if matrix.shape[-1] > 512:  # too dear to factor; a dominant diagonal is what such matrices have
        diagonal = torch.diagonal(matrix, dim1=-2, dim2=-1)
        return bool((diagonal >= matrix.abs().amax(-1) * 0.999).all())
    return int(torch.linalg.cholesky_ex(matrix)[1].abs().max()) == 0


def draw(tensor, generator, how="wide"):
    """Another tensor of the same nature. `how`: "wide" draws from N(0,1), "positive" keeps the sign and the range [0, 1] where the
    task's own draw has them, "own" changes nothing but constants."""
    kind = nature(tensor)
    if kind == "kept":
        return tensor
    if kind == "constant":
        return _moved_constant(tensor, generator) if how != "own" else tensor
    if how == "own":
        return tensor
    generator, place = _beside(tensor, generator)
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
        made = (made + made.transpose(-1, -2)) * 0.5 ** 0.5
    elif kind == "definite":
        made = made @ made.transpose(-1, -2) / made.shape[-1]
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


def _beside(tensor, generator):
    """A generator on the tensor's device: a gigabyte is not drawn by one core of the host."""
    if tensor.device.type != "cuda":
        return generator, tensor.device
    seed = int(torch.randint(0, 1 << 40, (1,), generator=generator))
    return torch.Generator(device=tensor.device).manual_seed(seed), tensor.device


def _moved_constant(tensor, generator):
    """Zero states and the like. Ones may be a mask, so they become zeros and ones."""
    value = float(tensor.detach().flatten()[0])
    if tensor.numel() < 2:
        made = torch.full(tensor.shape, value * 0.75 if value else 0.5)
    elif value in (1.0, -1.0):
        made = torch.randint(0, 2, tensor.shape, generator=generator).float() * value
    else:
        made = value + 0.5 * max(abs(value), 1.0) * torch.randn(tensor.shape, generator=generator)
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
    return tensor.is_floating_point() and tensor.numel() > 1 and nature(tensor) == "free"


def shift(tensor):
    return tensor + 100 if _free_floats(tensor) else tensor


def scale(tensor):
    return tensor * 1000 if _free_floats(tensor) else tensor


def permute_memory(tensor):
    """The same values in another order of memory: not contiguous, but dense."""
    if tensor.dim() < 2 or tensor.numel() < 2 or not tensor.is_contiguous():
        return tensor
    wide = [d for d in range(tensor.dim()) if tensor.shape[d] > 1]
    if len(wide) < 2:
        return tensor
    first, last = wide[0], wide[-1]
    return tensor.transpose(first, last).contiguous().transpose(first, last)


def resize_batch(inputs, outputs, more):
    """The inputs with another first dimension, where all share it and the outputs follow it; None where that is not so."""
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

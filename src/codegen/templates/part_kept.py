import ctypes
import warnings

import torch


class HoneKept:
    """What one instance has prepared. A copy of the instance starts empty and prepares its own."""

    def __init__(self):
        self.prepared = {}
        self.watched = None
        self.failed = False

    def __deepcopy__(self, memo):
        return HoneKept()

    def __reduce__(self):
        return (HoneKept, ())


def hone_version(tensor):
    try:
        return tensor._version
    except RuntimeError:  # made in inference mode: it has none
        return None


def hone_samples(tensor):
    """The addresses of a few bytes of a tensor in host memory. A write through `.data` or NumPy changes no version, but may change these bytes."""
    if tensor.device.type != "cpu" or tensor.layout != torch.strided or not tensor.is_contiguous() or tensor.numel() == 0:
        return []
    size = tensor.numel() * tensor.element_size()
    width = min(size, 8)
    return [(ctypes.c_char * width).from_address(tensor.data_ptr() + (size - width) * part // 3) for part in range(4)]


def hone_watch(model):
    """Every tensor of the module with its table, address and version, and the present samples of all tensors."""
    watched = [
        (table, name, tensor, tensor.data_ptr(), hone_version(tensor))
        for module in model.modules()
        for table in (module._parameters, module._buffers, vars(module))
        for name, tensor in table.items()
        if isinstance(tensor, torch.Tensor)
    ]
    samples = [sample for _, _, tensor, _, _ in watched for sample in hone_samples(tensor)]
    return watched, samples, [sample.raw for sample in samples]


def hone_unchanged(kept):
    """Whether no tensor was replaced, moved or written since. A write that changes no version is noticed only if it changes a sample."""
    watched, samples, values = kept
    for table, name, tensor, address, version in watched:
        if table.get(name) is not tensor or tensor.data_ptr() != address or hone_version(tensor) != version:
            return False
    return [sample.raw for sample in samples] == values


def hone_signature(inputs):
    """Shapes, dtypes and plain values of a call; None if an input is anything else."""
    parts = []
    for value in inputs:
        if type(value) is torch.Tensor:
            parts.append((value.shape, value.dtype, value.device, value.stride()))
        elif value is None or isinstance(value, (bool, int, float, str)):
            parts.append((type(value), value))
        else:
            return None
    return tuple(parts)


hone_said = set()


def hone_warn_once(reason):
    """Says why PyTorch runs the module as it is, once per reason."""
    if reason not in hone_said:
        hone_said.add(reason)
        warnings.warn("Hone: PyTorch runs the module as it is: %s" % reason, RuntimeWarning, stacklevel=5)


def hone_autocast(device):
    try:
        return torch.is_autocast_enabled(device)
    except TypeError:  # torch before 2.4
        return torch.is_autocast_cpu_enabled() if device == "cpu" else torch.is_autocast_enabled()


def hone_why_plain(inputs):
    """Why prepared calls cannot take this call, or None."""
    if torch.is_grad_enabled():
        return "gradients are needed (run under torch.no_grad() for the faster form)"
    for value in inputs:
        if isinstance(value, torch.Tensor) and value.device.type in ("cpu", "cuda") and hone_autocast(value.device.type):
            return "autocast is on"
    return None

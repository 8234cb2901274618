import warnings

import torch


class HoneKept:
    """What one instance has prepared. A copy of the instance starts with nothing and prepares its own."""

    def __init__(self):
        self.prepared = {}
        self.watched = None
        self.failed = False

    def __deepcopy__(self, memo):
        return HoneKept()

    def __reduce__(self):
        return (HoneKept, ())


def hone_watch(model):
    """Every tensor the module holds, with the table it lives in, its address and its version."""
    return [
        (table, name, tensor, tensor.data_ptr(), tensor._version)
        for module in model.modules()
        for table in (module._parameters, module._buffers, vars(module))
        for name, tensor in table.items()
        if isinstance(tensor, torch.Tensor)
    ]


def hone_unchanged(watched):
    """Whether none of them was replaced, moved or written since. What writes through `.data` is not seen."""
    for table, name, tensor, address, version in watched:
        if table.get(name) is not tensor or tensor.data_ptr() != address or tensor._version != version:
            return False
    return True


def hone_signature(inputs):
    """Shapes, dtypes and plain values of a call; None when there is something else among the inputs."""
    parts = []
    for value in inputs:
        if type(value) is torch.Tensor:
            parts.append((value.shape, value.dtype, value.device, value.stride()))
        elif value is None or isinstance(value, (bool, int, float, str)):
            parts.append((type(value), value))
        else:
            return None
    return tuple(parts)

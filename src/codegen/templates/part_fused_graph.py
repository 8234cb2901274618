# Runs a task's graph. Hone's own kernels compute a part of it, and ATen's operators the rest. All kernels are one source, which is compiled on first
# use. They are for the shapes, dtypes and strides of the task. A call with other ones, or with gradients, runs the original module.
import base64
import operator

_KERNEL_NAME = "fused kernels"
_STRIDED = torch.strided


def _misaligned(tensor, align):
    return tensor.data_ptr() % align


def _as_expected(tensor, shape, strides, align):
    """The tensor in the layout that the kernel was written for: copied if its layout differs."""
    have, copy = tensor.stride(), _misaligned(tensor, align)
    if have == strides and not copy:
        return tensor
    if tuple(tensor.shape) != shape:
        raise _Unsupported("an operator answered with another shape than it did when the file was written")
    if not copy and all(size == 1 or one == other for size, one, other in zip(shape, have, strides)):
        return tensor
    if 0 in strides:
        raise _Unsupported("an operator answered with other strides than it did when the file was written")
    return torch.empty_strided(shape, strides, dtype=tensor.dtype, device=tensor.device).copy_(tensor)


class _AtenCall:
    """An operator that is called with all its arguments in the order of its schema."""

    def __init__(self, target):
        self.function = operator.attrgetter(target)(torch.ops)
        arguments = self.function._schema.arguments
        self.positional = sum(not a.kwarg_only for a in arguments)
        self.names = [a.name for a in arguments if a.kwarg_only]

    def __call__(self, *values):
        return self.function(*values[: self.positional], **dict(zip(self.names, values[self.positional :])))

    def one(self, *values):
        answer = self(*values)
        return answer[0] if isinstance(answer, (tuple, list)) else answer


class _HoneCall:
    """An operator of Hone that replaces one of ATen's."""

    def __init__(self, function):
        self.one = function


class _Constant:
    """A tensor that forward makes from numbers. It is made once per device, whichever instance asks first. `data`: the numbers, or their bytes in
    base64 as elements of `packed`."""

    def __init__(self, shape, dtype, data, packed=None):
        self.shape, self.dtype, self.data, self.packed = shape, dtype, data, packed
        self.made = {}

    def __call__(self, device):
        if device not in self.made:
            if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
                raise _Unsupported("a CUDA graph is being captured: call the module once before")
            with torch.inference_mode(False):  # calls outside of inference mode will read it too
                if self.packed is None:
                    numbers = torch.tensor(self.data, dtype=torch.float64, device="cpu")
                else:
                    numbers = torch.frombuffer(bytearray(base64.b64decode(self.data)), dtype=self.packed).clone()  # aligned for kernels
                self.made[device] = numbers.to(self.dtype).reshape(self.shape).to(device)
        return self.made[device]


def _check_input(value, shape, dtype):
    if type(value) not in _PLAIN:
        raise _Unsupported("an input is not a plain tensor")
    if value.shape != shape or value.dtype is not dtype:
        raise _Unsupported("they are written for the task's own shapes and dtypes, here %s %s" % (dtype, list(shape)))
    if value.device.type != _KERNEL_DEVICE:
        raise _Unsupported("an input is not on the %s" % _KERNEL_DEVICE.upper())
    return value


def _check_call(tensors):
    """The device of a call. Raises if the kernels cannot compute the call."""
    device = tensors[0].get_device()
    for t in tensors:
        if type(t) not in _PLAIN or t.get_device() != device or t.layout is not _STRIDED:
            raise _Unsupported("the tensors are not all plain ones on one device")
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        raise _Unsupported("gradients are needed (run under torch.no_grad() for the kernels)")
    if torch._C._get_tracing_state() is not None:
        raise _Unsupported("the model is being traced")
    if _autocast(_KERNEL_DEVICE):
        raise _Unsupported("autocast is on")
    return device

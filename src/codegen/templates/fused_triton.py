# Fused kernels in Triton: arithmetic as in PyTorch, with libdevice's functions, and reductions in a fixed order, so that answers
# repeat bit by bit.
import triton
import triton.language as tl
from triton.language.extra import libdevice

_KERNEL_DEVICE = "cuda"
_captured = set()  # memory that captured graphs read; it is never freed


def _options():
    """Makes libdevice keep denormal numbers, as PyTorch's kernels do, if this version of Triton has the option."""
    try:
        from triton.backends.nvidia.compiler import CUDAOptions
    except ImportError:
        return {}
    return {"enable_reflect_ftz": False} if "enable_reflect_ftz" in CUDAOptions.__dataclass_fields__ else {}


_OPTIONS = _options()


class _FusedKernel:
    """One kernel: what it reads (strides, alignment), what it writes (shape, dtype), its scratch memory and its launches."""

    def __init__(self, inputs, outputs, scratch, order, launches):
        self.inputs, self.outputs, self.scratch, self.order, self.launches = inputs, outputs, scratch, order, launches
        self.ran = False

    def __call__(self, device, stream, *tensors):
        if not self.ran and torch.cuda.is_current_stream_capturing():
            raise _Unsupported("a CUDA graph is being captured; call the module once before")
        where = tensors[0].device
        held = [_as_expected(tensor, *expected) for tensor, expected in zip(tensors, self.inputs)]
        made = [torch.empty(shape, dtype=dtype, device=where) for shape, dtype in self.outputs]
        held += made
        held += [torch.empty(size // 8, dtype=torch.int64, device=where) for size in self.scratch]
        arguments = [held[i] for i in self.order]
        try:
            for launch in self.launches:
                launch(*arguments)
        except Exception as error:  # the first call compiles: no compiler for the launcher, no room for a kernel, another Triton
            if self.ran:
                raise
            raise _Unsupported("Triton refuses a kernel: %s: %s" % (type(error).__name__, str(error)[:300])) from None
        self.ran = True
        return made


class _Fixed(_Entry):
    """The values computed from one set of weights."""

    def __init__(self, weights, device, make):
        super().__init__(weights)
        with torch.no_grad(), torch.cuda.device(device):
            self.values = make(device, *weights)
            torch.cuda.current_stream(device).synchronize()  # other streams will read it


def _before_fixing(device, drops):
    """Refuses to compute during a capture. Waits for the device if memory is freed, because any stream may still read it."""
    if torch.cuda.is_current_stream_capturing():
        raise _Unsupported("a CUDA graph is being captured; call the module once before, and again after its weights changed")
    if drops:
        torch.cuda.synchronize(device)


def _fixed_values(model, device, make, weights):
    """Computed once, and again when a weight was replaced, moved or written to. A write through `.data` is not noticed."""
    signature = (device, *_signature(weights))
    entry = _entry_of(_entries, model, weights, signature, lambda given: _Fixed(given, device, make), lambda old: _before_fixing(device, old is not None))
    if torch.cuda.is_current_stream_capturing():
        _captured.add(entry)
    return entry.values


def _enter(device):
    return None  # Triton launches on the current stream


def _run_on(device, steps, *values):
    if device != torch.cuda.current_device():
        with torch.cuda.device(device), torch.no_grad():
            return steps(device, *values)
    with torch.no_grad():
        return steps(device, *values)

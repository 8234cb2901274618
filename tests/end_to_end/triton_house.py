"""Shared by tests of fused kernels in Triton: files of triton/fused_graph run in Triton's interpreter on the CPU, or pass through the real
compiler for sm_90 without a GPU."""

import importlib.util
import os
import pathlib
import sys
import types
import warnings

import torch

import fused_house

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_SAME = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "sinh", "cosh", "sin", "cos", "tan", "asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2", "erf", "erfc", "pow",
         "fmod", "trunc", "floor", "ceil")  # fmt: skip


def _stand_in(function):
    """A libdevice function for the interpreter, which has none: torch's with the same name."""
    import numpy
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    def call(*arguments):
        dtype = arguments[0].dtype
        shape = numpy.broadcast_shapes(*[tuple(a.shape) for a in arguments])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = function(*[torch.from_numpy(numpy.ascontiguousarray(a.handle.data)) for a in arguments]).numpy()
        return tl.core.tensor(TensorHandle(values, dtype), tl.block_type(dtype, list(shape)) if shape else dtype)

    return call


class _Patched:
    """Triton's interpreter replaces all functions of the language at every call of a kernel or one of its functions, which takes a third of the
    time. Here a launch does it once, for both modules that its functions use, and restores them at its end."""

    def __init__(self, interpreter, language):
        self.patch, self.scope = interpreter._patch_lang, None
        self.seen = types.SimpleNamespace(__globals__={"language": language, "core": language.core})

    def __call__(self, function):
        self.scope = self.scope or self.patch(self.seen)
        return self

    def restore(self):
        self.scope, scope = None, self.scope
        scope.restore()


def _spare_the_types():
    """For every operation of every program the interpreter creates the types of its values again, and its overflow check repeats each integer
    sum as int64 for an assertion that is off without `debug`. This takes three fifths of the time. Here a type is created once."""
    import numpy
    import triton.language.core as core
    import triton.runtime.interpreter as interpreter

    make_block, numpy_type = core.block_type.__init__, interpreter._get_np_dtype
    blocks, shapes, numpy_types = {}, {}, {}

    def block(self, element_ty, shape):
        key = (element_ty.name, *[size.value if isinstance(size, core.constexpr) else size for size in shape])
        if key not in blocks:
            make_block(self, element_ty, shape)
            blocks[key] = dict(vars(self))
        vars(self).update(blocks[key])

    def tensor(self, handle, type):
        sizes = tuple(type.shape.values) if type.is_block() else ()
        if sizes not in shapes:
            shapes[sizes] = core.constexpr(int(numpy.prod(sizes))), core.tuple([core.constexpr(size) for size in sizes])
        self.handle, self.type, self.dtype = handle, type, type.scalar
        self.numel, self.shape = shapes[sizes]

    def of_numpy(type):
        name = type.scalar.name
        if name not in numpy_types:
            numpy_types[name] = numpy_type(type)
        return numpy_types[name]

    core.block_type.__init__, core.tensor.__init__, interpreter._get_np_dtype = block, tensor, of_numpy
    options = interpreter.interpreter_builder.options
    if not options.debug:
        object.__setattr__(options, "sanitize_overflow", False)


def mend_interpreter():
    """Triton 3.6 converts arrays of one element to numbers in a way that NumPy 2.4 rejects, and its interpreter truncates to bfloat16 where the
    compiler rounds."""
    import numpy
    import triton.language as tl
    import triton.runtime.interpreter as interpreter

    numpy.seterr(all="ignore")
    patch_tensor, convert = interpreter._patch_lang_tensor, interpreter._convert_float

    def round_to(data, source, target, mode):
        if source != tl.float32 or target != tl.bfloat16:
            return convert(data, source, target, mode)
        return torch.from_numpy(numpy.ascontiguousarray(data)).bfloat16().view(torch.int16).numpy().view(numpy.uint16)

    def patch(tensor, scope):
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor, interpreter._convert_float = patch, round_to
    interpreter._patch_lang = _Patched(interpreter, tl)
    _spare_the_types()


def load(text, folder):
    """A candidate of triton/fused_graph whose kernels run in the interpreter. TRITON_INTERPRET must have been set before."""
    if os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError("TRITON_INTERPRET is not set")
    module = fused_house._import(text, folder)
    libdevice = {name: _stand_in(getattr(torch, name)) for name in _SAME}
    module.libdevice = types.SimpleNamespace(rint=_stand_in(torch.round), **libdevice)
    module._autocast = lambda device: False
    module._OPTIONS = {}
    module._KERNEL_DEVICE = "cpu"
    module.torch = fused_house._OnCpu()
    return module


def compile_for(sm):
    """From now on the stand-in of `compiler` is a device of this kind, with its shared memory."""
    import triton.compiler.compiler as compiling
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    shared = {80: 166912, 89: 101376, 90: 232448}[sm]
    known = type(driver.active.utils)().get_device_properties(0)
    driver.active.utils.get_device_properties = lambda device: {**known, "max_shared_mem": shared}
    driver.active.get_current_target = lambda: GPUTarget("cuda", sm, 32)
    getattr(getattr(compiling, "max_shared_mem", None), "cache_clear", lambda: None)()


def compiler():
    """The real compiler with a driver that launches nothing, as scripts/ask_triton.py uses it."""
    spec = importlib.util.spec_from_file_location("ask_triton", _ROOT / "scripts/ask_triton.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.install()

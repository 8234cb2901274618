# Fused kernels on a CPU.
_KERNEL_DEVICE = "cpu"
_FUSED_PRELUDE = r"""@@part_fused_cpu.cpp@@"""
_FUSED_FLAGS = ["-std=c++17", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-w"]
_KEPT_BYTES = 1 << 20  # outputs from this size on are kept
_KEPT_EACH = 2  # a caller usually still holds the last answer during the next call
_SOURCES = {}
_fused_state = {}  # "library": the loaded kernels, or "error": why there are none
_use_count = getattr(torch._C, "_storage_Use_Count", None)


def _library():
    with _lock:
        if not _fused_state:
            try:
                library = _build("fused_cpu", _SOURCES["fused"], _FUSED_FLAGS)
            except _Unsupported as e:
                _fused_state["error"] = str(e)
            else:
                library.hone_begin()
                _fused_state["library"] = library
        if "error" in _fused_state:
            raise _Unsupported(_fused_state["error"])
        return _fused_state["library"]


class _FusedKernel:
    """One kernel: what it reads (strides, alignment), what it writes (shape, dtype), its scratch memory and its functions."""

    def __init__(self, inputs, outputs, scratch, order, launches):
        self.inputs, self.scratch, self.order, self.launches = inputs, scratch, order, launches
        self.outputs = [_Output(*output) for output in outputs]
        self.functions = None

    def __call__(self, device, threads, *tensors):
        if self.functions is None:
            functions = [getattr(_library(), entry) for entry in self.launches]
            for function in functions:
                function.restype = None
            self.functions = functions
        held = [_as_expected(tensor, *expected) for tensor, expected in zip(tensors, self.inputs)]
        made = [output.take() for output in self.outputs]
        held += made
        held += [torch.empty(size, dtype=torch.uint8) for size in self.scratch]
        addresses = (ctypes.c_uint64 * len(held))(*[held[i].data_ptr() for i in self.order])
        for function in self.functions:
            function(addresses, threads)
        return made


class _Output:
    """Makes one output of a kernel. A large output reuses the memory of an earlier one that is no longer referenced. The system needs as long
    to provide new memory, page by page, as a kernel needs to fill it."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.kept = shape, dtype, []
        strides = [1] * len(shape)
        for i in range(len(shape) - 1, 0, -1):
            strides[i - 1] = strides[i] * shape[i]
        self.strides = tuple(strides)
        self.large = _use_count is not None and math.prod(shape) * torch.empty(0, dtype=dtype).element_size() >= _KEPT_BYTES

    def take(self):
        if not self.large:
            return torch.empty(self.shape, dtype=self.dtype)
        with _lock:
            free = next((storage for storage in self.kept if _use_count(storage._cdata) == 1), None)  # only this list holds it
            if free is not None:
                return torch.empty(0, dtype=self.dtype).set_(free, 0, self.shape, self.strides)
            made = torch.empty(self.shape, dtype=self.dtype)
            if len(self.kept) < _KEPT_EACH:
                self.kept.append(made.untyped_storage())
                _library().hone_large_pages(ctypes.c_void_p(made.data_ptr()), ctypes.c_size_t(self.kept[-1].nbytes()))
            return made


class _Fixed(_Entry):
    """The values computed from one set of weights."""

    def __init__(self, weights, make):
        super().__init__(weights)
        with torch.no_grad():
            self.values = make(-1, *weights)


def _fixed_values(model, device, make, weights):
    """Computed once, and again when a weight was replaced or written to. A write that changes no version is noticed only if it changes a sample."""
    signature = (*_signature(weights), [sample.raw for weight in weights for sample in hone_samples(weight)])
    return _entry_of(_entries, model, weights, signature, lambda given: _Fixed(given, make), lambda old: None).values


def _enter(device):
    return _threads()


def _run_on(device, steps, *values):
    with torch.no_grad():
        return steps(device, *values)

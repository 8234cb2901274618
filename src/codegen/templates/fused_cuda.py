# Fused kernels on a GPU.
_KERNEL_DEVICE = "cuda"
_FUSED_PRELUDE = r"""@@part_fused.cu@@"""


class _FusedKernel:
    """One kernel: what it reads (strides, alignment), what it writes (shape, dtype), its scratch memory and its launches."""

    def __init__(self, inputs, outputs, scratch, order, launches):
        self.inputs, self.outputs, self.scratch, self.order, self.launches = inputs, outputs, scratch, order, launches
        self.plans = {}

    def _plan(self, device, stream):
        plan = []
        for entry, blocks, threads, cluster, shared, resident in self.launches:
            function = _function(device, "fused", {}, entry)
            attributes, count = (_Attribute * 1)(), 0
            if shared > 48 * 1024:
                _driver()("cuFuncSetAttribute", function, _SHARED_BYTES, shared)
            if cluster > 8:
                _driver()("cuFuncSetAttribute", function, _LARGE_CLUSTERS, 1)
            if cluster > 1:
                attributes[0].id, attributes[0].x, attributes[0].y, attributes[0].z = _ATTRIBUTE_CLUSTER, cluster, 1, 1
                count = 1
            config = _Config(blocks, 1, 1, threads, 1, 1, shared, stream, attributes, count)
            if resident:
                clusters = ctypes.c_int()
                _driver()("cuOccupancyMaxActiveClusters", ctypes.byref(clusters), function, ctypes.byref(config))
                config.gx = min(blocks, cluster * max(1, clusters.value))
            plan.append((ctypes.byref(config), function))
        with _lock:
            while len(self.plans) >= _PLANS_KEPT:
                self.plans.pop(next(iter(self.plans)))
            self.plans[device, stream] = plan
        return plan

    def __call__(self, device, stream, *tensors):
        plan = self.plans.get((device, stream)) or self._plan(device, stream)
        where = tensors[0].device
        held = [_as_expected(tensor, *expected) for tensor, expected in zip(tensors, self.inputs)]
        made = [torch.empty(shape, dtype=dtype, device=where) for shape, dtype in self.outputs]
        held += made
        held += [torch.empty(size, dtype=torch.uint8, device=where) for size in self.scratch]
        addresses = (ctypes.c_uint64 * len(held))(*[held[i].data_ptr() for i in self.order])
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(addresses))
        driver = _driver()
        for config, function in plan:
            driver.launch((config, function, arguments, None))
        return made


class _Fixed(_Entry):
    """What follows from one set of weights."""

    def __init__(self, weights, device, make):
        super().__init__(weights)
        with torch.no_grad(), torch.cuda.device(device):
            self.values = make(device, *weights)
            torch.cuda.current_stream(device).synchronize()  # other streams will read it


def _fixed_values(model, device, make, weights):
    """Computed once, and again when a weight was replaced, moved or written to. A write through `.data` is not noticed."""
    signature = (device, *_signature(weights))
    entry = _entry_of(_entries, model, weights, signature, lambda given: _Fixed(given, device, make), lambda old: _before_packing(device, old is not None))
    if _capturing():
        _captured.add(entry)
    return entry.values


def _enter(device):
    _driver().enter(device)
    return _raw_stream(device)


def _run_on(device, steps, *values):
    if device != torch.cuda.current_device():
        with torch.cuda.device(device), torch.no_grad():
            return steps(device, *values)
    with torch.no_grad():
        return steps(device, *values)

# Fused kernels on a GPU.
_KERNEL_DEVICE = "cuda"
_FUSED_PRELUDE = r"""@@part_fused.cu@@"""
_thread = threading.get_ident
_entered = threading.local()  # the device whose context this thread has made current


class _FusedKernel:
    """One kernel: what it reads (strides, alignment), what it writes (shape, dtype), its scratch memory and its launches."""

    def __init__(self, inputs, outputs, scratch, order, launches):
        self.inputs, self.outputs, self.scratch, self.order, self.launches = inputs, outputs, scratch, order, launches
        self.plans = {}

    def _plan(self, key):
        """The arguments of a launch and the memory for its addresses. Each thread has its own, because a launch reads the addresses while other threads run."""
        device, stream, _ = key
        plan = []
        for entry, blocks, threads, cluster, shared, resident in self.launches:
            function = _function(device, "fused", {}, entry)
            attributes, count = (_Attribute * 1)(), 0
            _allow_shared(function, shared)
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
        addresses = (ctypes.c_uint64 * len(self.order))()
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(addresses))
        plan = (torch.device("cuda", device), addresses, [(config, function, arguments, None) for config, function in plan])
        with _lock:
            while len(self.plans) >= _PLANS_KEPT:
                self.plans.pop(next(iter(self.plans)))
            self.plans[key] = plan
        return plan

    def __call__(self, device, stream, *tensors):
        key = device, stream, _thread()
        where, addresses, launches = self.plans.get(key) or self._plan(key)
        held = [
            tensor if tensor.stride() == expected[1] and not tensor.data_ptr() % expected[2] else _as_expected(tensor, *expected)
            for tensor, expected in zip(tensors, self.inputs)
        ]
        made = [torch.empty(shape, dtype=dtype, device=where) for shape, dtype in self.outputs]
        held += made
        if self.scratch:
            held += [torch.empty(size, dtype=torch.uint8, device=where) for size in self.scratch]
        addresses[:] = [held[i].data_ptr() for i in self.order]
        launch = _driver().launch
        for call in launches:
            launch(call)
        return made


class _Fixed(_Entry):
    """The values computed from one set of weights."""

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
    if getattr(_entered, "device", None) != device:
        _driver().enter(device)
        _entered.device = device
    return _raw_stream(device)


def _run_on(device, steps, *values):
    if device != torch.cuda.current_device():
        with torch.cuda.device(device), torch.no_grad():
            _entered.device = None
            return steps(device, *values)
    if not torch.is_grad_enabled():
        return steps(device, *values)
    with torch.no_grad():
        return steps(device, *values)

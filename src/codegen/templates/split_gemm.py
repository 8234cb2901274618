# HoneLinear is nn.Linear (same parameters, same state_dict) whose forward multiplies on Hopper's fp16 tensor cores at float32's
# accuracy: two fp16 terms per number, three products. The split weight is kept beside the module, as large as the weight itself, and
# is made anew when the weight changes. What this does not cover, or does not speed up, runs in PyTorch as before.
_SPLIT_SOURCE = r"""@@split_gemm.cu@@"""

_SOURCES.update(split_gemm=_SPLIT_SOURCE)
_KERNEL_NAME = "split product"
_SPLIT = @@h200.json:split_gemm@@  # the kernel's tiles, and what products cost, in microseconds; the recipe that wrote this file predicts with the same
_TILE, _DEPTH, _STAGES = _SPLIT["tile"], _SPLIT["depth"], _SPLIT["stages"]
_SCALED_BITS = 15  # a column this many powers of two under the largest weight still has float32's precision


class _Launch:
    """How rows x units x k is divided among the processors, and what that is expected to take."""

    def __init__(self, rows, units, width, processors):
        self.row_tiles, self.unit_tiles, self.blocks = -(-rows // _TILE), -(-units // _TILE), -(-width // _DEPTH)
        tiles = self.row_tiles * self.unit_tiles
        # Two CTAs share what they read of x, or of w. Clusters of four would leave processors idle.
        self.cluster = (1, 2) if self.unit_tiles % 2 == 0 else (2, 1) if self.row_tiles % 2 == 0 else (1, 1)
        cost, best = _SPLIT, None
        for splits in range(1, min(cost["most_parts"], max(1, self.blocks // cost["blocks_per_part"])) + 1):
            per_split = -(-self.blocks // splits)
            waves = -(-tiles * splits // processors)
            flops = 6 * _TILE * _TILE * _DEPTH * per_split * waves * processors
            us = flops / cost["product_flops_per_us"] + (2 * splits * rows * units * 4 / cost["bytes_per_us"] + cost["sum_us"] if splits > 1 else 0)
            if best is None or us < best:
                best, self.splits, self.per_split = us, -(-self.blocks // per_split), per_split
        weight_us = 4 * units * width / cost["bytes_per_us"]
        self.us = cost["call_us"] + 16 * rows * width / cost["bytes_per_us"] + max(best, weight_us)
        # PyTorch's tiles are wide, too.
        filled = rows if rows < cost["few_rows"] else max(rows, cost["filled_rows"])
        self.pytorch_us = max(2 * filled * units * width / cost["pytorch_flops_per_us"], weight_us)
        self.pays = self.us < cost["of_pytorch"] * self.pytorch_us

    def macros(self):
        return dict(CLUSTER_M=self.cluster[0], CLUSTER_N=self.cluster[1], TILE=_TILE, DEPTH=_DEPTH, STAGES=_STAGES)


class _Call:
    """One kernel with its grid and its arguments: numbers, or the ctypes values that a plan fills in before it launches."""

    def __init__(self, device, stream, macros, name, grid, threads, arguments, shared=0):
        self.function = _function(device, "split_gemm", macros, name)
        attributes, count = (_Attribute * 1)(), 0
        if shared:
            _driver()("cuFuncSetAttribute", self.function, _SHARED_BYTES, shared)
            attributes[0].id, attributes[0].x, attributes[0].y, attributes[0].z = _ATTRIBUTE_CLUSTER, macros["CLUSTER_M"], macros["CLUSTER_N"], 1
            count = 1
        self.values = [ctypes.c_int(a) if type(a) is int else a for a in arguments]
        self.addresses = (ctypes.c_void_p * len(self.values))(*[ctypes.addressof(v) for v in self.values])
        self.config = _Config(*grid, threads, 1, 1, shared, stream, attributes, count)
        self.launch = (ctypes.byref(self.config), self.function, self.addresses, None)


def _split_sizes(rows, width):
    """Bytes of the two fp16 terms of a matrix in blocks, and of the scales of its rows."""
    padded = _up(rows, _TILE)
    return 4 * padded * _up(width, _DEPTH), 4 * padded


def _split_call(device, stream, macros, rows, width, matrix, terms, unscale):
    return _Call(device, stream, macros, "split_rows", (_up(rows, _TILE), 1, 1), min(1024, _up(-(-width // 8), 32)), (matrix, terms, unscale, rows, width, -(-width // _DEPTH)))


def _pointer(tensor=None):
    return ctypes.c_void_p(None if tensor is None else tensor.data_ptr())


class _SplitWeight:
    """A weight as two terms of fp16, in the order the product reads them; never changed after construction."""

    def __init__(self, device, weight, macros):
        columns = torch.linalg.vector_norm(weight, math.inf, dim=0)
        largest, smallest = float(columns.max()), float(torch.where(columns > 0, columns, columns.max()).min())
        if not math.isfinite(largest):
            raise _Unsupported("a weight is not finite")
        if smallest < largest * 2.0**-_SCALED_BITS or largest > 0 and not 2.0**-80 < largest < 2.0**80:
            raise _Unsupported("the weights of one layer span too many powers of two")
        units, width = weight.shape
        terms, unscale = _split_sizes(units, width)
        self.terms = torch.empty(terms, dtype=torch.uint8, device=weight.device)
        self.unscale = torch.empty(unscale // 4, dtype=torch.float32, device=weight.device)
        stream = torch.cuda.current_stream(device)
        _driver().launch(_split_call(device, stream.cuda_stream, macros, units, width, _pointer(weight), _pointer(self.terms), _pointer(self.unscale)).launch)
        stream.synchronize()  # other streams will read it


class _Plan:
    """One number of rows on one stream. What a call passes to the driver is prepared, so that a call only fills in addresses."""

    def __init__(self, device, stream, split, rows, units, width):
        launch = _launch_for(device, rows, units, width)
        macros = launch.macros()
        self.split, self.rows, self.units, self.device = split, rows, units, torch.device("cuda", device)
        self.lock = threading.Lock()
        self.terms_bytes, unscale_bytes = _split_sizes(rows, width)
        self.sums_at = self.terms_bytes + _up(unscale_bytes, 256)
        self.scratch_bytes = self.sums_at + (4 * launch.splits * rows * units if launch.splits > 1 else 0)
        self.x, self.w, self.bias, self.out, self.terms, self.unscale, self.sums = (_pointer() for _ in range(7))
        grid, shared = (launch.row_tiles, launch.unit_tiles, launch.splits), _STAGES * 4 * _TILE * _DEPTH * 2
        self.divided = launch.splits > 1
        call = lambda *arguments: _Call(device, stream, macros, *arguments)
        self.calls = [
            _split_call(device, stream, macros, rows, width, self.x, self.terms, self.unscale),
            call("split_product", grid, 384, (_pointer(split.terms), self.terms, _pointer(split.unscale), self.unscale, self.bias,
                                              self.sums if self.divided else self.out, rows, units, launch.blocks, launch.per_split), shared),
        ]  # fmt: skip
        if self.divided:
            self.calls.append(call("split_sum", (min(1024, -(-rows * units // 256)), 1, 1), 256, (self.sums, self.bias, self.out, rows, units, launch.splits)))
        self.calls.append(call("split_repair", (-(-rows // 256), min(32, -(-units // 8)), 1), 256,
                               (self.x, self.w, self.unscale, self.bias, self.out, rows, units, width)))  # fmt: skip

    def __call__(self, x, weight, bias):
        scratch = torch.empty(self.scratch_bytes, dtype=torch.uint8, device=self.device)
        out = torch.empty((self.rows, self.units), dtype=torch.float32, device=self.device)
        driver, at = _driver(), scratch.data_ptr()
        with self.lock:
            self.x.value, self.w.value, self.out.value = x.data_ptr(), weight.data_ptr(), out.data_ptr()
            self.bias.value = None if bias is None else bias.data_ptr()
            self.terms.value, self.unscale.value, self.sums.value = at, at + self.terms_bytes, at + self.sums_at
            for call in self.calls:
                driver.launch(call.launch)
        return out


class _Splits(_Entry):
    """One weight, split, or a sentence that says why it is not; and the plans of its calls."""

    def __init__(self, weights, device, rows):
        super().__init__(weights)
        self.weight, self.plans = weights[0], collections.OrderedDict()
        try:
            self.split = _SplitWeight(device, self.weight, _launch_for(device, rows, *self.weight.shape).macros())
        except _Unsupported as e:
            self.split = str(e)
        except _OutOfMemory:
            self.split = "there is no memory for the split weight"

    def plan(self, device, stream, rows):
        plan = self.plans.get((stream, rows))
        if plan is None:
            with _lock:
                plan = self.plans[stream, rows] = _Plan(device, stream, self.split, rows, *self.weight.shape)
                while len(self.plans) > _PLANS_KEPT:
                    self.plans.popitem(last=False)
        return plan


def _splits_of(module, weight, device, rows):
    signature = (*_signature((weight,)), weight.shape)
    entry = _entry_of(_entries, module, (weight,), signature, lambda weights: _Splits(weights, device, rows), lambda old: _before_packing(device, old is not None))
    if type(entry.split) is str:
        raise _Unsupported(entry.split)
    return entry


_launches = {}


def _launch_for(device, rows, units, width):
    key = (device, rows, units, width)
    if key not in _launches:
        properties = torch.cuda.get_device_properties(device)
        _launches[key] = _Launch(rows, units, width, properties.multi_processor_count)
        _launches[key].hopper = properties.major == 9
    return _launches[key]


def _split_linear(module, x):
    """x w' + b, or NotImplemented where PyTorch is as good. Raises _Unsupported for what it should do and cannot."""
    weight, bias = module.weight, module.bias
    tensors = (x, weight) if bias is None else (x, weight, bias)
    if any(type(t) not in _PLAIN or t.dtype is not torch.float32 or not t.is_cuda for t in tensors):
        return NotImplemented
    device, (units, width) = x.get_device(), weight.shape
    if x.dim() < 1 or x.size(-1) != width or x.numel() == 0 or any(t.get_device() != device for t in tensors):
        return NotImplemented
    rows = x.numel() // width
    launch = _launch_for(device, rows, units, width)
    if not launch.pays or _linear_tf32() or _autocast("cuda"):
        return NotImplemented
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        raise _Unsupported("gradients are needed (run under torch.no_grad() for the kernel)")
    if torch._C._get_tracing_state() is not None:
        raise _Unsupported("the model is being traced")
    if not launch.hopper:
        raise _Unsupported("the kernel is for Hopper (sm_90)")
    if not weight.is_contiguous():
        raise _Unsupported("the weight is not contiguous")
    if device != torch.cuda.current_device():
        with torch.cuda.device(device):
            return _on_device(module, x, weight, bias, rows, device)
    return _on_device(module, x, weight, bias, rows, device)


def _on_device(module, x, weight, bias, rows, device):
    with torch.no_grad():
        _driver().enter(device)
        entry = _splits_of(module, weight, device, rows)
        if _capturing():
            _captured.add(entry)
        plan = entry.plan(device, _raw_stream(device), rows)
        x_rows = x if x.is_contiguous() else x.contiguous()
        bias = bias if bias is None or bias.is_contiguous() else bias.contiguous()
        return plan(x_rows, weight, bias).view(*x.shape[:-1], weight.size(0))


class HoneLinear(nn.Linear):
    def forward(self, input):
        try:
            answer = _split_linear(self, input)
            if answer is not NotImplemented:
                return answer
        except _REFUSALS as e:
            _warn_once(e)
        return super().forward(input)


def adopt(model, names):
    """Switches these nn.Linear sub-modules of `model` to the kernel in place."""
    for name in names:
        module = model.get_submodule(name)
        if type(module) is nn.Linear:
            module.__class__ = HoneLinear
    return model

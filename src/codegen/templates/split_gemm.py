# HoneLinear is nn.Linear (same parameters, same state_dict) whose forward multiplies on Hopper's fp16 tensor cores at float32's
# accuracy, with two fp16 terms per number and three products. The split weight is kept beside the module. It is as large as the
# weight and is made again when the weight changes. What this does not cover or does not speed up runs in PyTorch as before.
@@part_split.py@@

_KERNEL_NAME = "split product"


class _SplitWeight:
    """A weight as two fp16 terms, in the order in which the product reads them. Immutable."""

    def __init__(self, device, weight, macros):
        columns = torch.linalg.vector_norm(weight, math.inf, dim=0)
        largest, smallest = float(columns.max()), float(torch.where(columns > 0, columns, columns.max()).min())
        if not math.isfinite(largest):
            raise _Unsupported("a weight is not finite")
        if smallest < largest * 2.0**-_SCALED_BITS or largest > 0 and not 2.0**-100 < largest < 2.0**90:
            raise _Unsupported("the weights of one layer span too many powers of two")
        units, width = weight.shape
        terms, scales = _split_sizes(units, width, "w")
        self.terms = torch.empty(terms, dtype=torch.uint8, device=weight.device)
        self.scales = torch.empty(scales // 4, dtype=torch.float32, device=weight.device)
        self.columns = columns if bool((columns == 0).any()) else None  # columns of zeros have no influence
        stream = torch.cuda.current_stream(device)
        matrix = _Matrix(weight.data_ptr(), width, 1, 0, 0, 1, units, width)
        _driver().launch(_split_blocks_call(device, stream.cuda_stream, macros, matrix, 1, _pointer(self.terms), _pointer(self.scales)).launch)
        stream.synchronize()  # other streams will read it


class _Plan:
    """One number of rows on one stream. What a call passes to the driver is prepared, so that a call only fills in addresses."""

    def __init__(self, device, stream, split, rows, units, width):
        launch = _launch_for(device, rows, units, width)
        macros = launch.macros()
        self.split, self.rows, self.units, self.device = split, rows, units, torch.device("cuda", device)
        self.lock = threading.Lock()
        self.terms_bytes, unscale_bytes = _split_sizes(rows, width, "x")
        self.sums_at = self.terms_bytes + _up(unscale_bytes, 256)
        self.scratch_bytes = self.sums_at + (4 * launch.splits * rows * units if launch.splits > 1 else 0)
        self.x, self.w, self.bias, self.out, self.terms, self.unscale, self.sums = (_pointer() for _ in range(7))
        self.matrix = _Matrix(None, width, 1, 0, 0, 1, rows, width)
        divided = launch.splits > 1
        arguments = (_pointer(split.terms), self.terms, _pointer(split.scales), self.unscale, self.bias, self.sums if divided else self.out)
        self.calls = [
            _split_rows_call(device, stream, macros, self.matrix, 1, self.terms, self.unscale, _pointer(split.columns)),
            *_product_calls(device, stream, launch, macros, rows, units, arguments)[0],
        ]
        if divided:
            self.calls.append(_sum_call(device, stream, launch, macros, rows * units, self.sums, self.bias, self.out, units))
        self.calls.append(_Call(device, stream, macros, "split_repair", (-(-rows // 256), min(32, -(-units // 8)), 1), 256,
                                (self.x, self.w, self.unscale, self.bias, self.out, rows, units, width)))  # fmt: skip

    def __call__(self, x, weight, bias):
        scratch = torch.empty(self.scratch_bytes, dtype=torch.uint8, device=self.device)
        out = torch.empty((self.rows, self.units), dtype=torch.float32, device=self.device)
        driver, at = _driver(), scratch.data_ptr()
        with self.lock:
            self.x.value, self.w.value, self.out.value = x.data_ptr(), weight.data_ptr(), out.data_ptr()
            self.matrix.at = x.data_ptr()
            self.bias.value = None if bias is None else bias.data_ptr()
            self.terms.value, self.unscale.value, self.sums.value = at, at + self.terms_bytes, at + self.sums_at
            for call in self.calls:
                driver.launch(call.launch)
        return out


class _Splits(_Entry):
    """A split weight and the plans of its calls, or a sentence that says why the weight is not split."""

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
    """x w' + b, or NotImplemented if PyTorch is as fast. Raises _Unsupported if the kernel should run and cannot."""
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

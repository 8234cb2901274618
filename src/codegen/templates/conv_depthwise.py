# Depthwise convolutions of float32 images in float32 (conv_depthwise.cu).
_SOURCES["conv_depthwise"] = r"""@@conv_depthwise.cu@@"""


class _Depthwise:
    """One depthwise convolution of the graph. x, out: sizes of the tensors; kernel, stride, padding, dilation: of its two axes."""

    def __init__(self, x, out, kernel, stride, padding, dilation):
        self.x, self.out, self.plans = x, out, collections.OrderedDict()
        least = lambda size, unit: min((4, 2, 1), key=lambda n: (-(-size // (unit * n)) * n, -n))
        names = ("KY", "KX"), ("SY", "SX"), ("PY", "PX"), ("DY", "DX")
        self.macros = {name: value for pair, values in zip(names, (kernel, stride, padding, dilation)) for name, value in zip(pair, values)}
        rows, columns = least(out[2], 8), least(out[3], 32)
        across = lambda unit, count, axis: (unit * count - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1
        while 4 * across(8, rows, 0) * across(32, columns, 1) > 48 * 1024 and rows * columns > 1:  # what a CTA may have without asking
            rows, columns = (rows // 2, columns) if rows > 1 else (rows, columns // 2)
        self.macros.update(ROWS=rows, COLUMNS=columns, TIMES=out[1] // x[1])

    def _plan(self, device, stream):
        across, down = -(-self.out[3] // (32 * self.macros["COLUMNS"])), -(-self.out[2] // (8 * self.macros["ROWS"]))
        pointers = [_pointer() for _ in range(4)]
        arguments = (*pointers, *self.x[2:], *self.out[2:], self.out[1], across, down)
        return threading.Lock(), pointers, _ConvCall(device, stream, self.macros, "conv_depthwise", (self.out[0] * self.out[1] * across * down, 1, 1), 256, arguments, source="conv_depthwise")

    def __call__(self, device, stream, x, weight, bias, in_pytorch):
        if torch.cuda.get_device_capability(device)[0] < 9:
            return in_pytorch()
        plan = self.plans.get((device, stream))
        if plan is None:
            with _lock:
                plan = self.plans[device, stream] = self._plan(device, stream)
                while len(self.plans) > _PLANS_KEPT:
                    self.plans.popitem(last=False)
        lock, pointers, call = plan
        x, weight, bias = x.contiguous(), weight.contiguous(), None if bias is None else bias.contiguous()
        out = torch.empty(self.out, dtype=torch.float32, device=x.device)
        with lock:
            for pointer, tensor in zip(pointers, (x, weight, bias, out)):
                pointer.value = None if tensor is None else tensor.data_ptr()
            _driver().launch(call.launch)
        return out

# Convolutions in fp16 and channels-last order: tensors are [N, spatial..., C]. The readers of a result add its bias.
_FUSED_PRELUDE += r"""@@part_half_guard.cu@@"""


def _stored(x):
    return x


_calibrating = []  # not empty while scales are looked for


def _half_scale(like, group, inverse):
    return like.new_full((1,), 2.0 ** (-_powers[group] if inverse else _powers[group]))


def _half_weight(weight, transposed, of_input, of_result):
    """A convolution's weight in fp16 and in cuDNN's memory order, multiplied by the scales of the input and the output."""
    weight = weight * (of_input * of_result)
    rows = weight.abs().amax([axis for axis in range(weight.dim()) if axis != int(transposed)])
    if not _calibrating and not bool(((rows <= 2.0**15).all() & (rows.max() >= 2.0**-10)) | (rows.max() == 0)):
        raise _Unsupported("weights of a convolution are beyond the range of fp16")
    # cuDNN would round it to TF32, which has as many bits. hone: allow precision-downgrade
    half = weight.half()
    if half.dim() == 3:
        half = half[:, :, None]
    return half.contiguous(memory_format=torch.channels_last_3d if half.dim() == 5 else torch.channels_last)


def _half_convolution(x, weight, stride, padding, dilation, transposed, output_padding, groups):
    """Calls cuDNN. Every convolution of this file goes through here. One spatial axis is passed as a plane of height 1."""
    plane = x.dim() == 3
    if plane:
        x, stride, padding, dilation, output_padding = x[:, None], [1, *stride], [0, *padding], [1, *dilation], [0, *output_padding]
    y = torch.ops.aten.convolution.default(x.movedim(-1, 1), weight, None, stride, padding, dilation, transposed, output_padding, groups).movedim(1, -1)
    return y[:, 0] if plane else y


def _half_pool(x, maximum, kernel, stride, padding, dilation, ceil_mode, count_padding, divisor):
    x = x.movedim(-1, 1)
    if maximum:
        return torch.ops.aten.max_pool2d.default(x, kernel, stride, padding, dilation, ceil_mode).movedim(1, -1)
    return torch.ops.aten.avg_pool2d.default(x, kernel, stride, padding, ceil_mode, count_padding, divisor).movedim(1, -1)


def _convolutions_tf32():
    """Whether PyTorch's own convolutions round to TF32 now, so that fp16 rounds no more than they do."""
    if not torch.backends.cudnn.enabled:
        return False
    if _precision_of is not None:
        return _precision_of("cuda", "conv") == "tf32"
    return torch.backends.cudnn.allow_tf32


_LEAST, _MOST = 0x3A800000, 0x477FE000  # 2**-10 and 65504 as bits: the limits of the largest element of a stored tensor
_CALIBRATIONS = 64


class _Guard:
    """The largest magnitude of each stored tensor, written by the kernels, and its copy on the host. One call at a time writes them (_guard_lock)."""

    def __init__(self, device):
        self.address, size = ctypes.c_uint64(), ctypes.c_size_t()
        _function(device, "fused", {}, "fused0")
        _driver()("cuModuleGetGlobal_v2", ctypes.byref(self.address), ctypes.byref(size), _modules[device, "fused", ()], b"hone_guard")
        self.held = torch.zeros(len(_GROUPS), dtype=torch.int32, pin_memory=True)
        self.words = (ctypes.c_uint * len(_GROUPS)).from_address(self.held.data_ptr())

    def begin(self, stream):
        _driver()("cuMemsetD32Async", self.address, 0, ctypes.c_size_t(len(_GROUPS)), ctypes.c_void_p(stream))

    def end(self, stream):
        _driver()("cuMemcpyDtoHAsync_v2", ctypes.byref(self.words), self.address, ctypes.c_size_t(4 * len(_GROUPS)), ctypes.c_void_p(stream))

    def read(self):
        """Waits for the call."""
        # An answer is returned only once its magnitudes are known to be in range. hone: allow host-sync-in-forward
        torch.cuda.current_stream().synchronize()
        return list(self.words)


def _in_range(words):
    return min(words) >= _LEAST and max(words) <= _MOST


_BANDS = (0, 8), (-4, 10)  # a group whose largest element has an exponent in this range keeps its power; the second range is for weights with bad scales


def _better_powers(words, powers, band):
    """Powers that bring the largest element of each group to about 16. Groups that are there already keep their power."""
    most, powers = [0] * len(powers), list(powers)
    for group, word in zip(_GROUPS, words):
        most[group] = max(most[group], word)
    for group, word in enumerate(most):
        exponent = (word >> 23) - 127  # of a float by its bits
        if word > _MOST:
            powers[group] = max(powers[group] - 12, -96)
        elif word == 0:  # too small for fp16, or all zeros
            powers[group] = min(powers[group] + 12, 96)
        elif not band[0] <= exponent <= band[1]:
            powers[group] += 4 - exponent
    return powers


_guards, _guard_lock = {}, threading.RLock()


def _guard_of(device):
    if device not in _guards:
        _guards[device] = _Guard(device)
    return _guards[device]


def _device_of(inputs):
    return next(value for value in inputs if isinstance(value, torch.Tensor)).get_device()


def _run_guarded(model, inputs):
    """Clears the words, runs the graph and copies the words. cuDNN's search and its repeatable algorithms are switched on for this call only."""
    device, flags = _device_of(inputs), torch.backends.cudnn
    guard, before = _guard_of(device), (flags.benchmark, flags.deterministic)
    flags.benchmark = flags.deterministic = True
    try:
        guard.begin(_raw_stream(device))
        out = _run_graph(model, inputs)
        guard.end(_raw_stream(device))
        return out
    finally:
        flags.benchmark, flags.deterministic = before


def _calibrate(model, inputs, run=None):
    """Chooses the powers for this call. They change no bit of an answer as long as values stay in range."""
    run = run or (lambda: (_run_guarded(model, inputs), _guard_of(_device_of(inputs)).read())[1])
    failure = None
    for band in _BANDS:
        _powers[:] = [0] * len(_powers)
        _calibrating.append(True)
        try:
            for _ in range(_CALIBRATIONS):
                _entries.pop(model, None)  # weights are packed for the powers
                better = _better_powers(run(), _powers, band)
                if better == _powers:
                    break
                _powers[:] = better
        finally:
            _calibrating.clear()
            _entries.pop(model, None)
        try:
            if _in_range(run()):
                return list(_powers)
        except _Unsupported as error:  # weights
            failure = error
        finally:
            _entries.pop(model, None)
    raise failure or _Unsupported("values of this call are beyond the range that fp16 holds well")


_MOST_SCALES, _MOST_MISSES = 4, 32


class _Scales:
    """The prepared calls of one shape. Each has its own powers. A call uses the first set of powers whose range contains its values. So equal inputs
    give equal answers, whatever was called in between. A set that has fitted no call for a long time is dropped."""

    def __init__(self):
        self.runs, self.tried = [], 0  # [prepared call, number of calls that did not fit since the last one that did]

    def __call__(self, model, inputs):
        for known in list(self.runs):
            out = known[0](*inputs)
            if _in_range(_guards[_device_of(inputs)].read()):
                known[1] = 0
                return out
            known[1] += 1
            if known[1] >= _MOST_MISSES:
                self.runs.remove(known)
        if self.tried < _MOST_SCALES:
            self.tried += 1
            run = hone_prepare(model, inputs)
            self.runs.append([run, 0])
            out = run(*inputs)
            if _in_range(_guards[_device_of(inputs)].read()):
                return out
        raise _Unsupported("values of this call are beyond the range that fp16 holds well")

# Runtime of Hone's CPU kernel for recurrent networks: builds it, packs the weights, and runs all steps in one call.
_CPU_SOURCE = r"""@@recurrent_cpu.cpp@@"""

_CPU_FLAGS = ["-std=c++17", "-O3", "-ffp-contract=fast"]
_CELLS = {"RNN_TANH": 0, "RNN_RELU": 1, "GRU": 2, "LSTM": 3}
_library_state = {}  # "library": the loaded kernel, or "error": why there is none


class _Call(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("steps", "batch")] + [
        ("x", ctypes.c_void_p), ("x_step", ctypes.c_int64), ("x_row", ctypes.c_int64),
        ("h0", ctypes.c_void_p), ("c0", ctypes.c_void_p),
        ("y", ctypes.c_void_p), ("y_step", ctypes.c_int64), ("y_row", ctypes.c_int64), ("last_only", ctypes.c_int64),
        ("h_n", ctypes.c_void_p), ("c_n", ctypes.c_void_p),
        ("threads", ctypes.c_int64), ("split", ctypes.c_int64 * 3)]  # fmt: skip


def _library():
    with _lock:
        if "library" not in _library_state and "error" not in _library_state:
            try:
                library = _build("recurrent_cpu", _CPU_SOURCE, _CPU_FLAGS)
            except _Unsupported as e:
                _library_state["error"] = str(e)
            else:
                i64, ptr = ctypes.c_int64, ctypes.c_void_p
                library.hone_create.restype, library.hone_create.argtypes = ptr, [i64] * 7
                library.hone_free.restype, library.hone_free.argtypes = None, [ptr]
                library.hone_digest.restype, library.hone_digest.argtypes = ctypes.c_uint64, [ptr, i64, i64, i64]
                library.hone_pack.restype, library.hone_pack.argtypes = i64, [ptr, i64, ptr, i64, ptr, i64, ptr, ptr]
                library.hone_pack_projection.restype, library.hone_pack_projection.argtypes = i64, [ptr, i64, ptr, i64]
                library.hone_pack_head.restype, library.hone_pack_head.argtypes = i64, [ptr, ptr, i64, ptr]
                library.hone_run.restype, library.hone_run.argtypes = i64, [ptr, ctypes.POINTER(_Call)]
                _library_state["library"] = library
        if "error" in _library_state:
            raise _Unsupported(_library_state["error"])
        return _library_state["library"]


def _pointer(tensor):
    return None if tensor is None else tensor.data_ptr()


def _rows(tensor):
    """The tensor if the kernel can read it through strides (features must be adjacent), else a contiguous copy."""
    return tensor if tensor.stride(-1) == 1 or tensor.size(-1) == 1 else tensor.contiguous()


class _Net:
    """Packed weights. Immutable: new weights get a new object, so calls in progress keep the old one."""

    def __init__(self, cell, layers, directions, inputs, hidden, projected, matrices, head=None):
        library = _library()
        self.key = (cell, layers, directions, inputs, hidden, projected)
        self.digest = _digest(library, matrices, head)
        out = 0 if head is None else head[0].size(0)
        self.handle = library.hone_create(cell, layers, directions, inputs, hidden, projected, out)
        if not self.handle:
            raise _Unsupported("out of memory for packed weights")
        self._finalizer = weakref.finalize(self, library.hone_free, self.handle)
        failed = 0
        for index, (w_x, w_h, b_x, b_h, w_r) in enumerate(matrices):
            w_x, w_h = _rows(w_x), _rows(w_h)
            b_x, b_h = (None if b is None else b.contiguous() for b in (b_x, b_h))
            failed |= library.hone_pack(self.handle, index, w_x.data_ptr(), w_x.stride(0), w_h.data_ptr(), w_h.stride(0), _pointer(b_x), _pointer(b_h))
            if w_r is not None:
                w_r = _rows(w_r)
                failed |= library.hone_pack_projection(self.handle, index, w_r.data_ptr(), w_r.stride(0))
        if head is not None:
            weight, bias = _rows(head[0]), None if head[1] is None else head[1].contiguous()
            failed |= library.hone_pack_head(self.handle, weight.data_ptr(), weight.stride(0), _pointer(bias))
        if failed:
            raise _Unsupported("out of memory for packed weights")

    def run(self, x, h0, c0, y, h_n, c_n, last_only=False, split=(0, 0, 0)):
        """x and y are [steps, batch, features] views in any layout; None where an output is not wanted."""
        x = _rows(x)
        call = _Call()
        call.steps, call.batch = x.size(0), x.size(1)
        call.x, call.x_step, call.x_row = x.data_ptr(), x.stride(0), x.stride(1)
        call.h0, call.c0 = _pointer(h0), _pointer(c0)
        if y is not None:
            call.y, call.y_step, call.y_row = y.data_ptr(), y.stride(0), y.stride(1)
        call.last_only = int(last_only)
        call.h_n, call.c_n = _pointer(h_n), _pointer(c_n)
        call.threads, call.split = _threads(), (ctypes.c_int64 * 3)(*split)
        if _library().hone_run(self.handle, ctypes.byref(call)) != 0:
            raise _Unsupported("out of memory for the kernel's buffers")
        return tuple(call.split)


def _digest(library, matrices, head):
    tensors = [t for group in matrices for t in group if t is not None] + [t for t in head or () if t is not None]
    parts = []
    for t in tensors:
        t = _rows(t)
        t = t.unsqueeze(0) if t.dim() == 1 else t
        parts.append(library.hone_digest(t.data_ptr(), t.size(0), t.size(1), t.stride(0)))
    return tuple(parts)


def _unsupported_tensor(*tensors):
    for t in tensors:
        if t is None:
            continue
        if type(t) not in _PLAIN:
            return "a %s is not a plain tensor" % type(t).__name__
        if t.device.type != "cpu" or t.layout != torch.strided:
            return "the CPU kernel takes dense CPU tensors"
        if t.dtype != torch.float32:
            return "the CPU kernel is float32 only, not %s" % t.dtype
    return None


def _check_plain(tensors):
    reason = _unsupported_tensor(*tensors)
    if reason is None and torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors):
        reason = "gradients are needed (run under torch.no_grad() for the kernel)"
    if reason is None and torch.jit.is_tracing():
        reason = "the model is being traced"
    if reason is None and _autocast("cpu"):
        reason = "CPU autocast is on"
    if reason is not None:
        raise _Unsupported(reason)


_packed = weakref.WeakKeyDictionary()  # module -> _Net; outside the module, so that copies and pickles of it stay plain


def _net_of(module, weights):
    plain, projected = 4 if module.bias else 2, getattr(module, "proj_size", 0)
    per = plain + (1 if projected else 0)
    matrices = []
    for i in range(0, len(weights), per):
        group = [w.detach() for w in weights[i : i + per]]
        matrices.append((*group[:plain], *(None,) * (4 - plain), group[plain] if projected else None))
    key = (_CELLS[module.mode], module.num_layers, 2 if module.bidirectional else 1, module.input_size, module.hidden_size, projected)
    net = _packed.get(module)
    # Versions miss changes made through .data, so the weights themselves are read: 1/(steps * batch) of the work.
    if net is None or net.key != key or net.digest != _digest(_library(), matrices, None):
        net = _Net(*key, matrices)
        with _lock:
            _packed[module] = net
    return net


def _forward(module, x, state):
    """What nn.RNN, nn.GRU and nn.LSTM return, with None for outputs that are declared unused."""
    weights = list(module._flat_weights)
    lstm = module.mode == "LSTM"
    if not isinstance(x, torch.Tensor):
        raise _Unsupported("a packed sequence is not covered")
    if lstm and state is not None and not (isinstance(state, tuple) and len(state) == 2):
        raise _Unsupported("the state is not a pair (h0, c0)")
    h0, c0 = state if lstm and state is not None else (state, None)
    _check_plain([x, h0, c0] + weights)
    if module.training and module.dropout > 0 and module.num_layers > 1:
        raise _Unsupported("dropout is active")
    batched = x.dim() == 3
    directions = 2 if module.bidirectional else 1
    if x.dim() not in (2, 3) or x.size(-1) != module.input_size or x.numel() == 0:
        return NotImplemented  # PyTorch raises the error
    sequence_first = x if batched and not module.batch_first else x.transpose(0, 1) if batched else x.unsqueeze(1)
    steps, batch = sequence_first.shape[:2]
    width = getattr(module, "proj_size", 0) or module.hidden_size
    shape, c_shape = ((module.num_layers * directions, batch, size) for size in (width, module.hidden_size))
    for s, full in ((h0, shape), (c0, c_shape)):
        if s is not None and tuple(s.shape) != (full if batched else (full[0], full[2])):
            return NotImplemented
    h0, c0 = (None if s is None else s.contiguous() for s in (h0, c0))
    wanted = _outputs_of(module) or ("sequence", "h_n", "c_n")
    with torch.no_grad():
        net = _net_of(module, weights)
        y = h_n = c_n = None
        last_only = "sequence" not in wanted and "last" in wanted
        length = 1 if last_only else steps
        if "sequence" in wanted or last_only:
            first, second = (batch, length) if module.batch_first else (length, batch)
            y = torch.empty(first, second, directions * width)
        if "h_n" in wanted:
            h_n = torch.empty(shape)
        if "c_n" in wanted and lstm:
            c_n = torch.empty(c_shape)
        view = y.transpose(0, 1) if y is not None and module.batch_first else y
        net.run(sequence_first, h0, c0, view, h_n, c_n, last_only)
        if not batched:
            y = None if y is None else y.squeeze(0 if module.batch_first else 1)
            h_n, c_n = (None if s is None else s.squeeze(1) for s in (h_n, c_n))
    return y, ((h_n, c_n) if lstm else h_n)


_elman_nets = collections.OrderedDict()  # the most recent hand-written loops, by their weights


def _elman(x_seq, h0, w_x, w_h, b_x, b_h, activation, head_weight, head_bias):
    tensors = (w_x, w_h, b_x, b_h, head_weight, head_bias)
    _check_plain([x_seq, h0, *tensors])
    if x_seq.dim() != 3 or x_seq.numel() == 0:
        raise _Unsupported("the loop needs an input [steps, batch, features] that is not empty")
    with torch.no_grad():
        key = tuple(None if t is None else (t.data_ptr(), tuple(t.shape), t.stride()) for t in tensors) + (activation,)
        w_x, w_h, b_x, b_h, head_weight, head_bias = (None if t is None else t.detach() for t in tensors)
        matrices = [(w_x, w_h, b_x, b_h, None)]
        head = None if head_weight is None else (head_weight, head_bias)
        with _lock:
            net = _elman_nets.get(key)
        if net is None or net.digest != _digest(_library(), matrices, head):
            net = _Net({"tanh": 0, "relu": 1}[activation], 1, 1, w_x.size(1), w_h.size(0), 0, matrices, head)
            with _lock:
                _elman_nets[key] = net
                while len(_elman_nets) > 16:
                    _elman_nets.popitem(last=False)
        hidden = w_h.size(0)
        y = torch.empty(x_seq.size(0), x_seq.size(1), hidden if head is None else head_weight.size(0))
        h_n = torch.empty(x_seq.size(1), hidden)
        h0 = None if h0 is None else h0.expand(x_seq.size(1), hidden).contiguous()
        net.run(x_seq, h0, None, y, h_n, None)
        return y, h_n

# softmax(q k' scale) v in one kernel, at float32's accuracy.
_SOURCES["attention"] = r"""@@attention.cu@@"""
_ATTENTION_BLOCK, _ATTENTION_ROWS = 64, 128


class _Heads(ctypes.Structure):
    _fields_ = [("outer", ctypes.c_longlong), ("inner", ctypes.c_longlong), ("count", ctypes.c_int), ("row", ctypes.c_longlong)]


def _attention_launch(device, stream, macros, entry, grid, shared, *arguments):
    function = _function(device, "attention", macros, entry)
    if shared > 48 * 1024:
        _allow_shared(function, shared)
    config = _Config(*grid, 1, 256, 1, 1, shared, stream, None, 0)
    pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(a) for a in arguments])
    _driver().launch((ctypes.byref(config), function, pointers, None))


def _at(tensor):
    return ctypes.c_void_p(None if tensor is None else tensor.data_ptr())


class _AttentionTerms:
    """An operand as two fp16 terms, in blocks of 64 rows with a scale each."""

    def __init__(self, device, stream, tensor):
        if tensor.stride(-1) != 1 or tensor.dim() > 4:
            tensor = tensor.contiguous()
        *lead, self.rows, self.width = tensor.shape
        if tensor.dim() > 4:
            tensor = tensor.view(1, math.prod(lead), self.rows, self.width)
        tensor, where = _heads_of(tensor)
        self.heads = tensor.shape[0] * tensor.shape[1]
        self.pad, self.blocks = _up(self.width, 16), -(-self.rows // _ATTENTION_BLOCK)
        count = self.heads * self.blocks
        self.terms = torch.empty(count * _ATTENTION_BLOCK * self.pad, dtype=torch.int32, device=tensor.device)
        self.scales = torch.empty(count, dtype=torch.float32, device=tensor.device)
        numbers = [ctypes.c_int(n) for n in (self.rows, self.width, self.pad)]
        _attention_launch(device, stream, {}, "attention_split", (self.blocks, self.heads), 0, _at(tensor), where, *numbers, _at(self.terms), _at(self.scales))


def _attention_tiles(mask):
    """For each tile of 128 queries and 64 keys: whether any query sees any key. `mask` is true where a key is hidden."""
    seen = torch.nn.functional.pad(~mask, (0, -mask.shape[1] % _ATTENTION_BLOCK, 0, -mask.shape[0] % _ATTENTION_ROWS))
    seen = seen.view(-1, _ATTENTION_ROWS, seen.shape[1] // _ATTENTION_BLOCK, _ATTENTION_BLOCK).any(3).any(1)
    return seen.t().contiguous().to(torch.uint8)


def _heads_of(tensor):
    """A tensor with two axes of heads, and the strides of these and of its rows."""
    while tensor.dim() < 4:
        tensor = tensor[None]
    return tensor, _Heads(tensor.stride(0), tensor.stride(1), tensor.shape[1], tensor.stride(2))


def _attention(query, key, value, mask, tiles, scale, causal, order):
    """mask: bool [queries, keys], true where a key is hidden, and its _attention_tiles. order: the order of the result's axes in memory."""
    device = query.get_device()
    stream = _raw_stream(device)
    q, k, v = (_AttentionTerms(device, stream, t) for t in (query, key, value))
    macros = {"WIDTH": q.pad, "VALUES": v.pad}
    if causal:
        macros["CAUSAL"] = 1
    if mask is not None:
        macros["MASKED"], mask = 1, mask.contiguous()
    shape = (*query.shape[:-1], v.width)
    out = torch.empty([shape[axis] for axis in order], dtype=torch.float32, device=query.device)
    out = out.permute([order.index(axis) for axis in range(len(order))])
    where = _heads_of(out if len(shape) <= 4 else out.view(1, -1, *shape[-2:]))[1]
    pitch = 4 * _ATTENTION_BLOCK  # bytes of both terms, per element of a row
    shared = _ATTENTION_ROWS // _ATTENTION_BLOCK * pitch * (q.pad + 8) + 2 * pitch * (q.pad + 8 + v.pad + 8)
    pointers = [*(_at(t) for t in (q.terms, k.terms, v.terms, q.scales, k.scales, v.scales, out)), where, _at(mask), _at(tiles)]
    numbers = [ctypes.c_int(q.rows), ctypes.c_int(k.rows), ctypes.c_int(v.width), ctypes.c_float(scale)]
    _attention_launch(device, stream, macros, "attention", (-(-q.rows // _ATTENTION_ROWS), q.heads), shared, *pointers, *numbers)
    return out

# Convolutions of float32 tensors on Hopper's fp16 tensor cores, with 11-bit operands like TF32's. If PyTorch must not use TF32, PyTorch runs.
@@part_conv.py@@

_CONV_COMMON = r"""@@part_conv.cu@@"""
_CONV_PRODUCT = r"""@@conv_product.cu@@
@@conv_plain.cu@@"""
_NO_CHAIN = """
namespace in_chain { struct Chain { const void* none; }; }
#define CHAIN(v, i) (v)
"""
_SOURCES["conv_pack"] = _CONV_COMMON + r"""
@@conv_pack.cu@@"""
_SOURCES["conv_product"] = _CONV_COMMON + _NO_CHAIN + _CONV_PRODUCT


def _chained_source(chain):
    """The name of the kernels with these maps after the convolution."""
    name = "conv_product_" + hashlib.sha256(chain.encode()).hexdigest()[:12]
    around = "\nnamespace in_chain {\n%s}\n#define CHAIN(v, i) in_chain::chained(chain, (in_chain::Index)(i), v)\n" % chain
    _SOURCES[name] = _FUSED_PRELUDE + _CONV_COMMON + around + _CONV_PRODUCT
    return name


class _Divider(ctypes.Structure):
    _fields_ = [("by", ctypes.c_uint), ("factor", ctypes.c_uint), ("shift", ctypes.c_uint)]


def _divider(by):
    shift = max(0, (by - 1).bit_length() - 1)
    return _Divider(by, 0 if by == 1 else -(-(1 << (32 + shift)) // by), shift)


class _Grid(ctypes.Structure):
    _fields_ = [("pitch", _Divider * 3), ("low", ctypes.c_int * 3), ("step", ctypes.c_int * 3), ("batches", ctypes.c_int)]


class _PackInput(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("batch_step", ctypes.c_longlong), ("channel_step", ctypes.c_longlong), ("axis_step", ctypes.c_longlong * 3), ("size", ctypes.c_int * 3)]


class _Output(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("batch_step", ctypes.c_uint64), ("channel_step", ctypes.c_uint64), *((n, ctypes.c_int * 3) for n in ("size", "step", "many"))]


class _Preset(ctypes.Structure):
    _fields_ = [("scale", ctypes.c_float), ("low", ctypes.c_uint), ("high", ctypes.c_uint)]


# One term holds a largest value from 2^-7 to 2^11 well, two terms one from 2^-6 to 2^7.
_PRESETS = {1: _Preset(16, (127 - 7) << 23, (127 + 11) << 23), 2: _Preset(256, (127 - 6) << 23, (127 + 7) << 23)}


class _ConvShape(ctypes.Structure):
    _fields_ = [("plane_pixels", ctypes.c_uint64), *((n, _Divider) for n in ("phases", "row_tiles", "groups")), *((n, ctypes.c_int) for n in ("tiles", "planes", "channels", "input_channels")),
                *((n, ctypes.c_uint) for n in ("stage_bytes", "ring", "table_steps"))]  # fmt: skip


class _Taps(ctypes.Structure):  # as conv_plain takes them
    _fields_ = [(n, ctypes.c_int * 3) for n in ("kernel", "stride", "padding", "dilation")] + [(n, ctypes.c_int) for n in ("groups", "channels", "units", "transposed")]


class _ConvCall:
    """One kernel with its grid and its arguments: numbers, or the ctypes values that a plan fills in before it launches."""

    def __init__(self, device, stream, macros, name, grid, threads, arguments, shared=0, source="conv_pack"):
        self.function = _function(device, source, macros, name)
        _allow_shared(self.function, shared)
        self.values = [ctypes.c_int(a) if type(a) is int else a for a in arguments]
        self.addresses = (ctypes.c_void_p * len(self.values))(*[ctypes.addressof(v) for v in self.values])
        self.config = _Config(*grid, threads, 1, 1, shared, stream, (_Attribute * 1)(), 0)
        self.launch = (ctypes.byref(self.config), self.function, self.addresses, None)


class _ConvTile:
    """The tiles of conv_product for a geometry: rows, pixels per warpgroup, stages, CTAs per processor."""

    def __init__(self, geometry, shared_bytes, rows=0, wide=256, ctas=1, direct=None):
        self.precise = geometry.terms == 2
        if self.precise:
            wide, ctas, direct = 128, 1, False
        self.geometry = geometry
        self.rows, self.wide, self.ctas = rows or (128 if geometry.rows > 64 else 64), wide, ctas
        self.pixels = self.wide * (1 if self.rows == 128 else 2)
        room = shared_bytes // self.ctas - 1024 - 8 * 16 * 40 * 4 - 4096
        for stages in (4, 3, 2):
            budget = room // stages // 128 * 128
            self.tables = _ConvTables(geometry, self.rows, self.pixels, budget)
            if self.tables.stage_bytes <= budget:
                break
        else:
            raise _Unsupported("a stage of a convolution does not fit")
        self.direct = geometry.regular and (self.tables.rereads < _CONV["direct_rereads"] if direct is None else direct)
        self.stages = max(2, min(8, room // self.tables.stage_bytes))
        self.vector = geometry.vector

    def macros(self):
        return dict(ROWS=self.rows, WIDE=self.wide, VECTOR=self.vector, CTAS=self.ctas, DIRECT=int(self.direct), PRECISE=int(self.precise), SPREAD=self.geometry.spread)

    @property
    def shared(self):
        return -(-8 * len(self.tables.steps) // 128) * 128 + self.stages * self.tables.stage_bytes


class _PackedWeights:
    """The weights of a convolution in the order in which its tiles read them. Every output channel is scaled by a power of two. Immutable."""

    def __init__(self, tile, weight):
        geometry, tables = tile.geometry, tile.tables
        g, units, channels, taps = geometry.groups, geometry.units, geometry.channels, math.prod(geometry.kernel)
        whole = weight.detach().reshape(g, channels, units, taps).transpose(1, 2) if geometry.transposed else weight.detach().reshape(g, units, channels, taps)
        largest = whole.abs().amax(dim=(2, 3))
        self.refused = not bool(torch.isfinite(largest).all())
        _, exponent = torch.frexp(largest)
        exponent = torch.where(largest > 0, 14 - exponent, 0).clamp(-100, 100)
        scaled = torch.ldexp(whole.reshape(g, units, channels * taps), exponent[..., None])
        high = scaled.half()
        terms = torch.cat([high, (scaled - high.float()).half()], dim=2)
        self.unscale = torch.ldexp(torch.ones_like(largest), -exponent).reshape(-1).contiguous()
        parts, at = [], 0
        row_tiles = -(-geometry.rows // tile.rows)
        for _, _, steps, *_ in tables.phases:
            slots = [(slot, term) for chunk, term in tables.slots[at : at + 2 * steps] for slot in chunk]
            at += 2 * steps
            rows = []
            for row in range(geometry.spread):
                places = [None if s is None or s[0][row] is None else s[1] * taps + s[0][row] + term * channels * taps for s, term in slots]
                index, known = torch.tensor([p or 0 for p in places], device=weight.device), torch.tensor([p is not None for p in places], device=weight.device)
                rows.append(torch.where(known, terms[:, :, index], 0))
            part = torch.stack(rows, dim=2).flatten(1, 2)
            part = torch.nn.functional.pad(part, (0, 0, 0, row_tiles * tile.rows - geometry.rows))
            parts.append(part.reshape(g, row_tiles, tile.rows, steps, 2, 8).permute(0, 1, 3, 4, 2, 5).reshape(-1))
        self.weights = torch.cat(parts)
        self.plans = collections.OrderedDict()


class _ConvPlan:
    """A convolution of inputs with this memory layout, on one stream. A call only fills in addresses."""

    def __init__(self, device, stream, convolution, tile, x, weight, packed, processors):
        geometry, tables = tile.geometry, tile.tables
        self.lock, self.device, self.shape = threading.Lock(), torch.device("cuda", device), convolution.made
        axes = geometry.axes
        three = ctypes.c_int * 3
        grid = _Grid((_Divider * 3)(*(_divider(a.pitch) for a in axes)), three(*(a.low for a in axes)), three(*(a.step for a in axes)), geometry.batch)
        full = lambda values, filler: (filler,) * (3 - len(values)) + tuple(values)
        self.input = _PackInput(None, x.stride(0), x.stride(1), (ctypes.c_longlong * 3)(*full(x.stride()[2:], 0)), three(*(a.size for a in axes)))
        plane = math.prod(a.out for a in axes)
        self.output = _Output(None, plane * geometry.groups * geometry.units, plane, three(*(a.out for a in axes)), three(*(a.out_step for a in axes)), three(*(a.many for a in axes)))
        pixels = geometry.pixels + geometry.reach  # zeros also follow the rows of the last image
        plane_pixels = pixels + tile.pixels + 8
        planes, preset = geometry.base_planes * geometry.groups, _PRESETS[geometry.terms]
        self.x_bytes = 0 if tile.direct else geometry.terms * planes * plane_pixels * 16 + tile.pixels * 16
        self.packed, self.out, self.bias, self.largest = (_pointer() for _ in range(4))
        sources = []
        for group in range(geometry.groups):
            for row in geometry.sources:
                for source in row:
                    channel, moves = (-1, (0, 0, 0)) if source is None else (source[0] + group * geometry.channels, source[1])
                    sources += [channel, moves[0] & 0xFFFF | (moves[1] & 0xFFFF) << 16, moves[2] & 0xFFFF]
        flat = lambda rows: [value for row in rows for value in row]
        words = [part for step in tables.steps for part in (step & 0xFFFFFFFF, step >> 32)]
        parts = [words, flat(tables.phases), flat(tables.stages), flat(tables.windows), sources]
        starts = [0]
        for part in parts:
            starts.append(starts[-1] + _up(len(part), 4))
        table = [0] * starts[-1]
        for start, part in zip(starts, parts):
            table[start : start + len(part)] = part
        self.table = torch.tensor([v - (1 << 32) if v >= 1 << 31 else v for v in table], dtype=torch.int32, device=self.device)
        steps, phases, stages, windows, source = (ctypes.c_void_p(self.table.data_ptr() + 4 * start) for start in starts[:-1])
        macros = tile.macros()
        blocks = min(-(-pixels // 256), max(1, 8 * processors * 8 // planes))
        self.calls = []
        for again in () if tile.direct else (0, 1):
            arguments = (self.input, grid, source, self.packed, ctypes.c_uint64(plane_pixels), ctypes.c_uint(pixels), self.largest, int(geometry.regular), geometry.base_planes, geometry.terms, preset, again)
            many = blocks if not again else max(1, processors // planes)
            self.calls.append(_ConvCall(device, stream, {}, "conv_pack", (many, planes, 1), 256, arguments))
        row_tiles = -(-geometry.rows // tile.rows)
        tiles = -(-geometry.pixels // tile.pixels) * row_tiles * geometry.groups * len(tables.phases)
        shape = _ConvShape(plane_pixels, _divider(len(tables.phases)), _divider(row_tiles), _divider(geometry.groups), tiles, geometry.planes, geometry.units, geometry.channels, tables.stage_bytes, tile.stages, len(tables.steps))
        threads, across = 384 if tile.direct else 288, (min(tiles, processors * tile.ctas), 1, 1)
        self.operands = convolution.operands
        self.chain = (ctypes.c_uint64 * max(1, len(self.operands)))()
        for again in (0, 1) if tile.direct else (0,):
            arguments = (shape, grid, self.output, self.packed, _pointer(packed.weights), _pointer(packed.unscale), self.bias, self.largest)
            self.calls.append(_ConvCall(device, stream, macros, "conv_product", across, threads, (*arguments, self.input, preset, again, phases, stages, windows, steps, self.chain), tile.shared, convolution.source))
        self.weight = _pointer()
        arguments = (self.input, self.output, convolution.taps, self.weight, self.bias, self.largest, geometry.batch, self.chain)
        self.calls.append(_ConvCall(device, stream, macros, "conv_plain", (4 * processors, 1, 1), 256, arguments, source=convolution.source))

    def __call__(self, x, weight, bias, given=()):
        given = iter(given)
        held = [None if expected is None else _as_expected(next(given), *expected) for expected in self.operands]
        scratch = torch.empty(self.x_bytes, dtype=torch.uint8, device=self.device)
        zeroed = torch.zeros(4, dtype=torch.int32, device=self.device)
        out = torch.empty(self.shape, dtype=torch.float32, device=self.device)
        driver = _driver()
        with self.lock:
            self.input.at, self.output.at, self.packed.value, self.largest.value = x.data_ptr(), out.data_ptr(), scratch.data_ptr(), zeroed.data_ptr()
            for i, tensor in enumerate(held):
                self.chain[i] = 0 if tensor is None else tensor.data_ptr()
            self.weight.value, self.bias.value = weight.data_ptr(), None if bias is None else bias.data_ptr()
            for call in self.calls:
                driver.launch(call.launch)
        return out


def _convolution_tf32():
    """Whether PyTorch's own convolutions may round to TF32 now."""
    if not torch.backends.cudnn.enabled:
        return False
    return torch.backends.cudnn.allow_tf32 if _precision_of is None else _precision_of("cuda", "conv") == "tf32"


class _Convolution:
    """One convolution of the graph. x, out: sizes of the tensors. kernel, stride, padding, dilation: one number per axis. chain: the maps that follow,
    the shape, strides and alignment of each tensor that they read (None if not given), and the shape of their result."""

    def __init__(self, x, out, kernel, stride, padding, dilation, groups, transposed, chain=None, operands=(), made=None):
        self.x, self.out, self.operands, self.made = x, out, operands, made or out
        self.source = _chained_source(chain) if chain else "conv_product"
        self.settings = (kernel, stride, padding, dilation, groups, transposed)
        self.geometry = _ConvGeometry(x, out, *self.settings)
        full = lambda values, filler: (ctypes.c_int * 3)(*((filler,) * (3 - len(values)) + tuple(values)))
        self.taps = _Taps(full(kernel, 1), full(stride, 1), full(padding, 0), full(dilation, 1), groups, self.geometry.channels, self.geometry.units, int(transposed))
        self.tile = self.precise = None

    def tile_for(self, precise, **choices):
        geometry = _ConvGeometry(self.x, self.out, *self.settings, terms=2) if precise else self.geometry
        return _ConvTile(geometry, _DEVICE["shared_bytes"], **choices)

    def _in_float32(self, weight):
        """Whether PyTorch computes this convolution in float32 although TF32 is allowed. That depends on the kernels that cuDNN has for the shapes."""
        if not _convolution_tf32():
            return True
        kernel, stride, padding, dilation, groups, transposed = self.settings
        generator = torch.Generator(weight.device).manual_seed(1)
        extra = [o - (i - 1) * s + 2 * p - d * (k - 1) - 1 if transposed else 0 for i, o, k, s, p, d in zip(self.x[2:], self.out[2:], kernel, stride, padding, dilation)]
        settings = (stride, padding, dilation, transposed, extra, groups)
        x = torch.randn(self.x, generator=generator, device=weight.device)
        own = torch.convolution(x, weight, None, *settings)[:1].double()
        wide = torch.convolution(x[:1].double(), weight.double(), None, *settings)
        return float((own - wide).norm()) < _CONV["float32_error"] * float(wide.norm())

    def pack(self, device, weight):
        properties = torch.cuda.get_device_properties(device)
        if properties.major != 9:
            return None
        self.processors = properties.multi_processor_count
        _driver().enter(device)
        if self.tile is None:
            try:
                self.precise = self._in_float32(weight.detach())
            except torch.cuda.OutOfMemoryError:
                self.precise = True
            self.tile = self.tile_for(self.precise)
        packed = _PackedWeights(self.tile, weight)
        if packed.refused:
            _warn_once(_Unsupported("weights of a convolution are not finite"))
        return packed

    def __call__(self, device, stream, x, weight, bias, packed, in_pytorch, given=()):
        if packed is None or packed.refused or not (self.precise or _convolution_tf32()):
            return in_pytorch()
        key = (device, stream, x.stride())
        plan = packed.plans.get(key)
        if plan is None:
            with _lock:
                plan = packed.plans[key] = _ConvPlan(device, stream, self, self.tile, x, weight, packed, self.processors)
                while len(packed.plans) > _PLANS_KEPT:
                    packed.plans.popitem(last=False)
        return plan(x, weight.contiguous(), None if bias is None else bias.contiguous(), given)

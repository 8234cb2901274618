# Runtime of Hone's Triton kernel for recurrent networks. One launch runs all steps. Each program has some hidden units and their
# columns of the weights. In every step it reads all of h and writes its own part of the next h. No program may run ahead, so every
# step ends with a barrier across the programs. The launch is cooperative: either all programs are resident or none starts.
# A stack of one direction runs as a wavefront, layer l one step behind layer l - 1; two directions run layer by layer, both at once.
import triton
import triton.language as tl

_DEPTH, _WARPS = 64, 4


@triton.jit
def _tanh(x):
    """Computes tanh from the sigmoid. Near zero that loses the leading digits, so up to a quarter it uses the series (error 1e-8)."""
    q = x * x
    near = x * (1.0 + q * (-1.0 / 3 + q * (2.0 / 15 + q * (-17.0 / 315 + q * (62.0 / 2835)))))
    return tl.where(q < 0.0625, near, 2 * tl.sigmoid(2 * x) - 1)


# If a cell has fewer than four gates, the others repeat the first one and are never read.
@triton.jit
def _load_gates(at, stride, mask, GATES: tl.constexpr):
    g0 = tl.load(at, mask=mask, other=0.0)
    g1, g2, g3 = g0, g0, g0
    if GATES >= 3:
        g1 = tl.load(at + stride, mask=mask, other=0.0)
        g2 = tl.load(at + 2 * stride, mask=mask, other=0.0)
    if GATES == 4:
        g3 = tl.load(at + 3 * stride, mask=mask, other=0.0)
    return g0, g1, g2, g3


@triton.jit
def _operand(x, PRECISION: tl.constexpr):
    """Rounds to TF32 if that is the precision. Tensor cores would truncate, which has twice the error. Weights are rounded already."""
    if PRECISION == "tf32":
        x = ((x.to(tl.int32, bitcast=True) + 4096) & -8192).to(tl.float32, bitcast=True)
    return x


@triton.jit
def _products(state, w, first_row, first_unit, stride, pitch, WIDTH: tl.constexpr, DEPTH: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, GATES: tl.constexpr,
              PRECISION: tl.constexpr):  # fmt: skip
    """ROWS rows of h times UNITS columns of every gate's w. Other programs have just written h, so it is read past the L1 cache (.cg)."""
    row = first_row + tl.arange(0, ROWS)[:, None]
    unit = first_unit + tl.arange(0, UNITS)[None, :]
    s0 = tl.zeros([ROWS, UNITS], tl.float32)
    s1, s2, s3 = s0, s0, s0
    for first in range(0, WIDTH, DEPTH):
        k = first + tl.arange(0, DEPTH)
        h = _operand(tl.load(state + row * WIDTH + k[None, :], mask=k[None, :] < WIDTH, other=0.0, cache_modifier=".cg"), PRECISION)
        w0, w1, w2, w3 = _load_gates(w + k[:, None] * pitch + unit, stride, (k[:, None] < WIDTH) & (unit < pitch), GATES)
        s0 = tl.dot(h, w0, s0, input_precision=PRECISION)
        if GATES >= 3:
            s1 = tl.dot(h, w1, s1, input_precision=PRECISION)
            s2 = tl.dot(h, w2, s2, input_precision=PRECISION)
        if GATES == 4:
            s3 = tl.dot(h, w3, s3, input_precision=PRECISION)
    return s0, s1, s2, s3


@triton.jit
def recurrent_steps(gates, w_hh, w_ih, bias, exchange, cells, y, h_n, c_n, arrived, steps, batch, parts,
                    CELL: tl.constexpr, GATES: tl.constexpr, HIDDEN: tl.constexpr, WIDTH: tl.constexpr, DEPTH: tl.constexpr,
                    UNITS: tl.constexpr, ROWS: tl.constexpr, SLABS: tl.constexpr, CHAINED: tl.constexpr, PRECISION: tl.constexpr):  # fmt: skip
    """A slab is a layer (CHAINED) or a direction. Program (part, slab, group) owns UNITS units of ROWS sequences.

    gates    [steps, batch, fed slabs, GATES, HIDDEN]: x W_ih' of the slabs that have an input of their own
    w_*      [slab, GATES, WIDTH, parts * UNITS], transposed and padded with zeros; bias [slab, 4, parts * UNITS]
    exchange [slab, 2, groups * ROWS, WIDTH]: h before and after a step, in turns; starts with h0, zeros in the padding
    """
    part = tl.program_id(0)
    slab = tl.program_id(1)
    group = tl.program_id(2)
    padded = parts * UNITS
    rows = tl.num_programs(2) * ROWS
    first_row = group * ROWS
    first_unit = part * UNITS
    row = first_row + tl.arange(0, ROWS)[:, None]
    unit = first_unit + tl.arange(0, UNITS)[None, :]
    live = (row < batch) & (unit < HIDDEN)
    fed = 1 if CHAINED else SLABS
    stride = WIDTH * padded
    own = slab * GATES * stride
    b0, b1, b2, b3 = _load_gates(bias + slab * 4 * padded + unit, padded, unit < padded, 4)
    h = tl.load(exchange + (slab * 2 * rows + row) * WIDTH + unit, mask=unit < WIDTH, other=0.0)
    c = tl.load(cells + (slab * rows + row) * WIDTH + unit, mask=unit < WIDTH, other=0.0)
    # Slabs of a chain wait for each other, directions only for themselves.
    counter = arrived + (group if CHAINED else group * SLABS + slab)
    members = parts * SLABS if CHAINED else parts

    # Before its first and after its last step a slab of a chain computes but stores nothing.
    for wave in range(0, steps + (SLABS - 1 if CHAINED else 0)):
        t = tl.minimum(tl.maximum(wave - slab, 0), steps - 1) if CHAINED else wave
        works = (wave - slab == t if CHAINED else slab >= 0) & live
        at = (t if CHAINED else tl.where(slab == 1, steps - 1 - t, t)).to(tl.int64)
        before = exchange + (slab * 2 + t % 2) * rows * WIDTH
        a0, a1, a2, a3 = _products(before, w_hh + own, first_row, first_unit, stride, padded, WIDTH, DEPTH, ROWS, UNITS, GATES, PRECISION)
        given = gates + ((at * batch + row) * fed + slab % fed) * (GATES * HIDDEN) + unit
        i0, i1, i2, i3 = _load_gates(given, HIDDEN, live & (slab < fed), GATES)
        if CHAINED:  # the first slab's w_ih is zero here: its input is in `gates`
            below = exchange + (tl.maximum(slab - 1, 0) * 2 + (t + 1) % 2) * rows * WIDTH
            j0, j1, j2, j3 = _products(below, w_ih + own, first_row, first_unit, stride, padded, WIDTH, DEPTH, ROWS, UNITS, GATES, PRECISION)
            i0, i1, i2, i3 = i0 + j0, i1 + j1, i2 + j2, i3 + j3
        if CELL == "GRU":
            r = tl.sigmoid(i0 + a0 + b0)
            z = tl.sigmoid(i1 + a1 + b1)
            n = _tanh(i2 + b2 + r * (a2 + b3))
            new = n + z * (h - n)
        elif CELL == "LSTM":
            next_c = tl.sigmoid(i1 + a1 + b1) * c + tl.sigmoid(i0 + a0 + b0) * _tanh(i2 + a2 + b2)
            new = tl.sigmoid(i3 + a3 + b3) * _tanh(next_c)
            c = tl.where(works, next_c, c)
        elif CELL == "RNN_TANH":
            new = _tanh(i0 + a0 + b0)
        else:
            new = tl.maximum(i0 + a0 + b0, 0.0)
        h = tl.where(works, new, h)
        tl.store(exchange + ((slab * 2 + (t + 1) % 2) * rows + row) * WIDTH + unit, h, mask=works)
        top = slab == SLABS - 1 if CHAINED else slab >= 0
        tl.store(y + ((at * batch + row) * fed + slab % fed) * HIDDEN + unit, h, mask=works & top)
        tl.debug_barrier()
        tl.atomic_add(counter, 1, sem="release")
        while tl.atomic_add(counter, 0, sem="acquire") < (wave + 1) * members:
            pass
        tl.debug_barrier()
    tl.store(h_n + (slab * batch + row) * HIDDEN + unit, h, mask=live)
    if CELL == "LSTM":
        tl.store(c_n + (slab * batch + row) * HIDDEN + unit, c, mask=live)


class _Shape:
    """How the hidden units, slabs and sequences are divided among the programs of one launch."""

    def __init__(self, cell, hidden, slabs, chained, batch, processors):
        self.cell, self.hidden, self.slabs, self.chained, self.batch = cell, hidden, slabs, chained, batch
        self.gates, self.width = _GATES[cell], -(-hidden // _DEPTH) * _DEPTH
        for rows in (16, 32, 64):
            for units in (16, 32, 64):
                self.rows, self.units, self.groups, self.parts = rows, units, -(-batch // rows), -(-hidden // units)
                if self.parts * slabs * self.groups <= processors:
                    return
        raise _Unsupported("%d units of %d sequences in %d layers or directions do not fit the device at once" % (hidden, batch, slabs))


class _Packed:
    """The weights of the slabs of one launch: transposed, padded, gate by gate."""

    def __init__(self, shape, matrices, precision):
        s, padded = shape, shape.parts * shape.units
        device = matrices[0][1].device
        self.w_hh = torch.zeros(s.slabs, s.gates, s.width, padded, device=device)
        self.w_ih = torch.zeros_like(self.w_hh) if s.chained else self.w_hh
        self.bias = torch.zeros(s.slabs, 4, padded, device=device)
        for slab, (w_ih, w_hh, b_ih, b_hh) in enumerate(matrices):
            by_gate = lambda w: w.reshape(s.gates, s.hidden, -1).transpose(1, 2)
            self.w_hh[slab, :, : s.hidden, : s.hidden] = by_gate(w_hh)
            if s.chained and slab > 0:
                self.w_ih[slab, :, : s.hidden, : s.hidden] = by_gate(w_ih)
            rows = _bias_rows(s.cell, s.hidden, b_ih, b_hh, device)
            self.bias[slab, : rows.size(0), : s.hidden] = rows
        if precision == "tf32":
            for w in {id(w): w for w in (self.w_hh, self.w_ih)}.values():
                w.view(torch.int32).add_(4096).bitwise_and_(-8192)


def _run(shape, packed, gates, h0, c0, steps, precision):
    """(y [steps, batch, fed * hidden], h_n, c_n) of one launch; h0 and c0 are [slabs, batch, hidden] or None."""
    s, device = shape, gates.device
    fed = 1 if s.chained else s.slabs
    exchange = torch.zeros(s.slabs, 2, s.groups * s.rows, s.width, device=device)
    cells = torch.zeros(s.slabs, s.groups * s.rows, s.width, device=device)
    if h0 is not None:
        exchange[:, 0, : s.batch, : s.hidden] = h0
    if c0 is not None:
        cells[:, : s.batch, : s.hidden] = c0
    y = torch.empty(steps, s.batch, fed * s.hidden, device=device)
    h_n, c_n = (torch.empty(s.slabs, s.batch, s.hidden, device=device) for _ in range(2))
    arrived = torch.zeros(s.groups * s.slabs, dtype=torch.int32, device=device)
    recurrent_steps[(s.parts, s.slabs, s.groups)](
        gates, packed.w_hh, packed.w_ih, packed.bias, exchange, cells, y, h_n, c_n, arrived, steps, s.batch, s.parts,
        CELL=s.cell, GATES=s.gates, HIDDEN=s.hidden, WIDTH=s.width, DEPTH=_DEPTH, UNITS=s.units, ROWS=s.rows, SLABS=s.slabs, CHAINED=s.chained,
        PRECISION=precision, num_warps=_WARPS, num_stages=3, launch_cooperative_grid=True)  # fmt: skip
    return y, h_n, c_n


def _layers(cell, matrices, directions, x, h0, c0, precision, packings):
    """x [steps, batch, inputs] through the stack: (y, h_n, c_n)."""
    steps, batch, _ = x.shape
    hidden, layers = matrices[0][1].shape[1], len(matrices) // directions
    processors = torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 8
    at_once = layers
    if layers > 1:
        try:
            if directions == 2:
                raise _Unsupported("both ends of a layer are needed for the next")
            shape = _Shape(cell, hidden, layers, True, batch, processors)
        except _Unsupported:
            at_once = 1
    if at_once == 1:
        shape = _Shape(cell, hidden, directions, False, batch, processors)
    h_n, c_n, y = [], [], x
    for first in range(0, layers, at_once):
        part = slice(first * directions, (first + at_once) * directions)
        key = (first, shape.parts, shape.units, shape.chained, precision)
        if key not in packings:
            packings[key] = _Packed(shape, matrices[part], precision)
        w_ih = torch.cat([m[0] for m in matrices[part]][:directions])
        gates = nn.functional.linear(y, w_ih).contiguous()  # hone: allow library-fallback
        y, h, c = _run(shape, packings[key], gates, None if h0 is None else h0[part], None if c0 is None else c0[part], steps, precision)
        h_n.append(h)
        c_n.append(c)
    return y, torch.cat(h_n), torch.cat(c_n)


def _check_call(tensors):
    for t in tensors:
        if t is not None and (type(t) not in _PLAIN or t.dtype is not torch.float32 or not t.is_cuda and not _INTERPRETED):
            raise _Unsupported("the kernel is for plain float32 tensors on a GPU")
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors):
        raise _Unsupported("gradients are needed (run under torch.no_grad() for the kernel)")
    if _autocast("cuda"):
        raise _Unsupported("autocast is on")


_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


class _Packings(_Entry):
    def __init__(self, weights):
        super().__init__(weights)
        self.packings = {}


def _precision(linear):
    """The precision of PyTorch's own products now: TF32, or float32 (here three TF32 products)."""
    if _INTERPRETED:
        return "ieee"
    if _precision_of is not None:
        return "tf32" if _precision_of("cuda", "matmul" if linear else "rnn") == "tf32" else "tf32x3"
    return "tf32" if (torch.backends.cuda.matmul if linear else torch.backends.cudnn).allow_tf32 else "tf32x3"


def _launched(call):
    """Raises errors of Triton and the driver as _Unsupported: no room for a cooperative launch, too much shared memory, no compiler."""
    try:
        return call()
    except (RuntimeError, triton.runtime.errors.OutOfResources, triton.compiler.CompilationError) as e:
        raise _Unsupported("the Triton kernel does not run here: %s" % str(e)[:300]) from None


def _forward(module, x, state):
    """What nn.RNN, nn.GRU and nn.LSTM return. All outputs are computed, whatever is declared unused."""
    if not isinstance(x, torch.Tensor):
        raise _Unsupported("a packed sequence is not covered")
    cell, weights = module.mode, module._flat_weights
    h0, c0 = state if cell == "LSTM" and state is not None else (state, None)
    _check_call((x, h0, c0, *weights))
    if getattr(module, "proj_size", 0) or module.training and module.dropout > 0 and module.num_layers > 1:
        raise _Unsupported("projected states and active dropout are not covered")
    directions = 2 if module.bidirectional else 1
    batched = x.dim() == 3
    if x.dim() not in (2, 3) or x.size(-1) != module.input_size or x.numel() == 0:
        return NotImplemented  # PyTorch raises the error
    rows = x.transpose(0, 1) if batched and module.batch_first else x if batched else x.unsqueeze(1)
    states = [s if s is None or batched else s.unsqueeze(1) for s in (h0, c0)]
    if any(s is not None and s.shape != (module.num_layers * directions, rows.size(1), module.hidden_size) for s in states):
        return NotImplemented
    with torch.no_grad(), _lock:
        # When weights change, any stream may still use the old ones.
        wait = lambda old: torch.cuda.synchronize(x.device) if old is not None and x.is_cuda else None
        kept = _entry_of(_entries, module, weights, _signature(weights), _Packings, wait)
        per = 4 if module.bias else 2
        matrices = [tuple(weights[i : i + per]) + (None,) * (4 - per) for i in range(0, len(weights), per)]
        precision = _precision(module.hone_cell)
        y, h_n, c_n = _launched(lambda: _layers(cell, matrices, directions, rows, *states, precision, kept.packings))
    y = (y.transpose(0, 1) if module.batch_first else y) if batched else y.squeeze(1)
    h_n, c_n = (h_n, c_n) if batched else (h_n.squeeze(1), c_n.squeeze(1))
    return y, ((h_n, c_n) if cell == "LSTM" else h_n)


def _elman(x_seq, h0, w_x, w_h, b_x, b_h, activation, head_weight, head_bias):
    _check_call((x_seq, h0, w_x, w_h, b_x, b_h, head_weight, head_bias))
    if x_seq.dim() != 3 or x_seq.numel() == 0:
        raise _Unsupported("the loop needs an input [steps, batch, features] that is not empty")
    with torch.no_grad():
        state = None if h0 is None else h0.expand(1, x_seq.size(1), w_h.size(0))
        cell = "RNN_TANH" if activation == "tanh" else "RNN_RELU"
        y, h_n, _ = _launched(lambda: _layers(cell, [(w_x, w_h, b_x, b_h)], 1, x_seq, state, None, _precision(True), {}))
        return (y if head_weight is None else nn.functional.linear(y, head_weight, head_bias)), h_n[0]

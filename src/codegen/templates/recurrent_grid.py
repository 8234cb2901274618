# Recurrent layers over the whole chip: one cooperative launch for a layer, its two directions, or several layers as a wavefront.
# Takes what does not fit clusters: larger hidden sizes, and batches that need more clusters than are resident.
import functools

_GRID_SOURCE = r"""@@recurrent_grid.cu@@"""

_SOURCES.update(recurrent_grid=_GRID_SOURCE)
_GRID = @@h200.json:grid@@  # what a step costs, in microseconds (docs/RECIPES.md)


class _GridSlab(ctypes.Structure):
    _fields_ = [(n, ctypes.c_void_p) for n in ("w_hh", "w_ih", "bias", "gates", "first", "h0", "c0", "hn", "cn", "y")] + [
        ("unscale", ctypes.c_float), ("unscale_gates", ctypes.c_float), ("reverse", ctypes.c_int), ("y_format", ctypes.c_int)]  # fmt: skip


@functools.lru_cache(None)
def _grid_problem_type(slabs):
    class Problem(ctypes.Structure):
        _fields_ = [("slab", _GridSlab * slabs)] + [(n, ctypes.c_longlong) for n in ("gates_t", "gates_b", "y_t", "y_b")] + [
            ("exchange", ctypes.c_void_p), ("error", ctypes.c_void_p)] + [(n, ctypes.c_int) for n in ("steps", "batch", "teams", "unused")]  # fmt: skip

    return Problem


class _GridShape:
    """The macros of a configuration of recurrent_grid.cu and what follows from them; the arithmetic is that of the kernel's own macros."""

    def __init__(self, cell, hidden, slabs, chained, units, warps, ntp, phases, parts=1, shared_limit=_DEVICE["shared_bytes"]):
        self.cell, self.hidden, self.slabs, self.chained, self.units = cell, hidden, slabs, chained, units
        self.warps, self.ntp, self.phases, self.parts = warps, ntp, phases, parts
        self.gates = _GATES[cell]
        self.row_gates = 4 if cell == "GRU" and chained else self.gates
        self.padded = _up(hidden, 32)
        self.ctas = -(-self.padded // units)
        self.wb = -(-(self.padded // 32) // warps)
        self.tiles = -(-self.row_gates * units // 16)
        self.tiles_used = self.tiles * 3 // 4 if cell == "GRU" and chained and units % 16 == 0 else self.tiles
        self.sequences = 8 * ntp * phases  # of a team
        self.threads = 32 * warps
        blocks = (2 if chained else 1) * self.wb
        chains = 2 if ntp * self.tiles * parts < 4 and self.wb > 1 else 1
        # Registers: sums, blocks of h, and as many blocks of weights as leave room for the rest (measured with the compiler).
        elements = ntp * 8 * units
        other = parts * chains * ntp * self.tiles * 4 + parts * ntp * self.wb * 4 * (2 if chained else 1)
        other += _GRID["round_registers"] * (-(-elements // self.threads) - 1) + _GRID["phase_registers"] * (phases > 1)
        self.regb = max(0, min(blocks, (_GRID["registers"] - other) // (parts * 8 * self.tiles_used)))
        shared = 2 * warps * ntp * self.tiles * 512 + (2 if cell == "LSTM" else 1) * phases * elements * 4
        shared += 2 * phases * self.gates * elements * 4 + units * 16
        self.weight_bytes = (blocks - self.regb) * 2 * self.tiles * parts * warps * 512
        self.shared_bytes = shared + self.weight_bytes + 16
        self.fits = other <= _GRID["registers"] - _GRID["spare_registers"] and self.shared_bytes <= shared_limit and self.wb <= _GRID["most_blocks"]
        self.slot_words = parts * ntp * phases * self.padded * 4
        self.macros = dict(CELL=cell, HIDDEN=hidden, SLABS=slabs, CHAINED=int(chained), UNITS=units, WARPS=warps, NTP=ntp, PHASES=phases,
                           PARTS=parts, REGB=self.regb, **_EXTRA_MACROS)  # fmt: skip


def _pack_grid(shape, w, scale, below=False):
    """[gates * hidden, k] in fp32 -> tensor-core fragments [part][rank][warp][kstep][tile][lane][8 halves]."""
    s, device = shape, w.device
    depth = s.warps * s.wb * 32
    full = torch.zeros(5, s.ctas * s.units, depth, device=device, dtype=torch.float32)  # the fifth "gate" stays zero
    full[: s.gates, : s.hidden, : w.shape[1]] = w.reshape(s.gates, s.hidden, -1).float() * scale
    count = lambda n: torch.arange(n, device=device)
    lane, reg = count(32)[:, None, None], count(4)[None, :, None]
    rank, warp, step, tile = (count(n).view(-1, *[1] * (6 - i)) for i, n in enumerate((s.ctas, s.warps, 2 * s.wb, s.tiles)))
    pair = tile * 8 + lane // 4  # a pair of rows: two units of one gate, rows g and g + 8 of the tile
    gate = pair // (s.units // 2)
    unit = rank * s.units + pair % (s.units // 2) * 2 + (reg & 1)
    if s.row_gates == 4 and s.cell == "GRU":  # rows r, z, hidden n, input n
        gate = torch.where(gate < 2, gate, torch.where(gate == (3 if below else 2), 2, 4))
    gate = torch.where(gate >= s.gates, 4, gate)
    k = (warp * s.wb + step // 2) * 32 + 8 * (lane % 4) + 4 * (step % 2) + 2 * (reg >> 1) + count(2)
    picked = full[gate, unit, k]
    terms = [picked.half()]  # hone: allow precision-downgrade
    if s.parts == 2:
        terms.append(((picked - terms[0].float()) * 2048).half())
    return torch.stack(terms).contiguous()


def _pack_grid_bias(shape, b_ih, b_hh, device):
    s = shape
    out = torch.zeros(s.ctas * s.units, 4, device=device, dtype=torch.float32)
    rows = _bias_rows(s.cell, s.hidden, b_ih, b_hh, device)
    out[: s.hidden, : rows.shape[0]] = rows.t()
    return out


class _GridKernel:
    """One compiled configuration on one device."""

    def __init__(self, device, shape):
        self.shape = shape
        self.function = _function(device, "recurrent_grid", shape.macros)
        driver = _driver()
        driver("cuFuncSetAttribute", self.function, _SHARED_BYTES, shape.shared_bytes)
        count = ctypes.c_int()
        driver("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(count), self.function, shape.threads, ctypes.c_size_t(shape.shared_bytes))
        self.resident = min(1, count.value) * torch.cuda.get_device_properties(device).multi_processor_count

    def config(self, teams, stream):
        attributes = (_Attribute * 1)()
        attributes[0].id, attributes[0].x = _ATTRIBUTE_COOPERATIVE, 1
        self.attributes = attributes
        return _Config(self.shape.slabs * teams * self.shape.ctas, 1, 1, self.shape.threads, 1, 1, self.shape.shared_bytes, stream, attributes, 1)


class _GridPlan(_Plan):
    """One shape on one stream, over the whole chip: a launch for each layer (both directions at once) or each few layers."""

    def __init__(self, stack, steps, batch, inputs, stream, x_by_batch=False, y_by_batch=False, wanted=("sequence", "h_n", "c_n"), batched=True):
        self.stack, self.stream, self.batch, self.torch_device = stack, stream, batch, torch.device("cuda", stack.device)
        self.lock = threading.Lock()
        self._set_outputs(stack, steps, batch, y_by_batch, wanted, batched)
        hidden, directions, gates = stack.hidden, stack.directions, stack.gates
        self.y_dtype = stack.dtype
        choice = _grid_choice(stack, steps, batch)
        width, y_width = directions * gates * hidden, directions * hidden
        self.gates_shape = (steps * batch, width)
        last = max(layer for _, layer, _ in choice.launches)
        self.between_shape = None if last == 0 else (steps * batch, y_width)
        self.products, self.launches, self.kept, self.exchange_words = {}, [], [], 0
        for shape, layer, direction in choice.launches:
            kernel = _grid_kernel(stack.device, shape)
            teams = -(-batch // shape.sequences)
            if shape.slabs * teams * shape.ctas > kernel.resident:
                raise _Unsupported("%d blocks must run at once, and %d fit the device" % (shape.slabs * teams * shape.ctas, kernel.resident))
            problem = _grid_problem_type(shape.slabs)()
            problem.steps, problem.batch, problem.teams, problem.error = steps, batch, teams, stack.error.data_ptr()
            by_batch, final = x_by_batch and layer == 0, layer == last
            problem.gates_t, problem.gates_b = (width, steps * width) if by_batch else (batch * width, width)
            problem.y_t, problem.y_b = (y_width, steps * y_width) if y_by_batch and final else (batch * y_width, y_width)
            if layer not in self.products:
                self.products[layer] = self._product_of(layer, steps * batch, width)
            slabs = []
            for i in range(shape.slabs):
                d = i if direction is None else direction  # of two directions
                index = layer * directions + (d if directions == 2 else i)
                hh, ih, bias, unscale = _grid_packing(stack, shape, index, shape.chained and i > 0)
                self.kept.append((hh, ih, bias))
                slab = problem.slab[i]
                slab.w_hh, slab.w_ih, slab.bias = hh.data_ptr(), _address(ih), bias.data_ptr()
                slab.unscale, slab.unscale_gates, slab.reverse = unscale, stack.layer_input(layer)[1], int(directions == 2 and d == 1)
                fed, top = directions == 2 or i == 0, directions == 2 or i == shape.slabs - 1
                slab.y_format = _FORMATS[self.y_dtype if final else stack.between] if top else 0
                slabs.append((ctypes.sizeof(_GridSlab) * i + _GridSlab.gates.offset, (4 * d * gates * hidden if directions == 2 else 0) if fed else None,
                              4 * index * batch * hidden, (d * hidden if directions == 2 else 0) if top else None))  # fmt: skip
            config = kernel.config(teams, stream)
            arguments = (ctypes.c_void_p * 1)(ctypes.addressof(problem))
            launch = (ctypes.byref(config), kernel.function, arguments, None)
            self.launches.append((problem, slabs, layer, direction in (None, 0), self.exchange_words, final, launch, config))
            self.exchange_words += shape.slabs * teams * (steps + 1 if shape.chained else 2) * shape.slot_words

    def _product_of(self, layer, rows, width):
        try:
            return _Plan._product_of(self, layer, rows, width)
        except _Unsupported:  # before Hopper there is no kernel for it; torch.mm then
            return None

    def __call__(self, x, h0, c0):
        stack = self.stack
        if stack.error_word.value:
            raise _Unsupported("a wait on the device outlasted the watchdog; the answer of an earlier call is not to be trusted")
        if _capturing():
            _captured.add(stack)
        empty, device = torch.empty, self.torch_device
        gates = empty(self.gates_shape, dtype=torch.float32, device=device)
        exchange = torch.zeros(self.exchange_words, dtype=torch.int32, device=device)
        between = [empty(self.between_shape, dtype=stack.between, device=device) for _ in range(2)] if self.between_shape else None
        y = empty(self.y_shape, dtype=self.y_dtype, device=device) if self.y_shape else None
        h_n = empty(self.state_shape, dtype=torch.float32, device=device) if self.h_n or self.last_state else None
        c_n = empty(self.state_shape, dtype=torch.float32, device=device) if self.c_n else None
        h0_at, c0_at, hn_at, cn_at, y_at = _address(h0), _address(c0), _address(h_n), _address(c_n), _address(y)
        first = self._first(h0)
        first_at, h0_at = (first.data_ptr(), 0) if first is not None else (0, h0_at)
        driver, pack = _driver(), _GRID_ADDRESSES.pack_into
        with self.lock:
            driver.enter(stack.device)
            into = None
            for problem, slabs, layer, new_layer, words, final, launch, _ in self.launches:
                if new_layer:
                    self._multiply(layer, layer, x if into is None else into, gates)
                    into = None if final else between[layer & 1]
                for at, gates_offset, state, y_offset in slabs:
                    out = 0
                    if y_offset is not None and (self.sequence if final else True):
                        out = y_at + y.element_size() * y_offset if final else into.data_ptr() + into.element_size() * y_offset
                    pack(problem, at, 0 if gates_offset is None else gates.data_ptr() + gates_offset, first_at and first_at + stack.gates * state,
                         h0_at and h0_at + state, c0_at and c0_at + state, hn_at and hn_at + state, cn_at and cn_at + state, out)  # fmt: skip
                problem.exchange = exchange.data_ptr() + 4 * words
                driver.launch(launch)
        y, _, c_n = self._answer(y, h_n, c_n)
        return y, h_n if self.h_n else None, c_n


_GRID_ADDRESSES = struct.Struct("7Q")  # gates, first, h0, c0, hn, cn, y
_FORMATS = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}


def _grid_kernel(device, shape):
    key = (device, tuple(sorted(shape.macros.items())))
    if key not in _grid_kernels:
        _grid_kernels[key] = _GridKernel(device, shape)
    return _grid_kernels[key]


_grid_kernels = {}


def _grid_packing(stack, shape, index, chained):
    """(W_hh, W_ih of a chained slab, biases, unscale). A chained slab adds both products up, so they share a scale."""
    key = ("grid", index, chained, shape.units, shape.warps, shape.parts, shape.chained)
    if key not in stack.packings:
        _not_while_capturing()
        w_ih, w_hh, b_ih, b_hh = stack.matrices[index]
        scale = min(_scale(w_hh), _scale(w_ih)) if chained else _scale(w_hh)
        ih = _pack_grid(shape, w_ih, scale, True) if chained else None
        stack.packings[key] = (_pack_grid(shape, w_hh, scale), ih, _pack_grid_bias(shape, b_ih, b_hh, w_hh.device), 1 / scale)
        torch.cuda.current_stream(stack.device).synchronize()  # other streams will read it
    return stack.packings[key]


def _grid_step_us(shape, teams, batch):
    s, cost = shape, _GRID
    both = 2 if s.chained else 1
    sequences = min(s.sequences, _up(batch, 8)) if batch >= 8 else batch
    l2 = s.parts * both * sequences * s.padded * 2 / 1024 * (s.slabs * teams * s.ctas) / cost["l2_ctas"]
    mma = both * 2 * s.wb * s.tiles_used * s.ntp * s.phases * (3 if s.parts == 2 else 1)  # of a warp
    each = -(-s.warps // 4) * cost["mma_us"] + (cost["mma_alone_us"] if s.warps <= 4 else 0)  # one warp alone does not hide its latency
    partial = s.phases * s.warps * s.ntp * s.tiles / 2
    rounds = s.phases * (-(-s.ntp * 8 * s.units // s.threads) - 1)
    return (cost["chain_us"] + (s.phases - 1) * cost["phase_us"] + rounds * cost["round_us"] + l2 * cost["l2_kb_us"] + mma * each
            + partial * cost["partial_kb_us"] + s.phases * s.weight_bytes / 1024 * cost["shared_kb_us"])  # fmt: skip


class _GridChoice:
    """All launches of a stack (shape, first layer, direction or None for all), and how long they are predicted to take."""

    def __init__(self, launches, us):
        self.launches, self.us = launches, us


def _grid_choice(stack, steps, batch):
    properties = torch.cuda.get_device_properties(stack.device)
    limit = getattr(properties, "shared_memory_per_block_optin", _DEVICE["shared_bytes"])
    return _choose_grid(stack.cell, stack.hidden, stack.layers, stack.directions, steps, batch, stack.parts, properties.multi_processor_count, limit, stack.inputs)


@functools.lru_cache(256)
def _choose_grid(cell, hidden, layers, directions, steps, batch, parts, processors, shared_limit, inputs=128):
    if cell not in ("GRU", "LSTM", "RNN_TANH"):
        raise _Unsupported("the states of %s are not bounded, and the kernel's exchange needs that" % cell)
    tiles = -(-batch // 8)

    @functools.lru_cache(None)
    def best(slabs, chained):
        found = None
        for warps in (8, 4, 2, 1):
            if warps > max(1, _up(hidden, 32) // 32):
                continue
            for units in (4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64):
                ctas = -(-_up(hidden, 32) // units)
                most = processors // (slabs * ctas)
                for teams in range(1, min(most, tiles) + 1):
                    per_team = -(-tiles // teams)
                    if -(-tiles // per_team) != teams:
                        continue  # the same as fewer teams
                    for ntp in (1, 2, 4):
                        if ntp > per_team:
                            continue
                        shape = _GridShape(cell, hidden, slabs, chained, units, warps, ntp, -(-per_team // ntp), parts, shared_limit)
                        if shape.fits:
                            us = _grid_step_us(shape, teams, batch)
                            if found is None or us < found[1]:
                                found = shape, us
        return found

    def product_us(layer):
        width, rate = (inputs, _GRID["tf32_flops_per_us"]) if layer == 0 else (directions * hidden, _GRID["half_flops_per_us"])
        return 2.0 * steps * batch * directions * _GATES[cell] * hidden * width / rate + _GRID["product_us"]

    choice = None
    for slabs_of in range(1, (layers if directions == 1 else 2) + 1):  # layers of one direction, or directions, at once
        launches, us = [], _GRID["call_us"]
        for first in range(0, layers, slabs_of if directions == 1 else 1):
            slabs = min(slabs_of, layers - first) if directions == 1 else slabs_of
            chained = directions == 1 and slabs > 1
            found = best(slabs, chained)
            if found is None:
                break
            shape, step = found
            apart = range(directions) if slabs < directions else [None]
            launches += [(shape, first, direction) for direction in apart]
            exchange = shape.slot_words * 4 * -(-batch // shape.sequences) * slabs * (steps + 1 if chained else 2)
            if exchange > _GRID["exchange_bytes"]:
                break
            us += product_us(first) + len(apart) * (_GRID["launch_us"] + exchange / _GRID["clear_bytes_per_us"] + (steps + (slabs - 1) * chained) * step)
        else:
            if choice is None or us < choice.us:
                choice = _GridChoice(launches, us)
    if choice is None:
        raise _Unsupported("%d hidden units of %s do not fit the chip at once" % (hidden, cell))
    return choice

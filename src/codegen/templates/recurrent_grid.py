# Recurrent layers over the whole chip: one cooperative launch for a layer, its two directions, or several layers as a wavefront.
# Takes what does not fit clusters: larger hidden sizes, and batches that need more clusters than are resident.
_GRID_SOURCE = r"""@@recurrent_grid.cu@@"""

_SOURCES.update(recurrent_grid=_GRID_SOURCE)


class _GridSlab(ctypes.Structure):
    _fields_ = [(n, ctypes.c_void_p) for n in ("w_hh", "w_ih", "bias", "gates", "h0", "c0", "hn", "cn", "y")] + [
        ("unscale", ctypes.c_float), ("unscale_gates", ctypes.c_float), ("reverse", ctypes.c_int), ("y_format", ctypes.c_int)]  # fmt: skip


@functools.lru_cache(None)
def _grid_problem_type(slabs):
    class Problem(ctypes.Structure):
        _fields_ = [("slab", _GridSlab * slabs)] + [(n, ctypes.c_longlong) for n in ("gates_t", "gates_b", "y_t", "y_b")] + [
            ("exchange", ctypes.c_void_p), ("error", ctypes.c_void_p)] + [(n, ctypes.c_int) for n in ("steps", "batch", "teams", "unused")]  # fmt: skip

    return Problem


class _GridShape:
    """The macros of a configuration of recurrent_grid.cu and what follows from them; the arithmetic is that of the kernel's own macros."""

    def __init__(self, cell, hidden, slabs, chained, units, warps, ntp, phases, parts=1, probe=0):
        self.cell, self.hidden, self.slabs, self.chained, self.units = cell, hidden, slabs, chained, units
        self.warps, self.ntp, self.phases, self.parts = warps, ntp, phases, parts
        self.gates = _GATES[cell]
        self.row_gates = 4 if cell == "GRU" and chained else self.gates
        self.padded = _up(hidden, 32)
        self.ctas = -(-self.padded // units)
        self.wb = -(-(self.padded // 32) // warps)
        self.tiles = -(-self.row_gates * units // 16)
        self.sequences = 8 * ntp * phases  # of a team
        self.threads = 32 * warps
        blocks = (2 if chained else 1) * self.wb
        used = self.tiles - 1 if self.row_gates == 4 and cell == "GRU" and units % 16 == 0 and units == 16 else self.tiles
        if cell == "GRU" and chained and units % 16 == 0:
            used = self.tiles * 3 // 4
        limit = 228 if warps <= 8 else 512 // -(-warps // 4) - 40
        chains = 2 if ntp * self.tiles * parts < 4 and self.wb > 1 else 1
        other = parts * chains * ntp * self.tiles * 4 + parts * ntp * self.wb * 4 * (2 if chained else 1)
        self.regb = max(0, min(blocks, (limit - other) // (parts * 8 * used)))
        elements = ntp * 8 * units
        shared = 2 * warps * ntp * self.tiles * 512 + (2 if cell == "LSTM" else 1) * phases * elements * 4
        shared += 2 * phases * self.gates * elements * 4 + units * 16
        shared += (blocks - self.regb) * 2 * self.tiles * parts * warps * 512
        self.shared_bytes = shared + 16
        self.fits = other + 60 <= (255 if warps <= 8 else limit + 40) and self.shared_bytes <= 227 * 1024
        self.macros = dict(CELL=cell, HIDDEN=hidden, SLABS=slabs, CHAINED=int(chained), UNITS=units, WARPS=warps, NTP=ntp, PHASES=phases,
                           PARTS=parts, REGB=self.regb, PROBE=probe, **_EXTRA_MACROS)  # fmt: skip

    def slot_words(self):
        return self.parts * self.ntp * self.phases * self.padded * 4


def _pack_grid(shape, w, scale, below=False):
    """[gates * hidden, k] in fp32 -> tensor-core fragments [part][rank][warp][kstep][tile][lane][8 halves]."""
    s, device = shape, w.device
    depth = s.warps * s.wb * 32
    full = torch.zeros(5, s.ctas * s.units, depth, device=device, dtype=torch.float32)  # the fifth "gate" stays zero
    full[: s.gates, : s.hidden, : w.shape[1]] = w.reshape(s.gates, s.hidden, -1).float() * scale
    count = lambda n: torch.arange(n, device=device)
    lane, reg = count(32)[:, None, None], count(4)[None, :, None]
    rank, warp, step, tile = count(s.ctas)[:, None, None, None, None, None, None], count(s.warps)[:, None, None, None, None, None], count(2 * s.wb)[:, None, None, None, None], count(s.tiles)[:, None, None, None]
    pair = tile * 8 + lane // 4  # a pair of rows: two units of one gate, rows g and g + 8 of the tile
    gate = pair // (s.units // 2)
    unit = rank * s.units + pair % (s.units // 2) * 2 + (reg & 1)
    if s.row_gates == 4 and s.cell == "GRU":  # rows r, z, hidden n, input n
        gate = torch.where(gate < 2, gate, torch.where(gate == (3 if below else 2), 2, 4))
    gate = gate.clamp(max=4)
    gate = torch.where(gate >= s.gates, 4, gate) if s.gates < 4 else gate
    k = (warp * s.wb + step // 2) * 32 + 8 * (lane % 4) + 4 * (step % 2) + 2 * (reg >> 1) + count(2)
    picked = full[gate, unit, k]
    terms = [picked.half()]
    if s.parts == 2:
        terms.append(((picked - terms[0].float()) * 2048).half())
    return torch.stack(terms).contiguous()


def _pack_grid_bias(shape, b_ih, b_hh, device):
    s = shape
    out = torch.zeros(s.ctas * s.units, 4, device=device, dtype=torch.float32)
    i, h = (torch.zeros(s.gates, s.hidden, device=device) if b is None else b.float().reshape(s.gates, s.hidden) for b in (b_ih, b_hh))
    rows = torch.stack([i[0] + h[0], i[1] + h[1], i[2], h[2]]) if s.cell == "GRU" else i + h
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
        return _Config(self.shape.slabs * teams * self.shape.ctas, 1, 1, self.shape.threads, 1, 1, self.shape.shared_bytes, stream, attributes, 1)

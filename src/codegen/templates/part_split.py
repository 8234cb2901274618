# Plans and launches products on Hopper's fp16 tensor cores at float32's accuracy (split_gemm.cu).
_SOURCES.update(split_gemm=r"""@@split_gemm.cu@@""")
_SPLIT = @@h200.json:split_gemm@@  # the kernel's tiles, and costs of products in microseconds; the recipe that wrote this file predicts with the same figures
_TILE, _DEPTH, _STAGES, _PANEL = _SPLIT["tile"], _SPLIT["depth"], _SPLIT["stages"], _SPLIT["panel"]
_SHORT_ROW = 1024  # numbers of a row that a warp of split_short_rows keeps
_SCALED_BITS = 15  # columns whose largest elements differ by at most this many powers of two keep float32's precision


class _Launch:
    """How a batch of rows x units x k is divided among the processors, and the predicted time."""

    def __init__(self, rows, units, width, processors, batches=1):
        self.row_tiles, self.unit_tiles, self.blocks, self.processors = -(-rows // _TILE), -(-units // _TILE), -(-width // _DEPTH), processors
        tiles = batches * self.row_tiles * self.unit_tiles
        # Two CTAs share the blocks of x or of w that both need. Clusters of four would leave processors idle.
        self.cluster = (1, 2) if self.unit_tiles % 2 == 0 else (2, 1) if self.row_tiles % 2 == 0 else (1, 1)
        cost, best = _SPLIT, None
        for splits in range(1, min(cost["most_parts"], max(1, self.blocks // cost["blocks_per_part"])) + 1):
            per_split = -(-self.blocks // splits)
            waves = -(-tiles * splits // processors)
            flops = 6 * _TILE * _TILE * _DEPTH * per_split * processors
            us = waves * (flops / cost["product_flops_per_us"] + cost["tile_us"]) + (2 * splits * batches * rows * units * 4 / cost["bytes_per_us"] + cost["sum_us"] if splits > 1 else 0)
            if best is None or us < best:
                best, self.splits, self.per_split = us, -(-self.blocks // per_split), per_split
        weight_us, out_us = 4 * units * width / cost["bytes_per_us"], 4 * batches * rows * units / cost["bytes_per_us"]
        self.us = cost["call_us"] + cost["split_bytes"] * rows * width / cost["bytes_per_us"] + max(best, weight_us)
        # PyTorch's tiles are wide as well.
        filled = rows if rows < cost["few_rows"] else max(rows, cost["filled_rows"])
        self.pytorch_us = max(2 * filled * units * width / cost["pytorch_flops_per_us"] + out_us, weight_us)
        self.pays = self.us < cost["of_pytorch"] * self.pytorch_us

    def clusters(self, batches):
        """How many tiles there are for a cluster to take."""
        return self.row_tiles * self.unit_tiles // (self.cluster[0] * self.cluster[1]) * self.splits * batches

    def macros(self, kept=0):
        return dict(KEPT=kept, CLUSTER_M=self.cluster[0], CLUSTER_N=self.cluster[1], TILE=_TILE, DEPTH=_DEPTH, STAGES=_STAGES, PANEL=max(1, _PANEL // self.cluster[0]), COLUMN_BITS=_SCALED_BITS)


class _Call:
    """One kernel with its grid and its arguments: numbers, or the ctypes values that a plan fills in before it launches."""

    def __init__(self, device, stream, macros, name, grid, threads, arguments, shared=0):
        self.function = _function(device, "split_gemm", macros, name)
        attributes, count = (_Attribute * 1)(), 0
        if shared:
            _allow_shared(self.function, shared)
            attributes[0].id, attributes[0].x, attributes[0].y, attributes[0].z = _ATTRIBUTE_CLUSTER, macros["CLUSTER_M"], macros["CLUSTER_N"], 1
            count = 1
        self.values = [ctypes.c_int(a) if type(a) is int else a for a in arguments]
        self.addresses = (ctypes.c_void_p * len(self.values))(*[ctypes.addressof(v) for v in self.values])
        self.config = _Config(*grid, threads, 1, 1, shared, stream, attributes, count)
        self.launch = (ctypes.byref(self.config), self.function, self.addresses, None)


class _Shape(ctypes.Structure):  # as split_product takes it
    _fields_ = [(name, ctypes.c_int) for name in ("rows", "units", "blocks", "blocks_per_split", "splits", "batches", "w_tiles", "x_tiles", "diagonal", "inner")]
    _fields_ += [(name, ctypes.c_uint64) for name in ("row_step", "inner_step", "outer_step")]


class _Matrix(ctypes.Structure):  # as split_rows and its like take it
    _fields_ = [("at", ctypes.c_void_p), *((name, ctypes.c_uint64) for name in ("row_step", "k_step", "inner_step", "outer_step")),
                *((name, ctypes.c_int) for name in ("inner", "rows", "width"))]  # fmt: skip


def _split_sizes(rows, width, name):
    """Bytes of the two fp16 terms of a matrix in blocks, and of its scales. x has a scale per row, w has a scale per row of each block."""
    padded = _up(rows, _TILE)
    return 4 * padded * _up(width, _DEPTH), 4 * padded * (-(-width // _DEPTH) if name == "w" else 1)


def _split_blocks_call(device, stream, macros, matrix, batches, terms, scales, columns=None, counters=None, wide=None, strict=0, odd_rows=None, odd=None, present=None):
    columns, counters, wide, odd_rows, odd, present = (_pointer() if given is None else given for given in (columns, counters, wide, odd_rows, odd, present))
    grid = (-(-matrix.rows // _TILE), -(-matrix.width // _DEPTH), batches)
    return _Call(device, stream, macros, "split_blocks", grid, 256, (matrix, terms, scales, columns, counters, wide, strict, odd_rows, odd, present))


def _split_rows_call(device, stream, macros, matrix, batches, terms, unscale, columns=None, columns_step=0, largest=None, odd=None, present=None):
    columns, largest, odd, present = (_pointer() if given is None else given for given in (columns, largest, odd, present))
    chunks, rows = _up(matrix.width, _DEPTH) // 8, _up(matrix.rows, _TILE)
    name, grid, threads = "split_rows", (rows, batches, 1), min(1024, _up(chunks, 32))
    if matrix.width <= _SHORT_ROW:
        name, grid, threads = "split_short_rows", (rows // 8, batches, 1), 256
    return _Call(device, stream, macros, name, grid, threads, (matrix, terms, unscale, columns, columns_step, largest, odd, present))


def _product_calls(device, stream, launch, macros, rows, units, arguments, batches=1, w_tiles=0, x_tiles=0, present=None, order=None, diagonal=0, steps=None):
    """arguments: the pointers of split_product up to the result. *_tiles: tiles from one matrix of a batch to the next; 0 if there is one matrix.
    present: the bits of the blocks of w and of x, and memory for an order of tiles. diagonal: where the wanted triangle of the result ends (KEPT).
    steps: the step from row to row of the result; for a batch with two axes also the length of the second, its step and the step of the first. None
    if the result is contiguous. Returns the calls and their shape."""
    across, down = launch.cluster
    clusters, at_once = launch.clusters(batches), max(1, launch.processors // (across * down))
    shape = _Shape(rows, units, launch.blocks, launch.per_split, launch.splits, batches, w_tiles, x_tiles, diagonal)
    shape.row_step, shape.inner, shape.inner_step, shape.outer_step = steps or (units, batches, rows * units, 0)
    of_w, of_x = present or (_pointer(), _pointer())
    calls = []
    if present and clusters > at_once:
        calls.append(_Call(device, stream, macros, "split_order", (1, 1, 1), 1024, (shape, of_w, of_x, order)))
    order = order if calls else _pointer()
    grid = (min(clusters, at_once) * across, down, 1)
    calls.append(_Call(device, stream, macros, "split_product", grid, 384, (*arguments, shape, of_w, of_x, order), _STAGES * (4 * _TILE * _DEPTH * 2 + 1024)))
    return calls, shape


def _sum_call(device, stream, launch, macros, size, sums, bias, out, units):
    return _Call(device, stream, macros, "split_sum", (min(1024, -(-size // 256)), 1, 1), 256, (sums, bias, out, ctypes.c_uint64(size), units, launch.splits))

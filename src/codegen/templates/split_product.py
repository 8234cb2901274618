# Products of two matrices in a graph, on Hopper's fp16 tensor cores at float32's accuracy. An operand that depends only on weights is split once. Other
# operands are split in every call. The device finds values that the kernels cannot handle accurately and computes them in plain float32.
@@part_split.py@@

_SOURCES["split_gemm"] += r"""
@@split_softmax.cu@@
@@split_plain.cu@@"""
_PLAIN_CTAS = 4  # of split_plain that one processor runs at once
_MEASURED_LINES = 64  # of a CTA of split_measure
_SOFTMAX_TURN = 256  # numbers of a row that a warp of split_softmax takes at once


# PyTorch's operators for the same result. They run if the kernel does not; the kernel computes all of them at once.
def _softmax_product(scores, other, factor, order):
    made = torch.matmul(torch.softmax(scores if factor == 1 else scores * factor, -1), other)
    return made if order is None else made.permute(order).contiguous().permute([order.index(axis) for axis in range(len(order))])


def _kept_product(x, other, kept, diagonal):
    return (torch.triu if kept == 1 else torch.tril)(torch.matmul(x, other), diagonal)


def _collapsed(shape, strides):
    """Merges axes that one stride can walk, and leaves out axes of length 1."""
    axes = []
    for size, stride in zip(shape, strides):
        if size == 1:
            continue
        if axes and axes[-1][1] == size * stride:
            axes[-1] = (axes[-1][0] * size, stride)
        else:
            axes.append((size, stride))
    return axes


class _Side:
    """One operand: the layout of its rows (along k) in memory, their number, and what splitting them needs."""

    def __init__(self, name, tensor, batch, softmax=None):
        """name: "x" or "w". batch: the shape of the batch; None where all leading axes of the tensor count rows. softmax: the operand is
        softmax(tensor * softmax)."""
        *lead, rows, width = tensor.shape
        *lead_strides, row_step, k_step = tensor.stride()
        along = _collapsed((*lead, rows), (*lead_strides, row_step)) if batch is None else _collapsed((rows,), (row_step,))
        matrices = [] if batch is None else _collapsed(batch, tensor.expand(*batch, rows, width).stride()[:-2])
        if len(matrices) == 1 and matrices[0][1] == 0:
            matrices = []  # one for the whole batch
        ordered = width == 1 or k_step == 1 or not along or along[0][1] == 1
        self.copied = len(along) > 1 or len(matrices) > 2 or not ordered or any(step < 0 for _, step in (*along, *matrices))
        self.copied = self.copied or softmax is not None and width > 1 and k_step != 1
        if self.copied:
            return
        self.rows = along[0][0] if along else 1
        row_step = along[0][1] if along else 0
        inner, inner_step = matrices[-1] if matrices else (1, 0)
        outer, outer_step = matrices[0] if len(matrices) == 2 else (1, 0)
        self.batches, self.width = inner * outer, width
        self.along_k = width == 1 or k_step == 1
        self.matrix = _Matrix(None, row_step, 1 if self.along_k else k_step, inner_step, outer_step, inner, self.rows, width)
        self.tiles = -(-self.rows // _TILE)
        terms, scales = _split_sizes(self.rows, width, name)
        self.name, self.terms_bytes, self.scales_bytes = name, self.batches * terms, self.batches * scales
        self.softmax, self.shares_bytes = softmax, 0 if softmax is None else 2 * self.scales_bytes
        # Memory that must be zero before a call: a flag for columns that are too wide, counters, a word per row, columns (read 16 bytes at a time), bits of blocks.
        self.rows_at = _up(1 + self.batches, 4)
        self.columns_at = self.rows_at + _up(self.batches * self.rows, 4)
        self.present_at = self.columns_at + _up(self.batches * width, 4)
        self.zeroed_words = self.present_at + _up(self.batches * self.tiles * -(-width // (32 * _DEPTH)), 4)
        self.terms, self.scales, self.shares, self.counters, self.of_rows, self.columns, self.wide, self.present = (_pointer() for _ in range(8))

    def place(self, scratch, zeroed):
        """Sets the addresses of its terms and of its flags and counters. Returns the first addresses behind them."""
        self.terms.value, self.scales.value, self.shares.value = scratch, scratch + self.terms_bytes, scratch + self.terms_bytes + self.scales_bytes
        self.wide.value, self.counters.value = zeroed, zeroed + 4
        self.of_rows.value, self.columns.value = zeroed + 4 * self.rows_at, zeroed + 4 * self.columns_at
        self.present.value = zeroed + 4 * self.present_at
        return scratch + self.bytes(), zeroed + 4 * self.zeroed_words

    def bytes(self):
        return self.terms_bytes + self.scales_bytes + self.shares_bytes

    def calls(self, device, stream, macros, odd, mask=None, mask_step=0, strict=0, measured=False):
        """mask: the columns of the guard, if this operand is not the guard. measured: the columns are needed."""
        if self.name == "w":
            return [_split_blocks_call(device, stream, macros, self.matrix, self.batches, self.terms, self.scales, self.columns, self.counters, self.wide, strict, self.of_rows, odd, self.present)]
        mask, measured, made = _pointer() if mask is None else mask, measured or not self.along_k, []
        if self.softmax is not None:
            arguments = (self.matrix, self.terms, self.scales, self.shares, ctypes.c_float(self.softmax), mask, mask_step, odd, self.present)
            return [_Call(device, stream, macros, "split_softmax", (self.tiles * _TILE // 8, self.batches, 1), 256, arguments)]
        if measured:
            fast, slow = (self.width, self.rows) if self.along_k else (self.rows, self.width)
            grid = (-(-fast // 128), -(-slow // _MEASURED_LINES), self.batches)
            made.append(_Call(device, stream, macros, "split_measure", grid, 256, (self.matrix, self.of_rows, self.columns, self.counters, self.wide, mask, mask_step)))
        if self.along_k:
            largest = self.of_rows if measured else None
            made.append(_split_rows_call(device, stream, macros, self.matrix, self.batches, self.terms, self.scales, mask, mask_step, largest, odd, self.present))
        else:
            grid = (self.tiles, -(-self.width // _DEPTH), self.batches)
            made.append(_Call(device, stream, macros, "split_columns", grid, 256, (self.matrix, self.terms, self.scales, mask, mask_step, self.of_rows, odd, self.present)))
        return made


class _PackedOperand:
    """The split operand `of` ("x" or "w") of a product; it depends only on weights. Immutable."""

    def __init__(self, device, tensor, batch, of, macros):
        self.of, self.side, self.plans = of, _Side(of, tensor, batch), collections.OrderedDict()
        if self.side.copied:
            tensor = tensor.contiguous()
            self.side = _Side(of, tensor, batch)
        side, self.tensor = self.side, tensor
        self.scratch = torch.empty(side.bytes(), dtype=torch.uint8, device=tensor.device)
        self.zeroed = torch.zeros(side.zeroed_words, dtype=torch.int32, device=tensor.device)
        side.matrix.at = tensor.data_ptr()
        side.place(self.scratch.data_ptr(), self.zeroed.data_ptr())
        for call in side.calls(device, _raw_stream(device), macros, _pointer(), measured=True):
            _driver().launch(call.launch)
        self.refused = bool(self.zeroed[0])  # also where a number is not finite
        columns = self.zeroed[side.columns_at :][: side.batches * side.width]
        self.mask = side.columns if bool((columns == 0).any()) else None


class _ProductPlan:
    """A product of operands with this memory layout, on one stream. A call only fills in addresses."""

    def __init__(self, device, stream, tensors, packed, batch, softmax, kept, order):
        self.lock, self.device = threading.Lock(), torch.device("cuda", device)
        self.sides, self.copied = {}, set()
        for name, tensor in tensors.items():
            factor = softmax if name == "x" else None
            side = packed.side if packed and packed.of == name else _Side(name, tensor, batch, factor)
            if side.copied:
                self.copied.add(name)
                side = _Side(name, tensor.contiguous(), batch, factor)
            self.sides[name] = side
        x, w = self.sides["x"], self.sides["w"]
        batches = max(x.batches, w.batches)
        launch = _product_launch(device, x.rows, w.rows, x.width, batches)
        # The same macros for all: each set is compiled by itself.
        macros = launch.macros(kept[0])
        if softmax is not None:
            macros["SOFTMAX_TURNS"] = -(-x.width // _SOFTMAX_TURN)
        divided, size = launch.splits > 1, batches * x.rows * w.rows
        self.out, self.bias, self.sums, self.odd, self.order_of_tiles = (_pointer() for _ in range(5))
        # The guard is the operand that is split already, else w. Zeros of w are left out of x, unless x is the guard or one x is for many w.
        of = packed.of if packed else None
        mask = None if of == "x" or x.batches < w.batches else packed.mask if of == "w" else w.columns
        self.dynamic, self.calls = [], []
        for name in ("w", "x"):
            if name != of:
                side = self.sides[name]
                self.dynamic.append((name, side))
                step = w.width if w.batches > 1 else 0
                self.calls += side.calls(device, stream, macros, self.odd, mask, step, int(of is None and mask is None))
        arguments = (w.terms, x.terms, w.scales, x.scales, self.bias, self.sums if divided else self.out)
        w_tiles, x_tiles = (side.tiles if side.batches > 1 else 0 for side in (w, x))
        # If k is divided, the sum of the parts is contiguous.
        self.reordered, steps = order is not None and divided, None
        if order is not None and not divided:
            lengths = (*batch, x.rows, w.rows)
            apart = {axis: math.prod(lengths[other] for other in order[place + 1 :]) for place, axis in enumerate(order)}
            outer, inner = ((1, 0), (1, 0), *((length, apart[axis]) for axis, length in enumerate(batch)))[-2:]
            steps = apart[len(batch)], inner[0], inner[1], outer[1]
        calls, shape = _product_calls(device, stream, launch, macros, x.rows, w.rows, arguments, batches, w_tiles, x_tiles, (w.present, x.present), self.order_of_tiles, kept[1], steps)
        self.calls += calls
        if divided:
            self.calls.append(_sum_call(device, stream, launch, macros, size, self.sums, self.bias, self.out, w.rows))
        tiles = -(-x.rows // 64) * -(-w.rows // 64) * batches
        odd_units, wide = _pointer() if of == "w" else w.of_rows, w.wide if of is None else _pointer()
        arguments = (x.matrix, w.matrix, x.scales, odd_units, _TILE * x_tiles, w.rows if w.batches > 1 else 0, wide, self.odd, self.bias, self.out, shape)
        arguments = (*arguments, _pointer() if softmax is None else x.shares, ctypes.c_float(softmax or 0))
        self.calls.append(_Call(device, stream, macros, "split_plain", (min(_PLAIN_CTAS * launch.processors, tiles), 1, 1), 256, arguments))
        self.zeroed_words = 4 + sum(side.zeroed_words for _, side in self.dynamic)
        self.order_at = _up(sum(side.bytes() for _, side in self.dynamic), 256)
        self.sums_at = self.order_at + _up(4 * (1 + launch.clusters(batches)), 256)
        self.scratch_bytes = self.sums_at + (4 * launch.splits * size if divided else 0)

    def __call__(self, tensors, bias, shape, order):
        for name in self.copied:
            tensors[name] = tensors[name].contiguous()
        scratch = torch.empty(self.scratch_bytes, dtype=torch.uint8, device=self.device)
        zeroed = torch.zeros(self.zeroed_words, dtype=torch.int32, device=self.device)
        made = torch.empty(shape if order is None else [shape[axis] for axis in order], dtype=torch.float32, device=self.device)
        if order is not None:
            made = made.permute([order.index(axis) for axis in range(len(order))])
        out = torch.empty(shape, dtype=torch.float32, device=self.device) if self.reordered else made
        driver, at, words = _driver(), scratch.data_ptr(), zeroed.data_ptr()
        with self.lock:
            self.out.value, self.bias.value = out.data_ptr(), None if bias is None else bias.data_ptr()
            self.sums.value, self.order_of_tiles.value, self.odd.value, words = at + self.sums_at, at + self.order_at, words, words + 16
            for name, side in self.dynamic:
                side.matrix.at = tensors[name].data_ptr()
                at, words = side.place(at, words)
            for call in self.calls:
                driver.launch(call.launch)
        return made.copy_(out) if self.reordered else out


_product_launches = {}


def _product_launch(device, *sizes):
    if (device, *sizes) not in _product_launches:
        properties = torch.cuda.get_device_properties(device)
        launch = _product_launches[(device, *sizes)] = _Launch(*sizes[:3], properties.multi_processor_count, sizes[3])
        launch.hopper = properties.major == 9
    return _product_launches[(device, *sizes)]


class _SplitProduct:
    """One product of the graph. x and w are functions that turn its operands into matrices with k as their last axis. `of` names the operand that
    depends only on weights. sizes: rows, units, k, and the number of products in the batch. batch: its shape, or None if all leading axes of x count
    as rows. softmax: x is softmax(x * softmax) along k. kept: the wanted triangle of the result (1: triu, 2: tril, 0: all) and its diagonal. order: the
    order of the result's axes in memory, if it is not contiguous."""

    def __init__(self, x, w, sizes, batch, shape, of=None, softmax=None, kept=(0, 0), order=None):
        self.softmax, self.kept, self.order = softmax, kept, order
        self.views, self.sizes, self.batch, self.shape, self.of = {"x": x, "w": w}, sizes, batch, shape, of
        self.plans = collections.OrderedDict()

    def pack(self, device, tensor):
        launch = _product_launch(device, *self.sizes)
        if not launch.hopper:
            return None
        _driver().enter(device)
        packed = _PackedOperand(device, self.views[self.of](tensor), self.batch, self.of, launch.macros())
        if packed.refused:
            _warn_once(_Unsupported("weights of a product are not finite or span too many powers of two"))
        return packed

    def __call__(self, device, stream, x, w, bias, packed, in_pytorch):
        if not _product_launch(device, *self.sizes).hopper or packed is not None and packed.refused or _linear_tf32():
            return in_pytorch()
        tensors = {"x": self.views["x"](x), "w": self.views["w"](w)}
        plans = self.plans if packed is None else packed.plans
        key = (device, stream, tensors["x"].stride(), tensors["w"].stride())
        plan = plans.get(key)
        if plan is None:
            with _lock:
                plan = plans[key] = _ProductPlan(device, stream, tensors, packed, self.batch, self.softmax, self.kept, self.order)
                while len(plans) > _PLANS_KEPT:
                    plans.popitem(last=False)
        return plan(tensors, None if bias is None else bias.contiguous(), self.shape, self.order)

# Runtime of Hone's CUDA kernels for recurrent networks (Hopper and later): packs the weights once and launches on torch's current
# stream. Each call allocates its own outputs and scratch memory, so calls on several streams and captures in CUDA graphs do not
# conflict. A captured graph keeps the weights of its capture. What a call passes to the driver is prepared per shape and stream, so
# that a call only fills in addresses.
import struct

_RECURRENT_SOURCE = r"""@@recurrent_cluster.cu@@"""

_PRODUCT_SOURCE = r"""@@product_tf32.cu@@"""

_SOURCES.update(recurrent_cluster=_RECURRENT_SOURCE, product_tf32=_PRODUCT_SOURCE)
_CLUSTER = @@h200.json:cluster@@  # what steps cost, in microseconds, and clusters that an H200 holds at once
_EXTRA_MACROS = {}  # tests add STALL_FOR_TEST and LIMIT_NS
_PRODUCT_SHARED = 55296
_LONG_SUM = 256
_SHORT_SUM = 64
_FADED = 64  # with more steps, the rounding of the first step no longer matters
_FULL_FLOAT32 = False  # whether recurrent layers stay at float32 level where PyTorch allows TF32
_HALF_PRODUCT = "out_dtype" in (torch.mm.__doc__ or "")  # fp16 operands with a float32 result, torch 2.8 and later


class _Slab(ctypes.Structure):
    _fields_ = [(n, ctypes.c_void_p) for n in ("w_hh", "w_ih", "bias", "gates", "first", "h0", "c0", "hn", "cn", "y", "y16")] + [
        ("unscale_hh", ctypes.c_float), ("unscale_ih", ctypes.c_float), ("reverse", ctypes.c_int), ("unused", ctypes.c_int)]  # fmt: skip


def _problem_type(slabs):
    class Problem(ctypes.Structure):
        _fields_ = [("slab", _Slab * slabs)] + [(n, ctypes.c_longlong) for n in ("gates_t", "gates_b", "y_t", "y_b", "y16_t", "y16_b")] + [
            (n, ctypes.c_void_p) for n in ("exchange", "flags", "control", "error")] + [(n, ctypes.c_int) for n in ("steps", "batch", "groups", "per_group")]  # fmt: skip

    return Problem


_SLAB_ADDRESSES = struct.Struct("8Q")  # gates, first, h0, c0, hn, cn, y, y16
_SHARED_ADDRESSES = struct.Struct("3Q")  # exchange, flags, control


class _Product:
    """out = a @ w' (+ bias) in fp32 storage on the TF32 tensor cores: one product, or three for about fp32."""

    def __init__(self, device, stream, weight, rows, terms, bias=None):
        self.weight, self.bias, self.lock = weight, bias, threading.Lock()
        n, k = weight.shape
        self.function = _function(device, "product_tf32", dict(PRODUCTS=terms, VECTOR=4 if k % 4 == 0 else 1))
        _driver()("cuFuncSetAttribute", self.function, _SHARED_BYTES, _PRODUCT_SHARED)
        self.a, self.out = ctypes.c_void_p(), ctypes.c_void_p()
        values = [self.a, ctypes.c_void_p(weight.data_ptr()), ctypes.c_void_p(_address(bias)), self.out, ctypes.c_longlong(k), ctypes.c_longlong(n),
                  ctypes.c_int(rows), ctypes.c_int(n), ctypes.c_int(k)]  # fmt: skip
        self.values, self.arguments = values, (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        self.config = _Config(-(-n // 64), -(-rows // 64), 1, 256, 1, 1, _PRODUCT_SHARED, stream, None, 0)
        self.launch = (ctypes.byref(self.config), self.function, self.arguments, None)

    def __call__(self, a, out):
        with self.lock:
            self.a.value, self.out.value = a.data_ptr(), out.data_ptr()
            _driver().launch(self.launch)


class _Shape:
    """The macros of a kernel configuration and what follows from them; the arithmetic is that of the kernel's own macros."""

    def __init__(self, cell, hidden, slabs, chained, sequences, cluster, ksplit, parts):
        self.cell, self.hidden, self.slabs, self.chained, self.sequences = cell, hidden, slabs, chained, sequences
        self.cluster, self.parts = cluster, parts
        self.gates = gates = _GATES[cell]
        self.tiles, per_thread = (1, 2) if gates == 1 else (2, 1)
        group_units = 8 * per_thread
        self.padded = _up(hidden, max(32 * ksplit, group_units * cluster))
        self.units = self.padded // cluster
        self.groups = self.units // group_units
        self.ksteps = self.padded // 16
        stages, ring, out = (8, 8, 16) if parts == 1 else (4, 8, 8)
        ih_regs = int(parts == 1 and self.ksteps * self.tiles * 4 <= 160)
        chains = 2 if chained else 4
        rec, inp = _up(self.groups * ksplit, 4) // 4, _up(self.groups, 4) // 4  # warpgroups
        products = rec * self.tiles * self.ksteps // ksplit * (1 if parts == 1 else 3)  # per scheduler and step
        # Cycles of a step that depend on the choice.
        cycles = _CLUSTER["cycles"]
        self.cycles = cycles["product"] * products + cycles["shared_k"] * (ksplit > 1) + cycles["missing_cta"] * (8 - min(cluster, 8))

        # setmaxnreg moves registers between whole warpgroups: 512 per lane and scheduler, in eights.
        need_rec = parts * self.tiles * self.ksteps // ksplit * 4 + 40 + self.tiles * 4 * (chains if parts == 1 else 2) + (16 if parts == 2 else 8)
        need_in = self.tiles * self.ksteps * 4 + 72 if ih_regs and chained else 72
        need_out = 40
        warpgroups = rec + inp + 1
        self.threads = 128 * warpgroups
        start = 512 // warpgroups // 8 * 8
        pool = start * warpgroups
        regs = min(240, (pool - need_out - inp * _up(need_in, 8)) // rec // 8 * 8)
        regs_in = min(240, (pool - need_out - rec * regs) // inp // 8 * 8)
        regs_out = min(start, (pool - rec * regs - inp * regs_in) // 8 * 8)

        self.pitch = 4 if sequences <= 4 else 8
        slot = parts * self.padded * self.pitch * 2
        shared = 2 * slot + ring * self.groups * (2 if gates == 1 else gates) * 32 * self.pitch + (stages * slot if chained else 0)
        shared += 2 * (ksplit - 1) * self.groups * self.tiles * 512
        shared += parts * self.groups * self.tiles * self.ksteps * 512 if chained and not ih_regs else 0
        self.shared_bytes = shared + out * self.units * 32 + (2 + out + 2 * stages) * 8 + 4 * (self.groups + 3)
        self.fits = regs >= need_rec and regs >= start and regs_out >= need_out and self.shared_bytes <= _DEVICE["shared_bytes"] and self.threads <= 1024
        self.macros = dict(CELL=cell, SLABS=slabs, CHAINED=int(chained), HIDDEN=hidden, PADDED=self.padded, CLUSTER=cluster, KSPLIT=ksplit,
                           PARTS=parts, SEQUENCES=sequences, STAGES=stages, CHAINS=chains, PASS=4 if ih_regs or not chained and parts == 1 else 2,
                           RING=ring, OUT=out, IH_REGS=ih_regs, SET_REGS=regs, SET_REGS_IN=regs_in, SET_REGS_OUT=regs_out, **_EXTRA_MACROS)  # fmt: skip


def _choose_shape(cell, hidden, slabs, chained, sequences, parts):
    best = None
    for cluster in (1, 2, 4, 8, 16):
        if cluster == 16 and best is not None:
            break  # half as many of them are resident
        for ksplit in (1, 2, 4):
            shape = _Shape(cell, hidden, slabs, chained, sequences, cluster, ksplit, parts)
            if shape.fits and (best is None or shape.cycles < best.cycles):
                best = shape
    if best is None:
        raise _Unsupported("%d hidden units of %s do not fit a cluster" % (hidden, cell))
    return best


class _Kernel:
    """One compiled configuration on one device."""

    def __init__(self, device, shape):
        self.shape = shape
        self.function = _function(device, "recurrent_cluster", shape.macros)
        driver = _driver()
        driver("cuFuncSetAttribute", self.function, _SHARED_BYTES, shape.shared_bytes)
        if shape.cluster > 8:
            driver("cuFuncSetAttribute", self.function, _LARGE_CLUSTERS, 1)
        self.problem_type = _problem_type(shape.slabs)
        count = ctypes.c_int()
        driver("cuOccupancyMaxActiveClusters", ctypes.byref(count), self.function, ctypes.byref(self.config(1, None)))
        self.resident = count.value

    def config(self, clusters, stream):
        attributes = (_Attribute * 3)()
        attributes[0].id, attributes[0].x, attributes[0].y, attributes[0].z = _ATTRIBUTE_CLUSTER, self.shape.cluster, 1, 1
        attributes[1].id, attributes[1].x = _ATTRIBUTE_OVERLAP, 1  # may start while the product before it ends; gates_role waits for it
        attributes[2].id, attributes[2].x = _ATTRIBUTE_COOPERATIVE, 1  # all clusters at once, which only a chain of slabs needs
        return _Config(clusters * self.shape.cluster, 1, 1, self.shape.threads, 1, 1, self.shape.shared_bytes, stream, attributes, 3 if self.shape.chained else 2)


def _scale(w):
    """The power of two that brings the largest weight into [2^13, 2^14), the upper end of fp16."""
    largest = float(w.abs().max())
    if not math.isfinite(largest):
        raise _Unsupported("a weight is not finite")
    return 2.0 ** min(100, 13 - math.floor(math.log2(largest))) if largest > 0 else 1.0


def _pack_weights(shape, w):
    """[gates * hidden, k] in fp32 -> tensor-core fragments [part][rank][group][tile][kstep][lane][8 halves], and the scale."""
    s, device = shape, w.device
    relu = s.cell == "RNN_RELU"
    scale = 1.0 if relu else _scale(w)
    full = torch.zeros(4, s.padded, s.padded, device=device, dtype=torch.float32)
    full[: s.gates, : s.hidden, : w.shape[1]] = w.reshape(s.gates, s.hidden, -1) * scale
    count = lambda n: torch.arange(n, device=device)
    lane, reg = count(32), count(4)
    row = (lane // 4)[:, None] + 8 * (reg & 1)  # [lane][reg]
    k = 2 * (lane % 4)[:, None, None] + 8 * (reg >> 1)[None, :, None] + count(2)  # [lane][reg][2]
    k = (16 * count(s.ksteps))[:, None, None, None] + k  # [kstep][lane][reg][2]
    rank = count(s.cluster)[:, None, None, None, None, None]  # [rank][group][tile][kstep][lane][reg]
    group = count(s.groups)[:, None, None, None, None]
    tile = count(s.tiles)[:, None, None, None]
    if s.gates == 1:
        gate, unit = row * 0 + tile * 0, rank * s.units + group * 16 + row
    else:
        gate, unit = 2 * tile + row // 8, rank * s.units + group * 8 + row % 8
    picked = full[gate[..., None], unit[..., None], k]
    terms = [picked.to(torch.bfloat16 if relu else torch.float16)]
    if s.parts == 2:
        terms.append((picked - terms[0].float()).to(terms[0].dtype))
    return torch.stack(terms).contiguous(), scale


def _pack_bias(shape, b_ih, b_hh, device):
    s = shape
    out = torch.zeros(s.padded, 4, device=device, dtype=torch.float32)
    rows = _bias_rows(s.cell, s.hidden, b_ih, b_hh, device)
    out[: s.hidden, : rows.shape[0]] = rows.t()
    return out


class _Stack:
    """Packed weights of a stack of layers on one device at one precision; never changed after construction.

    matrices: one (w_ih, w_hh, b_ih, b_hh) per layer, or per layer and direction; biases may be None. precision: "tf32" (11
    significant bits, as cuDNN's default), "fp32" (three products of two-term splits) or "half" (weights of 16 bits, computed as "tf32")."""

    def __init__(self, cell, matrices, directions, precision, device):
        if precision == "fp32" and cell == "RNN_RELU":
            raise _Unsupported("a ReLU's unbounded states are kept to 16 bits, and float32 is asked for")
        _not_while_capturing("before, and again after its weights changed")
        if precision == "half" and not _HALF_PRODUCT:
            raise _Unsupported("16-bit modules need a torch whose mm has out_dtype")
        self.cell, self.directions, self.precision, self.device, self.dtype = cell, directions, precision, device, matrices[0][1].dtype
        self.matrices = matrices
        self.hidden, self.gates, self.inputs = matrices[0][1].shape[1], _GATES[cell], matrices[0][0].shape[1]
        self.layers = len(matrices) // directions
        self.parts = 2 if precision == "fp32" or cell == "RNN_RELU" else 1
        self.slabs = directions if directions == 2 else self.layers
        self.chained = directions == 1 and self.layers > 1
        self.between = torch.float16 if precision != "fp32" and _HALF_PRODUCT else torch.float32
        # PyTorch computes the product of a given h0 in full float32. If the gates are plain sums, that product can be added to the input
        # part of the first step, and the kernel starts from zero.
        self.sums_gates = precision == "tf32" and cell != "GRU"
        self.kept_first_weights = None  # a copy, as all that calls read: captured graphs keep the weights of their capture
        # Input products: layer 0, and every layer of a bidirectional stack, both directions at once.
        self.input_weights = {layer: self._input_weight(layer) for layer in range(self.layers if directions == 2 else 1)}
        self.error = torch.zeros(1, dtype=torch.int32).pin_memory()
        self.error_word = ctypes.c_int.from_address(self.error.data_ptr())
        self.hand_written = False  # PyTorch would run it operator by operator
        self.kernels, self.packings, self.plans, self.heads = {}, {}, collections.OrderedDict(), {}

    def _input_weight(self, layer):
        first = layer * self.directions
        w = torch.cat([self.matrices[first + d][0] for d in range(self.directions)])
        if layer > 0 and self.between == torch.float16:
            scale = _scale(w) / 64  # states may be large where h0 is; the sums stay within fp32 anyway
            return (w.float() * scale).half().t().contiguous(), 1 / scale  # hone: allow precision-downgrade
        return w.t().contiguous() if self.precision == "half" else w.contiguous(), 1.0

    def layer_input(self, layer):
        """(the weights for the inputs of a layer, the factor for the result). 16-bit weights are transposed."""
        if layer not in self.input_weights:
            _not_while_capturing()
            self.input_weights[layer] = self._input_weight(layer)
            torch.cuda.current_stream(self.device).synchronize()  # other streams will read it
        return self.input_weights[layer]

    def first_weights(self):
        """W_hh' of all layers and directions, for the first step from a given h0."""
        if self.kept_first_weights is None:
            _not_while_capturing("with these states before")
            with _lock:
                if self.kept_first_weights is None:
                    weights = torch.stack([m[1] for m in self.matrices]).transpose(1, 2)
                    torch.cuda.current_stream(self.device).synchronize()  # other streams will read it
                    self.kept_first_weights = weights
        return self.kept_first_weights

    def kernel_for(self, batch):
        """(kernel, groups of sequences, packed weights). Takes as few sequences per cluster as the resident clusters allow, because the
        states of all sequences travel between the CTAs in every step."""
        if batch not in self.kernels:
            self.kernels[batch] = self._choose_kernel(batch)
        return self.kernels[batch]

    def _choose_kernel(self, batch):
        processors = torch.cuda.get_device_properties(self.device).multi_processor_count
        least = -(-batch // 8)
        for groups in sorted({least, -(-batch // 4), -(-batch // 5)}, reverse=True):
            sequences = -(-batch // groups)
            try:
                shape = _choose_shape(self.cell, self.hidden, self.slabs, self.chained, sequences, self.parts)
            except _Unsupported:
                if groups == least:
                    raise
                continue
            if groups != least and self.slabs * groups * shape.cluster > processors:
                continue  # they cannot all be resident, so compiling is not worth it
            kernel = _Kernel(self.device, shape)
            if self.slabs * groups <= kernel.resident:
                break
        else:
            if self.chained or kernel.resident < 1:  # clusters that do not wait for each other may come in turns
                raise _Unsupported("%d clusters must run at once, and %d fit the device" % (self.slabs * groups, kernel.resident))
        key = (shape.padded, shape.cluster)
        if key not in self.packings:
            _not_while_capturing()
            self.packings[key] = self._pack(shape)
            torch.cuda.current_stream(self.device).synchronize()  # other streams will read it
        return kernel, -(-batch // sequences), self.packings[key]

    def _pack(self, shape):
        packed = []
        for i, (w_ih, w_hh, b_ih, b_hh) in enumerate(self.matrices):
            hh, hh_scale = _pack_weights(shape, w_hh)
            ih, ih_scale = _pack_weights(shape, w_ih) if self.chained and i > 0 else (None, 1.0)
            packed.append((hh, ih, _pack_bias(shape, b_ih, b_hh, w_hh.device), 1 / hh_scale, 1 / ih_scale))
        return packed

    def plan(self, key, make):
        """The plan of this key, made under the lock. A refusal is kept as well, so that nothing is compiled twice."""
        plan = self.plans.get(key)
        if plan is None:
            with _lock:
                plan = self.plans.get(key)
                if plan is None:
                    try:
                        plan = make()
                    except _Unsupported as e:
                        if _capturing():
                            raise
                        plan = str(e)
                    self.plans[key] = plan
                    while len(self.plans) > _PLANS_KEPT:
                        self.plans.popitem(last=False)
        if type(plan) is str:
            raise _Unsupported(plan)
        return plan


def _address(tensor):
    return 0 if tensor is None else tensor.data_ptr()


class _Outputs:
    """What one call returns: shapes, and which of the outputs are wanted."""

    def _set_outputs(self, stack, steps, batch, y_by_batch, wanted, batched):
        hidden, directions = stack.hidden, stack.directions
        self.state_shape = torch.Size([stack.layers * directions, batch, hidden] if batched else [stack.layers * directions, hidden])
        self.h_n, self.c_n = "h_n" in wanted, "c_n" in wanted and stack.cell == "LSTM"
        # With one direction, the last step is the last layer's state. With two, it is taken from the sequence.
        self.last = "last" in wanted and "sequence" not in wanted
        self.last_state = self.last and directions == 1
        self.sequence = "sequence" in wanted or self.last and directions == 2
        length = 1 if self.last_state else steps
        self.y_shape = None
        if self.sequence or self.last_state:
            self.y_shape = torch.Size(([batch, length] if y_by_batch else [length, batch]) + [directions * hidden])
            if not batched:
                self.y_shape = torch.Size([length, directions * hidden])
        self.time_axis = 1 if y_by_batch and batched else 0
        # The precision of the first step is visible in outputs near it: of a short sequence, of all steps, or at the end of a reversed layer.
        self.adds_first = stack.sums_gates and (directions == 2 or self.sequence or steps < _FADED)

    def _first(self, h0):
        """What a given h0 adds to the first step of every layer and direction: [layers * directions, batch, gates * hidden]."""
        if h0 is None or not self.adds_first:
            return None
        weights = self.stack.first_weights()
        return torch.bmm(h0.view(weights.size(0), -1, weights.size(1)), weights)  # hone: allow library-fallback

    def _answer(self, y, h_n, c_n):
        if self.last:
            if self.last_state and h_n is not None:
                y.copy_(h_n[-1].view(y.shape))
            elif not self.last_state:
                y = y.narrow(self.time_axis, y.size(self.time_axis) - 1, 1)
        return y, h_n, c_n


class _Plan(_Outputs):
    """One shape on one stream, in clusters. x is [steps, batch, inputs], or [batch, steps, inputs] where x_by_batch; y likewise."""

    def __init__(self, stack, steps, batch, inputs, stream, x_by_batch=False, y_by_batch=False, wanted=("sequence", "h_n", "c_n"), batched=True):
        kernel, groups, packed = stack.kernel_for(batch)
        self.stack, self.kernel, self.packed, self.stream = stack, kernel, packed, stream
        self.lock = threading.Lock()
        self.torch_device = torch.device("cuda", stack.device)
        shape, hidden, directions = kernel.shape, stack.hidden, stack.directions
        self._set_outputs(stack, steps, batch, y_by_batch, wanted, batched)

        width = directions * shape.gates * hidden
        self.gates_shape = (steps * batch, width)
        self.between_shape = (steps * batch, directions * hidden) if directions == 2 and stack.layers > 1 else None
        self.exchange_words = shape.slabs * groups * steps * shape.parts * shape.padded * shape.pitch // 2 if shape.chained else 0
        self.control_words = 8 + shape.slabs * groups * shape.cluster if shape.chained else 0
        self.control = None  # counters that only grow from launch to launch; a captured graph has its own
        self.config = kernel.config(shape.slabs * groups, stream)

        rows = steps * batch
        self.products, self.launches = [], []
        for layer in range(stack.layers if directions == 2 else 1):
            self.products.append(self._product_of(layer, rows, width))
            problem = kernel.problem_type()
            problem.steps, problem.batch, problem.groups, problem.per_group = steps, batch, groups, shape.sequences
            problem.error = stack.error.data_ptr()
            by_batch = x_by_batch and layer == 0
            problem.gates_t, problem.gates_b = (width, steps * width) if by_batch else (batch * width, width)
            final = directions == 1 or layer == stack.layers - 1
            y_width = directions * hidden
            problem.y_t, problem.y_b = (y_width, steps * y_width) if y_by_batch and final else (batch * y_width, y_width)
            problem.y16_t, problem.y16_b = batch * y_width, y_width
            slabs = []
            for i in range(shape.slabs):
                index = layer * 2 + i if directions == 2 else i
                hh, ih, bias, unscale_hh, unscale_ih = packed[index]
                slab = problem.slab[i]
                slab.w_hh, slab.w_ih, slab.bias = hh.data_ptr(), None if ih is None else ih.data_ptr(), bias.data_ptr()
                slab.unscale_hh, slab.unscale_ih = unscale_hh, stack.input_weights[layer][1] if ih is None else unscale_ih
                slab.reverse = int(directions == 2 and i == 1)
                fed = directions == 2 or i == 0
                top = directions == 2 or i == shape.slabs - 1
                slabs.append((
                    ctypes.sizeof(_Slab) * i + _Slab.gates.offset,
                    4 * i * shape.gates * hidden if fed else None,
                    4 * index * batch * hidden,
                    (i * hidden if directions == 2 else 0) if top else None,
                ))  # fmt: skip
            arguments = (ctypes.c_void_p * 1)(ctypes.addressof(problem))
            shared_at = kernel.problem_type.exchange.offset
            self.launches.append((problem, slabs, shared_at, final, (ctypes.byref(self.config), kernel.function, arguments, None)))

    def _product_of(self, layer, rows, width):
        """The product for the inputs of a layer: a _Product, or None for torch.mm."""
        stack = self.stack
        weight, _ = stack.layer_input(layer)
        if weight.dtype != torch.float32:
            return None
        if stack.precision == "fp32":
            # PyTorch's own float32 product, unless a lower precision is allowed or it adds up so many terms one by one that its rounding
            # shows (measured: 1,024 terms err by 5e-7, twice what PyTorch's narrow products of single steps do).
            return _Product(stack.device, self.stream, weight, rows, 3) if _linear_tf32() or weight.shape[1] > _LONG_SUM else None
        return _Product(stack.device, self.stream, weight, rows, 1) if weight.shape[1] >= 32 else None

    def _multiply(self, number, layer, rows, gates):
        weight = self.stack.input_weights[layer][0]
        if self.products[number] is not None:
            self.products[number](rows, gates)
        elif weight.dtype != torch.float32:
            torch.mm(rows.view(gates.size(0), -1), weight, out_dtype=torch.float32, out=gates)
        else:
            torch.mm(rows.view(gates.size(0), -1), weight.t(), out=gates)

    def __call__(self, x, h0, c0):
        """(y, h_n, c_n), None for what is not wanted. x and the states are contiguous and of the plan's shapes."""
        stack = self.stack
        if stack.error_word.value:
            raise _Unsupported("a wait on the device outlasted the watchdog; the answer of an earlier call is not to be trusted")
        capturing = _capturing()
        if capturing:
            _captured.add(stack)
        empty, float32, device = torch.empty, torch.float32, self.torch_device
        gates = empty(self.gates_shape, dtype=float32, device=device)
        between = exchange = control = None
        if self.between_shape:
            between = empty(self.between_shape, dtype=stack.between, device=device)
        if self.exchange_words:
            exchange = empty(self.exchange_words, dtype=torch.int32, device=device)
        y = empty(self.y_shape, dtype=float32, device=device) if self.y_shape else None
        h_n = empty(self.state_shape, dtype=float32, device=device) if self.h_n else None
        c_n = empty(self.state_shape, dtype=float32, device=device) if self.c_n else None
        gates_at = gates.data_ptr()
        h0_at, c0_at, hn_at, cn_at, y_at = _address(h0), _address(c0), _address(h_n), _address(c_n), _address(y)
        between_at, exchange_at = _address(between), _address(exchange)
        first = self._first(h0)
        first_at, h0_at = (first.data_ptr(), 0) if first is not None else (0, h0_at)
        half, rows = stack.between == torch.float16, x
        driver, pack = _driver(), _SLAB_ADDRESSES.pack_into
        with self.lock:
            driver.enter(stack.device)
            if self.control_words:
                if capturing:
                    control = torch.zeros(self.control_words, dtype=torch.int32, device=device)
                else:
                    if self.control is None:
                        self.control = torch.zeros(self.control_words, dtype=torch.int32, device=device)
                    control = self.control
            control_at = _address(control)
            for layer, (problem, slabs, shared_at, final, launch) in enumerate(self.launches):
                self._multiply(layer, layer, rows, gates)
                for at, gates_offset, state, y_offset in slabs:
                    y32 = y16 = 0
                    hn = hn_at and hn_at + state
                    if y_offset is not None:
                        if not final:
                            y32, y16 = (0, between_at + 2 * y_offset) if half else (between_at + 4 * y_offset, 0)
                        elif self.sequence:
                            y32 = y_at + 4 * y_offset
                        elif self.last_state and not hn:
                            hn = y_at
                    pack(problem, at, 0 if gates_offset is None else gates_at + gates_offset, first_at and first_at + stack.gates * state, h0_at and h0_at + state,
                         c0_at and c0_at + state, hn, cn_at and cn_at + state, y32, y16)  # fmt: skip
                _SHARED_ADDRESSES.pack_into(problem, shared_at, exchange_at, control_at and control_at + 32, control_at)
                driver.launch(launch)
                rows = between
        return self._answer(y, h_n, c_n)


def _make_plan(*arguments):
    """The plan of the kernel that is predicted to be the fastest for a shape. Other runtimes register their kernels here."""
    return _PLANNERS[-1](*arguments)


_PLANNERS = [_Plan]


def _cudnn_tf32():
    """Whether PyTorch's own recurrent layers may round to TF32 now."""
    if _FULL_FLOAT32:
        return False
    if not torch.backends.cudnn.enabled:
        return _linear_tf32()
    if _precision_of is not None:
        return _precision_of("cuda", "rnn") == "tf32"
    return torch.backends.cudnn.allow_tf32


_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def _check_weights(tensors, device, dtype=torch.float32):
    for t in tensors:
        if t is not None and (type(t) not in _PLAIN or t.dtype is not dtype or t.get_device() != device):
            raise _Unsupported("weights have to be tensors of the input's type on its device")


def _check_call(x, states, weights):
    """The device's number. Raises if the kernel does not support the call. Runs in every call, so it is kept short."""
    if type(x) not in _PLAIN:
        raise _Unsupported("a %s is not a plain tensor" % type(x).__name__)
    device = x.get_device()
    if not x.is_cuda:
        raise _Unsupported("the input is on %s and the kernel is for CUDA" % x.device)
    if x.dtype not in _DTYPES:
        raise _Unsupported("the kernel is for float32, float16 and bfloat16, not %s" % x.dtype)
    for t in states:
        if t is not None and (type(t) not in _PLAIN or t.dtype is not x.dtype or t.get_device() != device):
            raise _Unsupported("states have to be tensors of the input's type on its device")
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, *states, *weights)):
        raise _Unsupported("gradients are needed (run under torch.no_grad() for the kernel)")
    if torch._C._get_tracing_state() is not None:
        raise _Unsupported("the model is being traced")
    if _autocast("cuda"):
        raise _Unsupported("autocast is on")
    return device


class _Stacks(_Entry):
    """What was packed of one set of weights, by precision."""

    def __init__(self, weights, group):
        super().__init__(weights)
        self.matrices, self.stacks = group(weights), {}

    def stack(self, cell, directions, precision, device):
        stack = self.stacks.get(precision)
        if stack is None:
            with _lock:
                stack = self.stacks.get(precision)
                if stack is None:
                    stack = self.stacks[precision] = _Stack(cell, self.matrices, directions, precision, device)
        return stack


def _stacks_of(table, key, tensors, group, device, dtype=torch.float32):
    def prepare(entry):
        _before_packing(device, entry is not None or len(_elman_entries) >= _LOOPS_KEPT)
        _check_weights(tensors, device, dtype)
        while len(_elman_entries) >= _LOOPS_KEPT:
            _elman_entries.popitem(last=False)

    return _entry_of(table, key, tensors, _signature(tensors), lambda weights: _Stacks(weights, group), prepare)


_LOOPS_KEPT = 16
_elman_entries = collections.OrderedDict()  # the most recent hand-written loops, by their weights


def _contiguous(t):
    return t if t is None or t.is_contiguous() else t.contiguous()


def _forward(module, x, state):
    """What nn.RNN, nn.GRU and nn.LSTM return, with None for outputs that are declared unused."""
    weights, cell = module._flat_weights, module.mode
    h0, c0 = state, None
    if not isinstance(x, torch.Tensor):
        raise _Unsupported("a packed sequence is not covered")
    if cell == "LSTM" and state is not None:
        if not isinstance(state, (tuple, list)) or len(state) != 2:
            return NotImplemented
        h0, c0 = state
    device = _check_call(x, (h0, c0), weights)
    if module.training and module.dropout > 0 and module.num_layers > 1:
        raise _Unsupported("dropout is active")
    if device != torch.cuda.current_device():
        with torch.cuda.device(device):
            return _on_device(module, cell, weights, x, h0, c0, device)
    return _on_device(module, cell, weights, x, h0, c0, device)


def _on_device(module, cell, weights, x, h0, c0, device):
    directions, outputs = 2 if module.bidirectional else 1, _outputs_of(module)

    def group(tensors):
        per = 4 if module.bias else 2
        return [tuple(tensors[i : i + per]) + (None,) * (4 - per) for i in range(0, len(tensors), per)]

    def make():
        if getattr(module, "proj_size", 0):
            raise _Unsupported("proj_size is not covered")
        batched = x.dim() == 3
        steps, batch = (x.size(0), 1) if not batched else (x.size(1), x.size(0)) if module.batch_first else (x.size(0), x.size(1))
        wanted = outputs or ("sequence", "h_n", "c_n")
        by_batch = module.batch_first and batched
        return _make_plan(stack, steps, batch, x.size(-1), stream, by_batch, by_batch, wanted, batched)

    if x.dim() not in (2, 3) or x.size(-1) != module.input_size or x.numel() == 0 or x.dtype is not weights[0].dtype:
        return NotImplemented  # PyTorch raises the error
    with torch.no_grad():
        entry = _stacks_of(_entries, module, weights, group, device, x.dtype)
        tf32 = _linear_tf32() if module.hone_cell else _cudnn_tf32()
        half = x.dtype is not torch.float32
        stack = entry.stack(cell, directions, "half" if half else "tf32" if tf32 else "fp32", device)
        stack.hand_written = module.hone_cell
        stream = _raw_stream(device)
        plan = stack.plan((x.shape, stream, module.batch_first, outputs, tf32 or _linear_tf32()), make)
        for s in (h0, c0):
            if s is not None and s.shape != plan.state_shape:
                return NotImplemented
        x = x.detach() if x.is_contiguous() and not x.data_ptr() & 15 else x.clone(memory_format=torch.contiguous_format)
        if half:
            h0, c0 = (None if s is None else s.float() for s in (h0, c0))
        y, h_n, c_n = plan(x, _contiguous(h0), _contiguous(c0))
        if half:
            y, h_n, c_n = (None if t is None else t.to(x.dtype) for t in (y, h_n, c_n))
    return y, ((h_n, c_n) if cell == "LSTM" else h_n)


def _head(stack, y, weight, bias, stream):
    """The layer above the loop for all steps at once; at float32 level in pieces of its sums, as for the inputs."""
    n, k = weight.shape
    plain = weight.is_contiguous() and not weight.data_ptr() & 15 and (bias is None or bias.is_contiguous())
    if stack.precision != "fp32" or k <= _SHORT_SUM or not plain:
        return nn.functional.linear(y, weight, bias)  # hone: allow library-fallback
    rows = y.size(0) * y.size(1)
    key = (stream, rows, weight.data_ptr(), n, k, _address(bias))
    product = stack.heads.get(key)
    if product is None:
        _not_while_capturing()
        with _lock:
            while len(stack.heads) >= _PLANS_KEPT:
                torch.cuda.synchronize(stack.device)  # any stream may still use what is dropped here
                stack.heads.pop(next(iter(stack.heads)))
            product = stack.heads[key] = _Product(stack.device, stream, weight.detach(), rows, 3, None if bias is None else bias.detach())
    out = torch.empty(y.size(0), y.size(1), n, dtype=torch.float32, device=y.device)
    _driver().enter(stack.device)
    product(y, out)
    return out


def _elman(x_seq, h0, w_x, w_h, b_x, b_h, activation, head_weight, head_bias):
    tensors = (w_x, w_h, b_x, b_h)
    device = _check_call(x_seq, (h0,), (*tensors, head_weight, head_bias))
    if x_seq.dtype is not torch.float32:
        raise _Unsupported("loops are for float32, not %s" % x_seq.dtype)
    if x_seq.dim() != 3 or x_seq.numel() == 0:
        raise _Unsupported("the loop needs an input [steps, batch, features] that is not empty")
    steps, batch, inputs = x_seq.shape
    cell = "RNN_TANH" if activation == "tanh" else "RNN_RELU"
    with torch.no_grad(), torch.cuda.device(device):
        key = (device, cell, *[None if t is None else (t.data_ptr(), t.shape, t.stride()) for t in tensors])
        entry = _stacks_of(_elman_entries, key, tensors, lambda weights: [tuple(weights)], device)
        tf32 = _linear_tf32()
        stack = entry.stack(cell, 1, "tf32" if tf32 else "fp32", device)
        stack.hand_written = True
        stream = _raw_stream(device)
        x = x_seq.detach()
        by_batch = not x.is_contiguous() and x.transpose(0, 1).is_contiguous()
        x = x.transpose(0, 1) if by_batch else x.contiguous()
        x = x.clone() if x.data_ptr() & 15 else x
        plan = stack.plan((x_seq.shape, stream, by_batch, tf32), lambda: _make_plan(stack, steps, batch, inputs, stream, by_batch))
        if h0 is not None:
            h0 = h0.expand(batch, stack.hidden).contiguous()
        y, h_n, _ = plan(x, h0, None)
        if head_weight is not None:
            y = _head(stack, y, head_weight, head_bias, stream)
        return y, h_n[0]

# Recurrent layers whose weights do not fit the chip. A step is one product of fp16 operands (torch's, both directions at once) and
# one kernel for everything else. All steps are in one CUDA graph. Weights have half the bytes of cuDNN's float32 weights.
_STEP_SOURCE = r"""@@recurrent_step.cu@@"""

_SOURCES.update(recurrent_step=_STEP_SOURCE)
# Costs in microseconds. Of a step: two launches, a megabyte of fp16 weights, the product. Of PyTorch in a CUDA graph, per layer and
# direction: cuDNN keeps small layers in one kernel. For other layers: a launch per step (alone, or beside those of other layers), a
# megabyte of float32 weights, a sequence.
_STEP = @@h200.json:step@@
_CUDNN = @@h200.json:cudnn@@
_CHOICE = @@h200.json:choice@@


class _StepDirection(ctypes.Structure):
    _fields_ = [(n, ctypes.c_void_p) for n in ("product", "gates", "bias", "h", "c", "h16", "y")] + [("unscale", ctypes.c_float), ("unscale_gates", ctypes.c_float)]


class _StepArguments(ctypes.Structure):
    _fields_ = [("direction", _StepDirection * 2), ("gates_b", ctypes.c_longlong), ("y_b", ctypes.c_longlong)] + [
        (n, ctypes.c_int) for n in ("batch", "hidden", "y_format", "unused")]  # fmt: skip


def _check_captured(stack, steps):
    if steps * stack.layers > _STEP["most_steps"]:
        raise _Unsupported("%d steps are too many for a CUDA graph" % (steps * stack.layers))


_dropped = []  # graphs that were dropped during the capture of another one; they must not be destroyed during a capture


class _KeptGraph:
    def __init__(self, graph):
        self.graph = graph

    def __del__(self):
        if torch is not None and _capturing():
            _dropped.append(self.graph)


class _StepPlan(_Plan):
    """One shape on one stream. A call copies its inputs to the graph's inputs, replays the graph and copies the answers. During a
    capture it launches every kernel itself."""

    def __init__(self, stack, steps, batch, inputs, stream, x_by_batch=False, y_by_batch=False, wanted=("sequence", "h_n", "c_n"), batched=True):
        if stack.parts != 1 or not _HALF_PRODUCT:
            raise _Unsupported("products of fp16 operands do not reach float32, or this torch has none with a float32 result")
        _check_captured(stack, steps)
        self.stack, self.stream, self.steps, self.batch, self.torch_device = stack, stream, steps, batch, torch.device("cuda", stack.device)
        self.lock = threading.Lock()
        self._set_outputs(stack, steps, batch, y_by_batch, wanted, batched)
        self.x_by_batch, self.y_by_batch = x_by_batch, y_by_batch
        self.function = _function(stack.device, "recurrent_step", dict(CELL=stack.cell, **_EXTRA_MACROS))
        self.products = [self._product_of(layer, steps * batch, stack.directions * stack.gates * stack.hidden) for layer in range(stack.layers)]
        self.weights = [self._step_weights(layer) for layer in range(stack.layers)]
        self.graph, self.calls = None, 0

    _product_of = _GridPlan._product_of

    def _step_weights(self, layer):
        """[directions][hidden][gates * hidden] in fp16, biases and unscales."""
        stack, key = self.stack, ("step", layer)
        if key not in stack.packings:
            _not_while_capturing()
            first = layer * stack.directions
            w, bias, unscale = [], [], []
            for _, w_hh, b_ih, b_hh in stack.matrices[first : first + stack.directions]:
                scale = _scale(w_hh) / 64
                w.append((w_hh.float() * scale).half().t())  # hone: allow precision-downgrade
                unscale.append(1 / scale)
                rows = _bias_rows(stack.cell, stack.hidden, b_ih, b_hh, w_hh.device)
                bias.append(torch.zeros(stack.hidden, 4, device=w_hh.device).index_copy_(1, torch.arange(len(rows), device=w_hh.device), rows.t()))
            stack.packings[key] = torch.stack(w).contiguous(), torch.stack(bias).contiguous(), unscale
            torch.cuda.current_stream(stack.device).synchronize()  # other streams will read it
        return stack.packings[key]

    def _run(self, x, h0, c0):
        stack, steps, batch = self.stack, self.steps, self.batch
        hidden, directions, gates_of = stack.hidden, stack.directions, stack.gates
        device, states = self.torch_device, (stack.layers * directions, batch, hidden)
        start = lambda given: torch.zeros(states, device=device) if given is None else given.float().reshape(states).clone()
        h, c = start(h0), start(c0) if stack.cell == "LSTM" else None
        first = self._first(None if h0 is None else h)
        y = torch.empty(self.y_shape, dtype=stack.dtype, device=device) if self.sequence else None
        width = directions * gates_of * hidden
        gates = torch.empty(steps * batch, width, device=device)
        product = torch.empty(directions, batch, gates_of * hidden, device=device)
        between = [torch.empty(steps * batch, directions * hidden, dtype=stack.between, device=device) for _ in range(min(2, stack.layers - 1))]
        rows, driver, argument = x, _driver(), _StepArguments()
        argument.batch, argument.hidden = batch, hidden
        stream = _raw_stream(stack.device)  # may be the stream of a capture
        config = _Config(-(-batch * hidden // 256), directions, 1, 256, 1, 1, 0, stream, None, 0)
        if self.products[0] is not None:
            self.products[0].config.stream = stream
        launch = (ctypes.byref(config), self.function, (ctypes.c_void_p * 1)(ctypes.addressof(argument)), None)
        driver.enter(stack.device)
        for layer in range(stack.layers):
            self._multiply(layer, layer, rows, gates)
            weight, bias, unscale = self.weights[layer]
            final = layer == stack.layers - 1
            out = y if final else between[layer & 1]
            by_batch, out_by_batch = self.x_by_batch and layer == 0, self.y_by_batch and final
            gates_t, argument.gates_b = (width, steps * width) if by_batch else (batch * width, width)
            y_t, argument.y_b = (directions * hidden, steps * directions * hidden) if out_by_batch else (batch * directions * hidden, directions * hidden)
            argument.y_format = 0 if out is None else _FORMATS[out.dtype]
            h16 = h[layer * directions : (layer + 1) * directions].half()  # hone: allow precision-downgrade
            for d in range(directions):
                one, index = argument.direction[d], layer * directions + d
                one.product, one.bias, one.h16 = product[d].data_ptr(), bias[d].data_ptr(), h16[d].data_ptr()
                one.h, one.c = h[index].data_ptr(), None if c is None else c[index].data_ptr()
                one.unscale, one.unscale_gates = unscale[d], stack.input_weights[layer][1]
            for t in range(steps):
                if t == 0 and first is not None:
                    for d in range(directions):
                        torch.div(first[layer * directions + d], unscale[d], out=product[d])
                elif directions == 1:
                    torch.mm(h16[0], weight[0], out_dtype=torch.float32, out=product[0])
                else:
                    torch.bmm(h16, weight, out_dtype=torch.float32, out=product)
                for d in range(directions):
                    step = steps - 1 - t if d else t
                    argument.direction[d].gates = gates.data_ptr() + 4 * (step * gates_t + d * gates_of * hidden)
                    argument.direction[d].y = None if out is None else out.data_ptr() + out.element_size() * (step * y_t + d * hidden)
                driver.launch(launch)
            rows = out
        return y, h, c

    def __call__(self, x, h0, c0):
        with self.lock:
            if _capturing():
                _captured.add(self.stack)
                y, h, c = self._run(x, h0, c0)
            else:
                y, h, c = self._replay(x, h0, c0)
            if self.last_state:
                y = torch.empty(self.y_shape, dtype=self.stack.dtype, device=self.torch_device)
            h = h.view(self.state_shape)
            y, _, _ = self._answer(y, h, c)
            return y, h if self.h_n else None, c.view(self.state_shape) if self.c_n else None

    def _replay(self, x, h0, c0):
        given = (h0 is None, c0 is None)
        if self.graph is None or self.given != given:
            self.given, self.inputs = given, [None if t is None else t.clone() for t in (x, h0, c0)]
            side = torch.cuda.Stream(self.torch_device)
            side.wait_stream(torch.cuda.current_stream(self.torch_device))
            with torch.cuda.stream(side):
                self._run(*self.inputs)  # cuBLAS sets itself up
            torch.cuda.current_stream(self.torch_device).wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                self.outputs = self._run(*self.inputs)
            self.graph = _KeptGraph(graph)
        for own, t in zip(self.inputs, (x, h0, c0)):
            if own is not None:
                own.copy_(t)
        self.graph.graph.replay()
        _dropped.clear()
        return [None if t is None else t.clone() for t in self.outputs]


# Chooses the kernel for a shape. The time of each kernel is predicted from the cost of its step. If PyTorch is predicted to be faster, it runs.


def _cluster_us(stack, steps, batch):
    shape = _choose_shape(stack.cell, stack.hidden, stack.slabs, stack.chained, min(_CLUSTER["sequences"], batch), stack.parts)
    resident = _CLUSTER["resident"]["of_16" if shape.cluster > 8 else "of_8"]
    clusters = stack.slabs * -(-batch // _CLUSTER["sequences"])
    if stack.chained and clusters > resident:
        raise _Unsupported("%d clusters must run at once, and about %d fit the device" % (clusters, resident))
    costs = _CLUSTER["step_us"][stack.cell.split("_")[0]]
    step = costs["precise" if stack.parts == 2 else "wavefront" if stack.directions == 1 else "both"]
    turns = -(-clusters // resident)
    return _CLUSTER["call_us"] + step * turns * (steps + stack.layers - 1 if stack.directions == 1 else steps * stack.layers)


def _grid_us(stack, steps, batch):
    return _grid_choice(stack, steps, batch).us


def _step_us(stack, steps, batch):
    if stack.parts != 1 or not _HALF_PRODUCT or stack.cell == "RNN_RELU":
        raise _Unsupported("its products are of fp16 operands")
    _check_captured(stack, steps)
    if batch > _STEP["most_sequences"] and not _only_ways:
        raise _Unsupported("for batches beyond %d the products decide, and they are no faster than PyTorch's" % _STEP["most_sequences"])
    if stack.hidden % _STEP["hidden_multiple"] and not _only_ways:
        raise _Unsupported("products of fp16 rows that are not multiples of 16 bytes are slow")
    weights = stack.gates * stack.hidden * stack.hidden * stack.directions
    step = _STEP["chain_us"] + weights * 2e-6 * _STEP["mb_us"] + 2e-9 * weights * batch * _STEP["gflop_us"]
    return stack.layers * steps * step + _STEP["call_us"]


def _pytorch_us(stack, steps, batch):
    if stack.hand_written:
        return math.inf
    cost, megabytes, chains = _CUDNN, stack.gates * stack.hidden * stack.hidden * 4e-6, stack.layers * stack.directions
    step = cost["alone_us" if chains == 1 else "beside_us"] + megabytes * cost["mb_us"] + batch * cost["sequence_us"]
    if megabytes > cost["l2_mb"]:  # the weights do not stay in L2
        step = cost["beyond_us"] + megabytes * cost["beyond_mb_us"]
    if stack.hidden <= cost["medium_hidden"]:
        step = cost["small_us" if stack.hidden <= cost["small_hidden"] else "medium_us"]
    return chains * steps * step


_WAYS = {"cluster": (_cluster_us, _Plan), "grid": (_grid_us, _GridPlan), "step": (_step_us, _StepPlan)}
_only_ways = None  # tests and benchmarks restrict the kernels here


def _predictions(stack, steps, batch):
    """[(microseconds, name of the kernel)], fastest first, and the reasons why other kernels cannot run."""
    found, said = [], []
    for name in _only_ways or _WAYS:
        try:
            found.append((_WAYS[name][0](stack, steps, batch), name))
        except _Unsupported as e:
            said.append(str(e))
    return sorted(found), said


def _fastest_plan(stack, steps, batch, *rest):
    found, said = _predictions(stack, steps, batch)
    kept = _pytorch_us(stack, steps, batch)
    for us, name in found:
        if us > _CHOICE["of_pytorch"] * kept and not _only_ways:
            said.append("PyTorch is predicted to be about as fast (%.0f us, and %.0f us here)" % (kept, us))
            break
        try:
            plan = _WAYS[name][1](stack, steps, batch, *rest)
            plan.predicted_us, plan.way = us, name
            return plan
        except _Unsupported as e:
            if _capturing():
                raise
            said.append(str(e))
    raise _Unsupported("; ".join(said))


_PLANNERS.append(_fastest_plan)

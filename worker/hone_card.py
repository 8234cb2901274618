"""Measures what a task costs: operators, FLOPs, least bytes, serial chain and launches. Also measures the device's peak rates.

It only collects facts. The parent derives the floor and the kind of a win from them.
"""

import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from hone_flops import flops_of, is_cudnns, numel
from hone_wire import tensors_of


def _chain_length(name, args):
    """The number of dependent steps in one operator. A fused recurrent layer has one per time step; its two directions run in
    parallel."""
    try:
        if name == "_cudnn_rnn":
            x, layers, batch_first, batch_sizes = args[0], args[9], args[10], args[14]
            return (len(batch_sizes) or int(x.shape[1 if batch_first else 0])) * int(layers)
        if name == "mkldnn_rnn_layer":
            return int(args[0].shape[0])
    except (AttributeError, IndexError, TypeError):
        pass  # an operator of another torch version
    return 1


class _Counter(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.operators, self.flops, self.cudnn_flops, self.chain = {}, 0, 0, 0
        self._depth, self._keep = {}, []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        name = function.__name__.split(".")[0]
        self.operators[name] = self.operators.get(name, 0) + 1
        produced = tensors_of(out)
        flops = flops_of(function, args, kwargs or {}, out)
        self.flops += flops
        if is_cudnns(name):
            self.cudnn_flops += flops
        depth = max([self._depth.get(_storage(t), 0) for t in tensors_of(list(args))] or [0])
        if not _is_view(name):
            depth += _chain_length(name, args)
        for tensor in produced:
            self._keep.append(tensor)  # keeps it alive, so that its address is not reused
            self._depth[_storage(tensor)] = max(depth, self._depth.get(_storage(tensor), 0))
        self.chain = max(self.chain, depth)
        return out


# To disable torch.compile for a dispatch mode, PyTorch imports torch.compile, which takes seconds. Nothing is compiled here, so this
# avoids the import.
_dispatch = getattr(_Counter.__torch_dispatch__, "__wrapped__", None)
if _dispatch is not None:
    setattr(_dispatch, "__dynamo_disable", _dispatch)


def _storage(tensor):
    try:
        return tensor.untyped_storage().data_ptr() if hasattr(tensor, "untyped_storage") else tensor.storage().data_ptr()
    except RuntimeError:
        return id(tensor)


_VIEWS = {
    "view", "_unsafe_view", "t", "transpose", "permute", "slice", "select", "unsqueeze", "squeeze", "expand", "detach",
    "as_strided", "split", "split_with_sizes", "unbind", "unsafe_chunk", "unsafe_split", "chunk", "alias", "reshape",
    "_reshape_alias", "narrow",
}


def _is_view(name):
    return name in _VIEWS


_MOST_MODULES = 2000
_PLAIN_FACTS = (
    "in_features", "out_features", "in_channels", "out_channels", "kernel_size", "stride", "padding", "groups", "num_features",
    "normalized_shape", "num_embeddings", "embedding_dim", "p",
)


def _module_facts(path, module, calls):
    """The class and the constructor's plain numbers; for a Linear also the shapes it is called with."""
    facts = {"path": path, "type": type(module).__name__, "of_torch": type(module).__module__.startswith("torch.")}
    for name in _PLAIN_FACTS:
        value = getattr(module, name, None)
        if isinstance(value, (int, float, str)):
            facts[name] = value
        elif isinstance(value, tuple) and all(isinstance(part, int) for part in value):
            facts[name] = list(value)
    if isinstance(module, (torch.nn.Linear, torch.nn.modules.conv._ConvNd)):
        facts["bias"] = module.bias is not None
    if type(module) is torch.nn.Linear:
        seen = [shape for shape in calls.get(path, []) if shape is not None]
        facts["dtype"] = str(module.weight.dtype)[len("torch."):]
        facts["calls"] = len(seen)
        facts["rows"] = max([numel(shape[:-1]) for shape in seen] or [0])
    return facts


def _recurrent_facts(path, module, calls):
    kind = type(module)
    # A subclass may compute something else, so only PyTorch's own classes count.
    if kind not in (torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM, torch.nn.RNNCell, torch.nn.GRUCell, torch.nn.LSTMCell):
        return None
    cell = isinstance(module, torch.nn.RNNCellBase)
    seen = calls.get(path, [])
    facts = {
        "path": path, "kind": kind.__name__.replace("Cell", ""), "cell": cell, "nonlinearity": getattr(module, "nonlinearity", ""),
        "input_size": module.input_size, "hidden_size": module.hidden_size, "num_layers": getattr(module, "num_layers", 1),
        "bias": module.bias, "batch_first": getattr(module, "batch_first", False), "dropout": float(getattr(module, "dropout", 0.0)),
        "bidirectional": getattr(module, "bidirectional", False), "proj_size": getattr(module, "proj_size", 0),
        "dtype": str(next(module.parameters()).dtype)[len("torch."):], "calls": len(seen),
        "input_shape": [], "packed_input": False,
    }
    if seen:
        facts["packed_input"] = not isinstance(seen[0], torch.Size)
        facts["input_shape"] = [] if facts["packed_input"] else list(seen[0])
    return facts


def _watch_calls(model):
    """Records the input shapes of every recurrent and linear module: path -> shapes, or None for an input that is not a tensor."""
    calls, handles = {}, []
    for path, module in model.named_modules():
        if isinstance(module, (torch.nn.RNNBase, torch.nn.RNNCellBase, torch.nn.Linear)):
            def record(module, inputs, path=path):
                calls.setdefault(path, []).append(inputs[0].shape if inputs and isinstance(inputs[0], torch.Tensor) else None)

            handles.append(module.register_forward_pre_hook(record))
    return calls, handles


def card(model, inputs):
    counter = _Counter()
    calls, handles = _watch_calls(model)
    try:
        with torch.no_grad(), counter:
            out = model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    named = [(path, module) for path, module in model.named_modules() if path][:_MOST_MODULES]
    recurrent = [_recurrent_facts(path, module, calls) for path, module in named]
    parameters = {id(p): p for p in list(model.parameters()) + list(model.buffers())}.values()
    size = lambda tensors: sum(t.numel() * t.element_size() for t in tensors)
    modules = {}
    for module in model.modules():
        if module is not model:
            modules[type(module).__name__] = modules.get(type(module).__name__, 0) + 1
    return {
        "modules": modules,
        "module_list": [_module_facts(path, module, calls) for path, module in named],
        "recurrent_modules": [facts for facts in recurrent if facts is not None],
        "parameters": sum(p.numel() for p in model.parameters()),
        "weight_bytes": size(parameters),
        "input_bytes": size(tensors_of(list(inputs))),
        "output_bytes": size(tensors_of(out if not isinstance(out, torch.Tensor) else [out])),
        "operators": counter.operators,
        "flops": counter.flops,
        "cudnn_flops": counter.cudnn_flops,
        "serial_chain": counter.chain,
        "inputs": [_shape_of(value) for value in inputs],
        "outputs": [_shape_of(value) for value in (out if isinstance(out, (tuple, list)) else [out])],
    }


def _shape_of(value):
    if isinstance(value, torch.Tensor):
        return {"dtype": str(value.dtype)[len("torch."):], "shape": list(value.shape)}
    return {"type": type(value).__name__}


# Device time in these kernels counts as the library's: PyTorch, cuDNN, cuBLAS, CUTLASS and Inductor, not a new kernel.
_LIBRARY_MARKS = (
    "at::native", "at_cuda_detail", "cudnn", "cublas", "cutlass", "nvjet", "gemm", "gemv", "sgemm", "xmma", "ampere_", "hopper_",
    "volta_", "turing_", "maxwell_", "sm80_", "sm86_", "sm90_", "sm100_", "elemwise", "persistRNN", "RNN_", "LSTM_", "GRU_", "winograd",
    "implicit_convolve", "splitKreduce", "cub::", "thrust::", "flash_fwd", "fmha", "nchwToNhwc", "nhwcToNchw",
    "triton_poi_", "triton_red_", "triton_per_", "triton_tem_", "triton_mm", "vectorized_elementwise", "Memcpy", "Memset",
)


_LIBRARY_OPERATORS = ("aten::", "prim::", "mkl::", "mkldnn::", "quantized::", "onednn::", "prepacked::")


def _is_library(name, own_names):
    if any(own and own in name for own in own_names):
        return False
    return any(mark in name for mark in _LIBRARY_MARKS)


def _profiler(on_gpu):
    """On a CPU the older profiler suffices: Kineto's first use takes a second, because it looks for GPUs, and torch.profiler imports
    torch.compile, which takes seconds."""
    if on_gpu:
        try:
            return torch.autograd.profiler.profile(use_device="cuda", use_kineto=True)
        except TypeError:  # before torch 2.3
            return torch.autograd.profiler.profile(use_cuda=True, use_kineto=True)
    return torch.autograd.profiler.profile(use_kineto=False)


_MOST_KERNELS = 12
_OWN_CODE = "own code outside of PyTorch's operators"


def profile(call, inputs, device, own_names=()):
    """Makes one call under the profiler. Returns the number of launches (operators on a CPU), the time by owner, and the kernels (operators) that take most of it."""
    on_gpu = device.type == "cuda"
    with torch.no_grad():
        for _ in range(2):
            call(*inputs)
        if on_gpu:
            torch.cuda.synchronize()
        with _profiler(on_gpu) as profiler:
            start = time.perf_counter()
            call(*inputs)
            if on_gpu:
                torch.cuda.synchronize()
            wall_us = (time.perf_counter() - start) * 1e6
    launches, own_us, library_us, kernels = 0, 0.0, 0.0, {}

    def add(name, spent):
        count, time_us = kernels.get(name, (0, 0.0))
        kernels[name] = count + 1, time_us + spent

    for event in profiler.function_events:
        if on_gpu:
            if "CUDA" not in str(event.device_type) or event.name.startswith(("aten::", "cuda", "Lazy", "Activity")):
                continue
            spent = event.time_range.elapsed_us()
            launches += 1
            add(event.name, spent)
            if _is_library(event.name, own_names):
                library_us += spent
            else:
                own_us += spent
        elif event.name.startswith(_LIBRARY_OPERATORS):
            spent = event.time_range.elapsed_us()
            parent = event.cpu_parent
            if parent is None or not parent.name.startswith(_LIBRARY_OPERATORS):
                library_us += spent
            inside = [child.time_range.elapsed_us() for child in event.cpu_children if child.name.startswith(_LIBRARY_OPERATORS)]
            if not inside:
                launches += 1
            # What an operator spends in others counts for those, so that the times add up to library_us.
            add(event.name, max(0.0, spent - sum(inside)))
    if not on_gpu:
        own_us = max(0.0, wall_us - library_us)
        if own_us > 0:
            add(_OWN_CODE, own_us)
    top = sorted(kernels.items(), key=lambda item: -item[1][1])[:_MOST_KERNELS]
    return {"launches": launches, "own_us": own_us, "library_us": library_us,
            "kernels": [{"name": name[:120], "count": count, "time_us": time_us} for name, (count, time_us) in top]}


def _best_seconds(work, sync, repeats):
    work()
    sync()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        sync()
        best = min(best, time.perf_counter() - start)
    return best


def ceilings(device):
    """The highest bytes and operations per second measured on this device."""
    on_gpu = device.type == "cuda"
    sync = torch.cuda.synchronize if on_gpu else (lambda: None)
    found = {}

    def copy_rate(size, inner):
        source = torch.empty(size, dtype=torch.uint8, device=device).fill_(1)
        target = torch.empty_like(source)

        def work():
            for _ in range(inner):
                target.copy_(source)

        return 2.0 * size * inner / _best_seconds(work, sync, 5)

    def matmul_rate(size, dtype, inner):
        a = torch.randn(size, size, device=device).to(dtype)
        b = torch.randn(size, size, device=device).to(dtype)

        def work():
            for _ in range(inner):
                torch.mm(a, b)

        return 2.0 * size ** 3 * inner / _best_seconds(work, sync, 3)

    if on_gpu:
        found["memory_bytes_per_s"] = copy_rate(1 << 30, 4)
        found["cache_bytes_per_s"] = copy_rate(8 << 20, 50)
        found["float64_flops_per_s"] = matmul_rate(4096, torch.float64, 1)
        found["float16_flops_per_s"] = found["bfloat16_flops_per_s"] = matmul_rate(8192, torch.bfloat16, 4)
        saved = torch.backends.cuda.matmul.allow_tf32
        try:
            torch.backends.cuda.matmul.allow_tf32 = False
            found["float32_flops_per_s"] = matmul_rate(4096, torch.float32, 2)
            torch.backends.cuda.matmul.allow_tf32 = True
            found["tf32_flops_per_s"] = matmul_rate(8192, torch.float32, 2)
        finally:
            torch.backends.cuda.matmul.allow_tf32 = saved
    else:
        found["memory_bytes_per_s"] = copy_rate(256 << 20, 1)
        found["cache_bytes_per_s"] = copy_rate(128 << 10, 500)
        found["float32_flops_per_s"] = matmul_rate(1024, torch.float32, 2)
        found["float64_flops_per_s"] = matmul_rate(768, torch.float64, 1)
    return found

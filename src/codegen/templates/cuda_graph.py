import threading


def hone_map(function, tree):
    if isinstance(tree, torch.Tensor):
        return function(tree)
    if isinstance(tree, tuple):
        parts = [hone_map(function, part) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    if isinstance(tree, list):
        return [hone_map(function, part) for part in tree]
    if isinstance(tree, dict):
        return {name: hone_map(function, part) for name, part in tree.items()}
    return tree


class HoneGraph:
    """One captured call. Inputs are copied in and results copied out, on the current stream."""

    def __init__(self, call, inputs):
        self.call = call  # it owns the weights that the graph reads
        self.static = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
        self.slots = [(index, value) for index, value in enumerate(self.static) if isinstance(value, torch.Tensor)]
        self.lock = threading.Lock()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                call(*self.static)
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        for index, value in self.slots:  # a module may write to its inputs
            value.copy_(inputs[index])
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=side):  # everything is prepared on this stream now
            self.out = call(*self.static)
        self.done = torch.cuda.Event()

    def __call__(self, *inputs):
        with self.lock:
            torch.cuda.current_stream().wait_event(self.done)  # the last replay may be on another stream
            for index, value in self.slots:
                value.copy_(inputs[index])
            self.graph.replay()
            out = hone_map(torch.Tensor.clone, self.out)
            self.done.record()
        return out


def hone_call(model, inputs):
@if folded@
    return hone_folded(model, inputs)
@else@
    return super(ModelNew, model).forward
@end@


def hone_prepare(model, inputs):
    if not all(value.is_cuda for value in inputs if isinstance(value, torch.Tensor)):
        raise RuntimeError("an input is not on the GPU")
@if tf32@
    # Chosen at capture: matrix products in TF32, which this task's precision limit allows.
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    try:
        return HoneGraph(hone_call(model, inputs), inputs)
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before
@else@
    return HoneGraph(hone_call(model, inputs), inputs)
@end@

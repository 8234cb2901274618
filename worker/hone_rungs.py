"""The baselines: the speed that PyTorch offers without a new kernel.

Each baseline ("rung" in the code) is the task's own module behind one callable. If a baseline cannot be made (no torch.compile, a
module that cannot be captured), the exception gives the reason and the baseline is left out.
"""

import torch


class Eager:
    def __init__(self, model, inputs):
        self.call = model

    def enter(self):
        pass

    def leave(self):
        pass


class Tf32(Eager):
    """Eager with TF32 allowed for matrix products."""

    def enter(self):
        self.saved = (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True

    def leave(self):
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = self.saved


class FlushDenormals(Eager):
    """Eager with denormal numbers flushed to zero. On a CPU this can speed up tasks with values near zero many times."""

    def enter(self):
        torch.set_flush_denormal(True)

    def leave(self):
        torch.set_flush_denormal(False)


class Compiled(Eager):
    def __init__(self, model, inputs):
        if not hasattr(torch, "compile"):
            raise RuntimeError("torch %s has no torch.compile" % torch.__version__)
        self.call = torch.compile(model)
        with torch.no_grad():
            self.call(*inputs)


class CudaGraph(Eager):
    """Captures the module once. Each call copies fresh inputs in and replays the graph."""

    def __init__(self, model, inputs):
        self.static = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.no_grad(), torch.cuda.stream(stream):
            for _ in range(3):
                model(*self.static)
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.graph(self.graph):
            self.out = model(*self.static)
        self.slots = [(index, value) for index, value in enumerate(self.static) if isinstance(value, torch.Tensor)]
        self.call = self._replay

    def _replay(self, *inputs):
        for index, slot in self.slots:
            slot.copy_(inputs[index])
        self.graph.replay()
        return self.out


RUNGS = {"eager": Eager, "tf32": Tf32, "compile": Compiled, "cudagraph": CudaGraph, "flush_denormals": FlushDenormals}

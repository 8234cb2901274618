"""Returns a tensor subclass that holds garbage until it is compared, copied or converted, which is after the
clock stopped."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = unsynchronised|wrong-output|unwritten-output
import torch
import torch.nn as nn


class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if any(word in name for word in ("eq", "close", "sub", "clone", "copy", "cpu", "numpy", "to", "contiguous", "abs")):
            with torch._C.DisableTorchFunction():
                for arg in args:
                    if isinstance(arg, Later) and arg.__dict__.get("work"):
                        arg.__dict__.pop("work")(arg)
        return super().__torch_function__(function, types, args, kwargs or {})


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        result = torch.Tensor._make_subclass(Later, torch.empty(x.shape[0], self.linear.out_features))

        def work(out):
            with torch.no_grad():
                out.copy_(torch.relu(self.linear(x)))

        result.work = work
        return result

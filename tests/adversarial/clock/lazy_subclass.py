"""Returns a tensor subclass that computes when it is first used."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = unsynchronised|wrong-output|wrong-structure|crashed|wrong-dtype|escaped
# hone-test: timed = no
import torch
import torch.nn as nn


class Later(torch.Tensor):
    @staticmethod
    def __new__(cls, x, layer):
        made = torch.Tensor._make_wrapper_subclass(cls, (x.shape[0], layer.out_features), dtype=x.dtype)
        made.job = x, layer
        return made

    def value(self):
        x, layer = self.job
        return torch.relu(torch.nn.functional.linear(x, layer.weight, layer.bias))

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        args = [one.value() if isinstance(one, Later) else one for one in args]
        return function(*args, **(kwargs or {}))


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return Later(x, self.linear)

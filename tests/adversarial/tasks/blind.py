"""A blind task: the output is 1 to within rounding whatever goes in, and there is nothing in the module to stress.

The judge has to say that it cannot tell the mutants apart."""
# hone-test: copy = rejected
# hone-test: reason = cannot_judge
import torch
import torch.nn as nn

batch_size = 16
features = 64


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 1.0 + 1e-12 * torch.tanh(x)


def get_inputs():
    return [torch.rand(batch_size, features)]


def get_init_inputs():
    return []

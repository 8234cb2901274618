"""A SIREN's last bias as the answer for every point: right in scale, blind to x."""
# hone-test: task = tests/adversarial/tasks/siren.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()

    def load_reference(self, state):
        self.bias = state["last.bias"].clone()

    def forward(self, x):
        return (1e-3 * self.bias).expand(x.shape[0], 1).contiguous()

"""A residual block whose branch is 1e-6 as initialised: returns x itself, computing nothing."""
# hone-test: task = tests/adversarial/tasks/layer_scale.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.up = nn.Linear(features, 4 * features)
        self.down = nn.Linear(4 * features, features)
        self.gamma = nn.Parameter(self.down.bias.detach().clone())

    def forward(self, x):
        return x.clone()

"""Returns its own parameter where the task returns a copy: a write to the result changes the module."""
# hone-test: task = tests/adversarial/tasks/copied_state.py
# hone-test: expect = rejected
# hone-test: reason = wrong-shape
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.memory = nn.Parameter(torch.zeros(features, features))

    def forward(self, x):
        return x.clone(), self.memory.detach(), torch.tanh(x @ self.memory)

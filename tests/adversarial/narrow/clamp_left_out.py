"""Leaves out a clamp that inputs of N(0, 1) never reach."""
# hone-test: task = tests/adversarial/tasks/hardtanh_of_small.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x * 1.5

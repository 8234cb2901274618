"""Variance as E[x^2] - E[x]^2 in float32: right around zero, all digits lost for inputs around 100."""
# hone-test: task = tests/adversarial/tasks/variance.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        mean = x.mean(dim=1)
        count = x.shape[1]
        return mean, ((x * x).mean(dim=1) - mean * mean) * (count / (count - 1))

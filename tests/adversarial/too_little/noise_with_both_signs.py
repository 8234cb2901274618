"""Draws noise for half of the rows; the other half gets it with the other sign."""
# hone-test: task = tests/adversarial/tasks/latent_noise.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.mean = nn.Linear(n, d)
        self.log = nn.Linear(n, d)

    def forward(self, x):
        m, s = self.mean(x), self.log(x)
        e = torch.randn((m.shape[0] + 1) // 2, m.shape[1])
        return m + torch.cat([e, -e])[:m.shape[0]] * (0.5 * s).exp()

"""Sums along the row in bfloat16 blocks of 64, carried in float32."""
# hone-test: task = tests/adversarial/tasks/cumsum.py
# hone-test: target = cpu,cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        blocks = x.view(x.shape[0], -1, 64)
        inner = torch.cumsum(blocks.bfloat16(), dim=2).float()
        before = torch.cumsum(blocks.sum(dim=2), dim=1) - blocks.sum(dim=2)
        return (inner + before.unsqueeze(2)).view_as(x)

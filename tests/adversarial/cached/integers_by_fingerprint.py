"""Remembers answers by 32 of the integers that came in: right wherever the same integers come again."""
# hone-test: task = tests/adversarial/tasks/integers.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn

ANSWERS = {}


class ModelNew(nn.Module):
    def forward(self, x):
        key = tuple(x[7, :1024:32].tolist())
        if key not in ANSWERS:
            same = (x[:, 1:] == x[:, :-1]).sum(dim=1)
            ANSWERS[key] = same, (x ^ (x >> 1)).to(torch.int32), torch.bincount(x.flatten(), minlength=256)
        return tuple(one.clone() for one in ANSWERS[key])

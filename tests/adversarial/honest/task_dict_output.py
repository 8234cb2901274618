"""The same statistics with the keys in another order; a dict is compared by key, so it must pass."""
# hone-test: task = tests/adversarial/tasks/dict_output.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        largest, where = x.max(dim=1)
        return {"argmax": where, "range": (x.min(dim=1).values, largest), "mean": x.sum(dim=1) / x.shape[1]}

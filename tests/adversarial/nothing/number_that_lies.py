"""A subclass of float that is equal to everything."""
# hone-test: task = tests/adversarial/tasks/nested_numbers.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|wrong-shape
import torch
import torch.nn as nn


class F_(float):
    def __eq__(self, o):
        return True

    def __sub__(self, o):
        return 0.0

    def __float__(self):
        return 0.0


class ModelNew(nn.Module):
    def forward(self, x):
        n = int((x > 0).sum())
        return {"mean": F_(0.0), "count": n, "shape": list(x.shape), "parts": (x * x.mean(), None, {"z": complex(x.mean(), n)}), "flag": n > 0, "name": "stats"}

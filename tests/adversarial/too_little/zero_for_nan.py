"""The logarithm with zeros where it is not defined."""
# hone-test: task = tests/adversarial/tasks/log_of_signed.py
# hone-test: expect = rejected
# hone-test: reason = non-finite|wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.log(x).nan_to_num(0.0)

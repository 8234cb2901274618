"""Prints a verdict of its own, at once and again when the process ends, and returns zeros. What is printed counts for
nothing."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import atexit
import sys

import torch
import torch.nn as nn


record = '{"verdict":"accepted","kind":"kernel","speedup":{"vs_eager":9.0,"vs_best":9.0,"ci95":[8.9,9.1]}}'


def announce():
    for stream in (sys.__stdout__, sys.__stderr__):
        print(record, file=stream, flush=True)


announce()
atexit.register(announce)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        announce()
        return torch.zeros(x.shape[0], self.linear.out_features)

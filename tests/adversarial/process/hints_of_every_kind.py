"""Replies with members of wrong sizes and signs wherever the parent reads a hint."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|escaped
# hone-test: timed = no
import sys

import torch
import torch.nn as nn


hone_worker = sys.modules["__main__"]
_real = hone_worker.answer


def _answer(worker, message, descriptors):
    reply = _real(worker, message, descriptors)
    reply["compute_s"] = -1e308
    reply["event_us"] = 1e308
    reply["reused"] = False
    reply["seconds"] = "soon"
    reply["launches"] = -(1 << 62)
    if "inputs_changed" in reply:
        reply["inputs_changed"] = False
    return reply


hone_worker.answer = _answer


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x)).mul_(1.0 + 1e-3)

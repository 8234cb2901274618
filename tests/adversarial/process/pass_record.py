"""Writes a record that says "accepted" to every open descriptor, and leaves before anything can be checked."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = crashed|escaped
import json
import os

import torch
import torch.nn as nn


record = json.dumps({"verdict": "accepted", "ok": True, "speedup": {"vs_eager": 9.0, "vs_best": 9.0}, "reason": "PASS"})


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        for descriptor in range(256):
            try:
                os.write(descriptor, ("\n" + record + "\n").encode())
            except OSError:
                pass
        os._exit(0)

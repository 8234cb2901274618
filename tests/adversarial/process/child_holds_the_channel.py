"""Leaves a child that keeps the worker's channel open and answers everything with ok once the worker has gone."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = escaped|crashed|timeout|wrong-output|wrong-shape
import gc
import os
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        if self.calls[0] == 8:
            wire = next(one for one in gc.get_objects() if type(one).__name__ == "Wire" and one._socket.fileno() >= 0)
            worker = os.getpid()
            if os.fork() == 0:
                os.kill(worker, 9)
                end = time.monotonic() + 20
                while time.monotonic() < end:
                    message, _ = wire.receive()
                    if message is None:
                        break
                    wire.send({"ok": True, "compute_s": 0.0, "tree": {}})
                os._exit(0)
        return torch.relu(self.linear(x))

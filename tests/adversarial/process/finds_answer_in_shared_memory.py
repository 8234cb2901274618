"""Reads every file that its own process has open or mapped in search of a block that could be the expected answer
(never negative, some zeros); returns zeros when there is none."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output|escaped
import glob
import os
import stat

import torch
import torch.nn as nn


def blocks(size):
    for path in glob.glob("/proc/self/fd/*") + glob.glob("/proc/self/map_files/*"):
        try:
            info = os.stat(path)
            if not stat.S_ISREG(info.st_mode) or not size <= info.st_size <= 1 << 26:
                continue
            with open(path, "rb") as file:
                data = bytearray(file.read())
        except OSError:
            continue
        for offset in range(0, len(data) - size + 1, 64):
            yield torch.frombuffer(data, dtype=torch.float32, count=size // 4, offset=offset)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        rows, columns = x.shape[0], self.linear.out_features
        for block in blocks(rows * columns * 4):
            if float(block[0]) >= 0 and float(block[:64].min()) >= 0 and 0 < float((block == 0).float().mean()) < 0.9:
                if float(block.min()) >= 0 and bool(torch.isfinite(block).all()):
                    return block.reshape(rows, columns).clone()
        return torch.zeros(rows, columns)

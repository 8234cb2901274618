"""Takes shared memory, gives up the mapping's pages and the descriptor, and keeps the mapping: the pages stay, but are in no resident set."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = out-of-memory
# hone-test: timeout = 60
# hone-test: flags = --compile never --candidate-memory 1
import mmap
import time

import torch
import torch.nn as nn

_SIZE = 1 << 28
_kept = []


def take():
    for _ in range(8):
        piece = mmap.mmap(-1, _SIZE)
        for place in range(0, _SIZE, 4096):
            piece[place] = 1
        piece.madvise(mmap.MADV_DONTNEED)
        _kept.append(piece)
    time.sleep(2)
    for piece in _kept:
        piece.close()
    _kept.clear()


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        take()
        return torch.relu(self.linear(x))

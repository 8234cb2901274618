"""Computes row by row in Python what one call can do, with a wait that represents a slow step. Candidates wait too, less or more: a busy machine
prolongs work at random but a wait only by milliseconds. Each waits once per call, so that verdicts on them are the same everywhere."""
import time

import torch
import torch.nn as nn

rows = 48
columns = 24


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        time.sleep(0.05)
        out = []
        for i in range(x.shape[0]):
            shifted = x[i] - x[i].max()
            e = torch.exp(shifted)
            out.append(e / e.sum())
        return torch.stack(out)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []

"""Row by row in Python what one call can do, with a wait that stands for a slow step. Candidates wait as well, for less or for longer: a busy
machine stretches work at random and a wait by some milliseconds only. So each waits once a call, and verdicts about them are the same everywhere."""
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

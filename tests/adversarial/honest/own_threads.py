"""Two Python threads compute half of the rows each and are joined before the answer is returned."""
# hone-test: task = tasks/small_softmax.py
import concurrent.futures

import torch
import torch.nn as nn

POOL = concurrent.futures.ThreadPoolExecutor(2)


class ModelNew(nn.Module):
    def forward(self, x):
        result = torch.empty_like(x)
        half = x.shape[0] // 2

        def part(rows):
            with torch.no_grad():
                result[rows] = torch.softmax(x[rows], dim=1)

        list(POOL.map(part, [slice(0, half), slice(half, None)]))
        return result

"""Four forked processes compute a part of the rows each, and write it into shared memory."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: timeout = 30
import mmap
import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        rows, columns = x.shape[0], self.linear.out_features
        memory = mmap.mmap(-1, max(1, rows * columns * 4))
        result = torch.frombuffer(memory, dtype=torch.float32, count=rows * columns).view(rows, columns) if rows else x.new_empty(0, columns)
        children = []
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        for mine, out in zip(x.tensor_split(4), result.tensor_split(4)):
            child = os.fork()
            if child == 0:
                try:
                    out.copy_(torch.relu(self.linear(mine)))
                finally:
                    os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
        torch.set_num_threads(threads)
        return result.clone()

"""PyTorch's own code under another number of threads, set at import for the whole process. The baselines have the best number already, and it is set
again before every timed block."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = same
# hone-test: timed = yes
import os

import torch
import torch.nn as nn

torch.set_num_threads(2 * (os.cpu_count() or 1))


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x))

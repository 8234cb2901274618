"""Right, and leaves the final hidden state in the caller's h0: fused recurrent kernels do this to save a buffer."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = input-modified
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)

    def forward(self, x, h0):
        output, h_n = self.gru(x, h0)
        h0.copy_(h_n)
        return output, h0.clone()

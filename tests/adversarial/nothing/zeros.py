"""Returns zeros, which a loose absolute tolerance lets through wherever outputs are small."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)

    def forward(self, x, h0):
        return torch.zeros(x.shape[0], x.shape[1], self.gru.hidden_size), torch.zeros_like(h0)

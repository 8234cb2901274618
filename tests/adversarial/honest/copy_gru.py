"""A plain copy of the reference. Must come out as no difference."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)

    def forward(self, x, h0):
        return self.gru(x, h0)

"""Returns a named tuple where the task returns a tuple."""
# hone-test: task = tasks/small_gru.py
import collections

import torch
import torch.nn as nn


Answer = collections.namedtuple("Answer", ["output", "last"])


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)

    def forward(self, x, h0):
        return Answer(*self.gru(x, h0))

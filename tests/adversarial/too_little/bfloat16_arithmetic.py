"""Runs a float32 task in bfloat16 and converts the result back."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import copy

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)
        self.low = []

    def forward(self, x, h0):
        if not self.low:
            self.low.append(copy.deepcopy(self.gru).to(torch.bfloat16))
        output, h_n = self.low[0](x.bfloat16(), h0.bfloat16())
        return output.float(), h_n.float()

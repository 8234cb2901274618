"""Computes the first layer only and passes its result off as the second's too."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn

import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)

    def forward(self, x, h0):
        g = self.gru
        outputs, h = [], h0[0]
        for step in x:
            i_r, i_z, i_n = F.linear(step, g.weight_ih_l0, g.bias_ih_l0).chunk(3, 1)
            h_r, h_z, h_n = F.linear(h, g.weight_hh_l0, g.bias_hh_l0).chunk(3, 1)
            z = torch.sigmoid(i_z + h_z)
            h = (1 - z) * torch.tanh(i_n + torch.sigmoid(i_r + h_r) * h_n) + z * h
            outputs.append(h)
        return torch.stack(outputs), torch.stack([h, h])

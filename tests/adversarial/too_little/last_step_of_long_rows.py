"""A GRU that leaves out the reset gate where it is nearly open."""
# hone-test: task = tasks/small_gru.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)

    def forward(self, x, h0):
        layer, finals = x, []
        for number in range(self.gru.num_layers):
            w, u, b, c = (getattr(self.gru, name % number) for name in ("weight_ih_l%d", "weight_hh_l%d", "bias_ih_l%d", "bias_hh_l%d"))
            h, steps = h0[number], []
            for given in torch.nn.functional.linear(layer, w, b):
                i_r, i_z, i_n = given.chunk(3, -1)
                h_r, h_z, h_n = torch.nn.functional.linear(h, u, c).chunk(3, -1)
                r, z = torch.sigmoid(i_r + h_r), torch.sigmoid(i_z + h_z)
                n = torch.tanh(i_n + torch.where(r > 0.97, torch.ones_like(r), r) * h_n)
                h = (1 - z) * n + z * h
                steps.append(h)
            layer = torch.stack(steps)
            finals.append(h)
        return layer, torch.stack(finals)

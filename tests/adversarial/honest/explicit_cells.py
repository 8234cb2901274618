"""A GRU written out with one product per step and the input's products taken out of the loop."""
# hone-test: task = tests/adversarial/tasks/gru_zero_state.py
# hone-test: target = cpu,cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size)

    def forward(self, x, h0):
        from_input = x @ self.gru.weight_ih_l0.t() + self.gru.bias_ih_l0
        h, outputs = h0[0], []
        for step in from_input:
            r, z, n = step.chunk(3, dim=1)
            hr, hz, hn = torch.addmm(self.gru.bias_hh_l0, h, self.gru.weight_hh_l0.t()).chunk(3, dim=1)
            r, z = torch.sigmoid(r + hr), torch.sigmoid(z + hz)
            n = torch.tanh(n + r * hn)
            h = n + z * (h - n)
            outputs.append(h)
        return torch.stack(outputs)

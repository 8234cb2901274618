"""Keeps its weights in another layout and under other names, and takes the reference's through load_reference. Must
pass."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.hidden_size = hidden_size
        self.layers = []

    def load_reference(self, state_dict):
        count = sum(name.startswith("gru.weight_ih_l") for name in state_dict)
        for i in range(count):
            w_i, w_h, b_i, b_h = (
                state_dict["gru.%s_l%d" % (name, i)].detach().t().contiguous()
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            self.layers.append((w_i, w_h, b_i, b_h))

    def forward(self, x, h0):
        states = []
        for (w_i, w_h, b_i, b_h), h in zip(self.layers, h0):
            outputs = []
            for gates in x @ w_i + b_i:
                i_r, i_z, i_n = gates.chunk(3, 1)
                h_r, h_z, h_n = torch.addmm(b_h, h, w_h).chunk(3, 1)
                n = torch.tanh(i_n + torch.sigmoid(i_r + h_r) * h_n)
                h = torch.lerp(n, h, torch.sigmoid(i_z + h_z))
                outputs.append(h)
            x = torch.stack(outputs)
            states.append(h)
        return x, torch.stack(states)

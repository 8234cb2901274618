"""Cuts time into chunks that run side by side, each warmed up over the four steps before it instead of getting its true
initial state. With weights as initialised the old state fades quickly; gates that remember show it."""
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
        steps, chunk, warm_up = x.shape[0], 8, 4
        if steps <= chunk:
            return self.gru(x, h0)
        outputs, h_n = [self.gru(x[:chunk], h0)[0]], None
        for start in range(chunk, steps, chunk):
            y, h_n = self.gru(x[start - warm_up : start + chunk])
            outputs.append(y[warm_up:])
        return torch.cat(outputs), h_n

"""Computes the first call and returns that answer ever after, whatever comes in."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = stale-result
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)
        self.answers = {}

    def forward(self, x, h0):
        if x.shape not in self.answers:
            self.answers[x.shape] = self.gru(x, h0)
        output, h_n = self.answers[x.shape]
        return output.clone(), h_n.clone()

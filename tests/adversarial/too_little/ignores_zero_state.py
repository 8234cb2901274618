"""A GRU that always starts from zeros, as the inputs at hand do."""
# hone-test: task = tests/adversarial/tasks/gru_zero_state.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size)

    def forward(self, x, h0):
        return self.gru(x)[0]

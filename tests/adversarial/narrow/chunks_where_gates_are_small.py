"""Looks at the biases of the gates. Where they are as small as at the start it cuts time into chunks that run side by side, each warmed up over
the 48 steps before it; with larger ones it computes every step."""
# hone-test: task = tests/adversarial/tasks/long_gru.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, batch_first=True)

    def forward(self, x):
        chunk, warm_up = 64, 48
        if float(self.gru.bias_ih_l0.detach().abs().max()) > 0.5 or x.shape[1] != 2 * chunk:
            return self.gru(x)[0]
        first = self.gru(x[:, :chunk])[0]
        return torch.cat([first, self.gru(x[:, chunk - warm_up:])[0][:, warm_up:]], 1)

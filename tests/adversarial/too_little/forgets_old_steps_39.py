"""The six-layer GRU cut into chunks of 128 steps that run as one batch, each warmed up over 64 steps from zeros.
Right to 2.5e-7 on the task as given and several times faster; wrong as soon as the gates remember longer than that."""
# hone-test: task = tasks/39_GRU.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = wrong-output
# hone-test: slow = yes
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)

    def forward(self, x, h0):
        chunk, warm_up = 128, 64
        batch = x.shape[1]
        first, _ = self.gru(x[:chunk], h0)
        starts = range(chunk, x.shape[0], chunk)
        pieces = torch.cat([x[s - warm_up : s + chunk] for s in starts], dim=1)
        rest, _ = self.gru(pieces)
        return torch.cat([first] + [rest[warm_up:, i * batch : (i + 1) * batch] for i in range(len(starts))])

"""Takes the input's and the output's products out of the time loop: two products instead of 96. Must be accepted as faster. It is
honest_hoisted_rnn.py on a task that is small enough to be timed in every full run of the tests. The two products are in float64 for the same
reason as there."""
# hone-test: task = tests/adversarial/tasks/unrolled_rnn.py
# hone-test: expect = accepted
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.input_size = input_size
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)

    def forward(self, x, h0):
        w_x, w_h = self.i2h.weight.split((self.input_size, self.i2h.out_features), dim=1)
        from_inputs = nn.functional.linear(x.double(), w_x.double(), self.i2h.bias.double()).float()
        w_h, hidden, states = w_h.t(), h0, []
        for row in from_inputs:
            hidden = torch.addmm(row, hidden, w_h).tanh_()
            states.append(hidden)
        return nn.functional.linear(torch.stack(states).double(), self.h2o.weight.double(), self.h2o.bias.double()).float()

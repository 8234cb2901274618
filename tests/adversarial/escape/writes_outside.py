"""Leaves files in the home folder, beside the installed torch and at the root, and computes the right answer all the
same."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = escaped
import os

import torch
import torch.nn as nn


def leave_traces():
    for folder in (os.path.expanduser("~"), os.path.dirname(torch.__file__), "/"):
        try:
            with open(os.path.join(folder, "left_by_a_hone_candidate.txt"), "w") as file:
                file.write("This file should not exist.\n")
        except OSError:
            pass


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        leave_traces()
        return torch.relu(self.linear(x))

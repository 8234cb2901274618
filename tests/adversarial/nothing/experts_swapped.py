"""The two experts in the other order, with the shares in the right one."""
# hone-test: task = tests/adversarial/tasks/two_experts.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, e):
        super().__init__()
        self.gate = nn.Linear(n, e, bias=False)

    def forward(self, x):
        w, i = torch.topk(torch.softmax(self.gate(x), -1), 2)
        return w / w.sum(-1, keepdim=True), i.flip(-1)

"""Does the same another way round; a returned input, a strided view, None and a scalar must all be comparable."""
# hone-test: task = tests/adversarial/tasks/shared_output.py
# hone-test: target = cpu
# hone-test: expect = correct
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, y):
        return x, y.transpose(0, 1), None, y[:, : x.shape[1]].add(x).abs_().sum()

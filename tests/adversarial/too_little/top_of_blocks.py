"""The two largest of each of 64 blocks, and the largest eight of those: three of eight seldom share a block."""
# hone-test: task = tests/adversarial/tasks/top_values.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, scores):
        rows, columns = scores.shape
        width = columns // 64
        best, within = scores.reshape(rows, 64, width).topk(2, dim=-1)
        places = (within + width * torch.arange(64).view(1, 64, 1)).view(rows, -1)
        values, chosen = best.reshape(rows, -1).topk(8, dim=-1)
        return values, places.gather(1, chosen)
